#!/usr/bin/env python3
"""Runs small scenes through `graze simulate` and compares them with closed formulas: parabolas, collisions, bounces,
rolling and slipping, what is conserved, what scales. It knows the files and the laws, and shares no code.

    simulate_truth.py --bin FOLDER
"""
import argparse
import csv
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MASK = (1 << 64) - 1
AXES = ("x", "y", "z")


class Bench:
    """Runs scenes and counts what is not as it should be."""

    def __init__(self, tool, folder):
        self.tool, self.folder, self.checked, self.bad = tool, folder, 0, 0

    def run(self, scene, steps, dt, *options, code=0, environment=None):
        """The JSON of a run, with its tables, `final`, `energy` and `events`, and `counts` of the events."""
        path = self.folder / "scene.json"
        if scene is not None:
            path.write_text(json.dumps(scene))
        files = {name: self.folder / f"{name}.csv" for name in ("final", "energy", "events")}
        command = [self.tool, "simulate", path, "--steps", str(steps), "--dt", repr(dt), "--format", "json", "--quiet"]
        for name, file in files.items():
            command += [f"--{name}", file]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False,
                              env={**os.environ, **(environment or {})})
        if done.returncode != code:
            sys.exit(f"simulate_truth.py: exit {done.returncode}, not {code}: {done.stderr}")
        result = json.loads(done.stdout)
        result["counts"] = result["events"]
        for name, file in files.items():
            with open(file, newline="") as stream:
                result[name] = list(csv.DictReader(stream))
        return result

    def near(self, what, got, wanted, tolerance):
        """`tolerance` is absolute."""
        self.checked += 1
        if abs(got - wanted) <= tolerance:
            return
        self.bad += 1
        print(f"{what}: {got!r} instead of {wanted!r}, off by {abs(got - wanted):.3g}, more than {tolerance:.3g}")

    def same(self, what, got, wanted):
        self.checked += 1
        if got == wanted:
            return
        self.bad += 1
        print(f"{what}: {got!r} instead of {wanted!r}")


# ---- scenes ----------------------------------------------------------------------------------------------------------


def ball(name, place, velocity=(0, 0, 0), radius=0.5, mass=1.0, spin=(0, 0, 0), material="m", **body):
    x, y, z = place
    return {"name": name, "shape": {"sphere": radius}, "pose": [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z],
            "body": {"mass": mass, "velocity": list(velocity), "spin": list(spin), "material": material, **body}}


def scene(objects, material=None, gravity=(0, 0, 0), **simulation):
    return {"graze": 1, "objects": objects,
            "simulation": {"model": "dem", "gravity": list(gravity), "materials": {"m": material or {"k_n": 1e5}},
                           **simulation}}


def floor():
    return [{"point": [0, 0, 0], "normal": [0, 0, 1], "material": "m"}]


def row(result, name):
    return {key: float(value) for key, value in next(r for r in result["final"] if r["name"] == name).items()
            if key != "name"}


def velocity(result, name):
    r = row(result, name)
    return [r["vx"], r["vy"], r["vz"]]


# ---- motion without contact ------------------------------------------------------------------------------------------


def free_fall(bench):
    """Leapfrog is exact where the acceleration is constant. Without a contact nothing is asked of materials."""
    start, speed, spin, gravity, steps, dt = (1, 2, 3), (4, -5, 6), (0, 0, 2), (0.5, 0, -9.81), 1000, 1e-3
    falling = {"graze": 1, "objects": [ball("a", start, speed, spin=spin)],
               "simulation": {"model": "dem", "gravity": list(gravity)}}
    del falling["objects"][0]["body"]["material"]
    for integrator, lead in (("leapfrog", 0), ("euler", dt)):
        falling["simulation"]["integrator"] = integrator
        result = bench.run(falling, steps, dt)
        got, t = row(result, "a"), steps * dt
        for k, axis in enumerate(AXES):
            bench.near(f"{integrator}: {axis}", got[axis],
                       start[k] + speed[k] * t + 0.5 * gravity[k] * t * (t + lead), 1e-10)
            bench.near(f"{integrator}: v{axis}", got["v" + axis], speed[k] + gravity[k] * t, 1e-10)
        bench.near(f"{integrator}: orientation", got["qw"], math.cos(0.5 * spin[2] * t), 1e-6)
        bench.near(f"{integrator}: orientation", got["qz"], math.sin(0.5 * spin[2] * t), 1e-6)
        bench.near(f"{integrator}: time", result["time"], t, 1e-12)
        bench.same(f"{integrator}: events", result["counts"], {"began": 0, "ended": 0, "hits": 0})
        if integrator == "leapfrog":
            bench.near("energy of a fall", result["end"]["energy"], result["start"]["energy"], 1e-9)


def particles(folder, rows, columns="x,y,z,vx,vy,vz"):
    (folder / "p.csv").write_text(columns + "\n" + "".join(",".join(map(repr, r)) + "\n" for r in rows))
    return {"name": "p", "file": "p.csv", "radius": 0.5, "mass": 2.0, "material": "m"}


def drag(bench):
    """Linear: v0 exp(-c t / m). Quadratic: v0 / (1 + c v0 t / m)."""
    speed, t = 3.0, 1.0
    for coefficients, wanted in (((0.5, 0), speed * math.exp(-0.5 * t / 2)), ((0, 0.5), speed / (1 + 0.5 * speed * t / 2))):
        dragged = scene([])
        dragged["particles"] = [{**particles(bench.folder, [[0, 0, 0, speed, 0, 0]]), "drag": coefficients}]
        result = bench.run(dragged, 10000, 1e-4)
        bench.near(f"drag {coefficients}", row(result, "p/0")["vx"], wanted, 1e-4)
        end = result["end"]
        bench.near("what drag takes", end["energy"] + end["dissipated"], result["start"]["energy"], 1e-3)


def bounds(bench):
    """Out of the box: exit 1. Periodic: in on the other side, and contacts go through it."""
    box = {"bounds": [-2, -2, -2, 2, 2, 2]}
    away = [ball("a", (0, 0, 0), (1, 0, 0)), ball("b", (0, 0, 1.5))]
    soft = {"k_n": 1e3}
    bench.same("left", bench.run(scene(away, soft, **box), 100, 0.01)["left"], 0)
    bench.same("left", bench.run(scene(away, soft, **box), 300, 0.01, code=1)["left"], 1)
    box = {"bounds": [-4, -4, -4, 4, 4, 4], "periodic": [1, 0, 0]}
    result = bench.run(scene([ball("a", (3, 0, 0), (1, 0, 0))], soft, **box), 200, 0.01)
    bench.near("periodic place", row(result, "a")["x"], -3, 1e-12)
    result = bench.run(scene([ball("a", (3, 0, 0), (1, 0, 0)), ball("b", (-3, 0, 0))], **box), 20000, 1e-4)
    bench.near("swap through the boundary", velocity(result, "b")[0], 1, 2e-4)
    bench.near("swap through the boundary", velocity(result, "a")[0], 0, 2e-4)


# ---- two balls -------------------------------------------------------------------------------------------------------


def duration(stiffness, reduced, zeta=0.0):
    return math.pi / math.sqrt(stiffness / reduced * (1 - zeta * zeta))


def collide(bench, masses, material, part, speed=1.0, parting=2.0):
    """A frontal collision at steps of a part of its duration: the velocities after it, and the run."""
    reduced = masses[0] * masses[1] / (masses[0] + masses[1])
    period = duration(material["k_n"], reduced)
    far = 1 + 0.1 * speed * period
    result = bench.run(scene([ball("a", (0, 0, 0), (speed, 0, 0), mass=masses[0]), ball("b", (far, 0, 0), mass=masses[1])],
                             material), int(parting * part), period / part)
    bench.same("parted", result["contacts"], 0)
    return velocity(result, "a")[0], velocity(result, "b")[0], result


def swap(bench):
    for ratio in (1, 3, 1000):
        a, b, result = collide(bench, (1.0, float(ratio)), {"k_n": 1e5}, 200)
        bench.near(f"mass ratio {ratio}: a", a, (1 - ratio) / (1 + ratio), 2e-4)
        bench.near(f"mass ratio {ratio}: b", b, 2 / (1 + ratio), 2e-4)
        bench.same("events", result["counts"], {"began": 1, "ended": 1, "hits": 1})


def restitution(bench):
    wanted = {"overlap": {0.05: 0.854468, 0.2: 0.526621, 0.5: 0.163034},
              "force": {0.05: 0.858758, 0.2: 0.571740, 0.5: 0.298436}}
    for ends, values in wanted.items():
        for zeta, e in values.items():
            damping = {"k_n": 1e5, "eta_n": 2 * zeta * math.sqrt(1e5 * 0.5), "ends": ends}
            a, b, result = collide(bench, (1.0, 1.0), damping, 1000, parting=3)
            bench.near(f"zeta {zeta}, ends {ends}", b - a, e, 0.006 * e)
            end = result["end"]
            bench.near("energy that went", end["energy"] + end["dissipated"], 0.5, 0.001)
            a, b, result = collide(bench, (1.0, 3.0), {"k_n": 1e5, "restitution": e, "ends": ends}, 1000, parting=3)
            bench.near(f"restitution {e}, ends {ends}", b - a, e, 0.006 * e)


def convergence(bench):
    """A ball that swings on a floor without leaving it: half the step has a quarter of the error without a dashpot, and at
    most half of it with one. A collision begins and ends within steps, and comes nearer to its restitution all the same."""
    gravity, stiffness, steps = 9.81, 1e3, 200
    rest = gravity / stiffness
    for zeta, smaller in ((0.0, 3.9), (0.1, 1.95)):
        omega = math.sqrt(stiffness)
        damped, t = omega * math.sqrt(1 - zeta * zeta), 3.7 / omega
        swing = 0.5 * rest * math.exp(-zeta * omega * t) * (
            math.cos(damped * t) + zeta * omega / damped * math.sin(damped * t))
        errors = []
        for halvings in range(4):
            result = bench.run(scene([ball("a", (0, 0, 0.5 - 1.5 * rest))],
                                     {"k_n": stiffness, "eta_n": 2 * zeta * omega}, (0, 0, -gravity), walls=floor()),
                               steps << halvings, t / (steps << halvings), "--every", "100000")
            errors.append(abs(row(result, "a")["z"] - (0.5 - rest - swing)) / rest)
        bench.same(f"converges with zeta {zeta}: {errors}", all(a > smaller * b for a, b in zip(errors, errors[1:])), True)
        bench.near(f"the error with zeta {zeta}", errors[-1], 0, 1e-3)
    for ends, zeta, e in (("overlap", 0.2, 0.526621), ("force", 0.2, 0.571740), ("overlap", 0.5, 0.163034)):
        damping = {"k_n": 1e5, "eta_n": 2 * zeta * math.sqrt(1e5 * 0.5), "ends": ends}
        for part, tolerance in ((100, 0.05), (400, 0.0125), (1600, 0.004)):
            a, b, _ = collide(bench, (1.0, 1.0), damping, part, parting=3)
            bench.near(f"zeta {zeta}, ends {ends}, {part} steps", b - a, e, tolerance * e)


def chain_of(count, gap, speed=1.0):
    """A row of balls, and a first one that comes at the speed."""
    return [ball(f"b{i}", (i * (1 + gap) - (1.0 if i == 0 else 0.0), 0, 0), (speed if i == 0 else 0, 0, 0))
            for i in range(count)]


def cradle(bench):
    """With gaps the last ball has everything. Touching ones share it, as an integration of the row of springs says."""
    stiffness, count = 1e5, 5
    period = duration(stiffness, 0.5)
    result = bench.run(scene(chain_of(count, 1 / 64)), int(1.6 / period * 200), period / 200, "--every", "1000000")
    for i in range(count):
        bench.near(f"cradle: ball {i}", velocity(result, f"b{i}")[0], float(i == count - 1), 2e-4)
    steps, dt = int(1.2 / period * 1000), period / 1000
    result = bench.run(scene(chain_of(count, 0.0)), steps, dt, "--every", "1000000")
    wanted = touching_row(count, stiffness, 1.0, steps * dt - 1.0)
    for i in range(count):
        bench.near(f"touching: ball {i}", velocity(result, f"b{i}")[0], wanted[i], 2e-4)
    bench.same("the touching ones share", wanted[count - 1] < 0.99 and wanted[count - 2] > 0.1, True)


def touching_row(count, stiffness, speed, time, parts=4000):
    """Speeds of a row of unit balls in one dimension after the first has come to touch: classical Runge-Kutta."""
    def slopes(x, v):
        push = [stiffness * max(0.0, x[i] - x[i + 1]) for i in range(count - 1)]
        return v, [(push[i - 1] if i > 0 else 0.0) - (push[i] if i < count - 1 else 0.0) for i in range(count)]
    def ahead(y, s, h):
        return [[a + h * b for a, b in zip(*pair)] for pair in zip(y, s)]
    y, dt = [[0.0] * count, [speed] + [0.0] * (count - 1)], time / parts
    for _ in range(parts):
        s1 = slopes(*y)
        s2 = slopes(*ahead(y, s1, dt / 2))
        s3 = slopes(*ahead(y, s2, dt / 2))
        s4 = slopes(*ahead(y, s3, dt))
        y = [[a + dt / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(*five)] for five in zip(y, s1, s2, s3, s4)]
    return y[1]


def hertz(bench):
    """The deepest overlap of an elastic Hertz contact: all energy in 8/15 E* sqrt(R) o^(5/2)."""
    young, poisson, speed, radius = 1e7, 0.3, 1.0, 0.5
    combined, curve, reduced = young / (2 * (1 - poisson ** 2)), radius / 2, 0.5
    deepest = (0.5 * reduced * speed ** 2 / (8 / 15 * combined * math.sqrt(curve))) ** 0.4
    period = 2.943 * deepest / speed
    result = bench.run(scene([ball("a", (0, 0, 0), (speed, 0, 0)), ball("b", (1 + 1e-9, 0, 0))],
                             {"law": "hertz", "young": young, "poisson": poisson}), 1000, period / 500)
    bench.near("deepest", max(float(r["max_overlap"]) for r in result["energy"]), deepest, 1e-3 * deepest)
    bench.near("hertz swap", velocity(result, "b")[0], speed, 1e-3)


def mixing(bench):
    """Two materials: the harmonic mean of stiffness, the geometric one of restitution, or what `pairs` says."""
    text = scene([ball("a", (0, 0, 0), (1, 0, 0), material="soft"), ball("b", (1.01, 0, 0), material="hard")])
    text["simulation"]["materials"] = {"soft": {"k_n": 1e4, "restitution": 0.9}, "hard": {"k_n": 1e6, "restitution": 0.4}}
    for pairs, stiffness, e in (([], 2e10 / 1.01e6, 0.6), ([["hard", "soft", {"k_n": 3e4, "restitution": 0.8}]], 3e4, 0.8)):
        text["simulation"]["pairs"] = pairs
        result = bench.run(text, 20000, 2e-6, "--every", "20000")
        bench.near("restitution of two", velocity(result, "b")[0] - velocity(result, "a")[0], e, 0.006 * e)
        times = {r["event"]: float(r["time"]) for r in result["events"]}
        zeta = -math.log(e) / math.hypot(math.pi, math.log(e))
        bench.near("duration of two", times["ended"] - times["began"], duration(stiffness, 0.5, zeta), 5e-6)


def oblique(bench):
    """Whatever the law across the contact: momentum and angular momentum stay, and energy is accounted for."""
    laws = {"dashpot": {"gamma_t": 200.0}, "spring": {"k_t": 3e4, "gamma_t": 20.0}, "full": {}}
    for law, numbers in laws.items():
        material = {"k_n": 1e5, "gamma_n": 60.0, "tangential": law, **numbers}
        if law != "full":
            material["friction"] = 0.3
        reduced = 2.0 / 3
        balls = [ball("a", (0.25, 0, 0.125), (2, 0.5, 0), mass=1.0, spin=(1, 2, 3)),
                 ball("b", (1.4, 0.6, 0.3), (-0.5, 0, 0.25), mass=2.0, radius=0.75, spin=(-2, 0, 1))]
        result = bench.run(scene(balls, material), 6000, duration(1e5, reduced) / 1000)
        start, end = result["start"], result["end"]
        bench.same(f"{law}: events", result["counts"], {"began": 1, "ended": 1, "hits": 1})
        for k, axis in enumerate(AXES):
            bench.near(f"{law}: momentum {axis}", end["momentum"][k], start["momentum"][k], 1e-11)
            if law != "full":
                bench.near(f"{law}: angular momentum {axis}", end["angular_momentum"][k], start["angular_momentum"][k],
                           1e-11)
        bench.near(f"{law}: energy", end["energy"] + end["dissipated"], start["energy"], 0.002 * start["energy"])
        if end["dissipated"] <= 0:
            bench.same(f"{law}: dissipated", end["dissipated"], "above 0")


def impulses(bench):
    """Events of a frontal collision: speeds of approach and parting, and m (1 + e) v."""
    material = {"k_n": 1e5, "restitution": 0.5}
    _, _, result = collide(bench, (1.0, 3.0), material, 1000, parting=3)
    began, hit, ended = result["events"]
    bench.same("words", [r["event"] for r in (began, hit, ended)], ["began", "hit", "ended"])
    bench.same("members", {(r["a"], r["b"]) for r in (began, hit, ended)}, {("a", "b")})
    bench.near("approach", float(began["speed"]), 1, 1e-6)
    bench.near("approach", float(hit["speed"]), 1, 1e-6)
    bench.near("parting", float(ended["speed"]), 0.5, 0.005)
    bench.near("impulse", float(ended["impulse"]), 0.75 * 1.5, 0.01)
    bench.near("normal", float(began["nx"]), -1, 1e-12)
    bench.near("time", float(ended["time"]) - float(began["time"]), duration(1e5, 0.75, 0.2155), 1e-4)


def others(bench):
    """A static ball stands like a wall; a kinematic one goes its way and pushes; walls carry what lies on a belt."""
    for kind, speed in (("static", 0.0), ("kinematic", 0.5)):
        other = ball("b", (1.01, 0, 0), (speed, 0, 0), type=kind)
        del other["body"]["mass"]
        result = bench.run(scene([ball("a", (0, 0, 0), (2, 0, 0)), other]), 4000, duration(1e5, 1.0) / 1000)
        bench.near(f"against a {kind} one", velocity(result, "a")[0], 2 * speed - 2, 1e-3)
        bench.near(f"the {kind} one", row(result, "b")["x"], 1.01 + speed * result["time"], 1e-12)
    belt = {"k_n": 1e6, "gamma_n": 100.0, "tangential": "dashpot", "gamma_t": 500.0, "friction": 0.5}
    moving = scene([ball("a", (0, 0, 0.5 - 9.81e-6))], belt, gravity=(0, 0, -9.81),
                   walls=[{"point": [0, 0, 0], "normal": [0, 0, 1], "material": "belt"}])
    moving["simulation"]["materials"]["belt"] = {**belt, "surface_speed": [1, 0, 0]}
    result = bench.run(moving, 20000, 1e-4)
    bench.near("on a belt", velocity(result, "a")[0], 2 / 7, 2e-3)


# ---- on a floor ------------------------------------------------------------------------------------------------------


def order(bench):
    """Whichever comes first, and along whichever axis: an elastic ball comes back from a static one."""
    for k in range(3):
        place, speed = [0.0] * 3, [0.0] * 3
        place[k], speed[k] = 2.1, -1.0
        moving, post = ball("a", place, speed, 1.0), {"name": "b", "shape": {"sphere": 1.0}}
        for pair in ([moving, post], [post, moving]):
            result = bench.run(scene(pair), 4000, 1e-4)
            bench.near("back from a static one", velocity(result, "a")[k], 1, 1e-3)


def bounce(bench):
    """Heights of e^2n. The floor is stiff, so that a contact is short against the flight."""
    e, height, gravity = 0.8, 1.0, 9.81
    result = bench.run(scene([ball("a", (0, 0, 0.5 + height))], {"k_n": 1e6, "restitution": e}, (0, 0, -gravity),
                             walls=floor()), 160000, 1.5e-5, "--every", "100")
    ended = [float(r["time"]) for r in result["events"] if r["event"] == "ended"]
    for n in range(1, 4):
        top = max(float(r["potential"]) for r in result["energy"] if ended[n - 1] < float(r["time"]) < ended[n])
        bench.near(f"bounce {n}", top / gravity - 0.5, height * e ** (2 * n), 0.006 * height)


FLOOR = {"k_n": 1e6, "gamma_n": 200.0, "gamma_t": 2000.0}


def rolling_scene(law, friction, speed, angle=0.0):
    gravity, radius = 9.81, 0.5
    down = gravity * math.cos(angle)
    material = {**FLOOR, "tangential": law, "friction": friction}
    if law == "spring":
        material["k_t"], material["gamma_t"] = 3e5, 500.0
    return scene([ball("a", (0, 0, radius - down / 1e6), (speed, 0, 0))], material,
                 (gravity * math.sin(angle), 0, -down), walls=floor())


def slide_to_roll(bench):
    friction, speed, gravity, dt = 0.25, 2.0, 9.81, 1e-4
    until = 2 * speed / (7 * friction * gravity)
    for law in ("dashpot", "spring"):
        result = bench.run(rolling_scene(law, friction, speed), int(0.5 * until / dt), dt, "--every", "1000")
        got = row(result, "a")
        bench.near(f"{law}: sliding", got["vx"], speed - friction * gravity * result["time"], 1e-3 * speed)
        bench.near(f"{law}: spin", got["wy"], 2.5 * friction * gravity * result["time"] / 0.5, 5e-3 * speed)
        result = bench.run(rolling_scene(law, friction, speed), int(1.5 * until / dt), dt, "--every", "1000")
        got = row(result, "a")
        bench.near(f"{law}: rolling", got["vx"], 5 / 7 * speed, 1e-3 * speed)
        bench.near(f"{law}: spin", got["wy"] * 0.5, 5 / 7 * speed, 2e-3 * speed)


def incline(bench):
    """Rolls with 5/7 g sin while friction is at least 2/7 tan, else slips."""
    angle, gravity, dt, steps = 0.4, 9.81, 1e-4, 5000
    for law in ("dashpot", "spring"):
        for friction in (0.5, 0.05):
            rolls = friction >= 2 / 7 * math.tan(angle)
            result = bench.run(rolling_scene(law, friction, 0.0, angle), steps, dt, "--every", "1000")
            got, t = row(result, "a"), steps * dt
            slope, press = gravity * math.sin(angle), gravity * math.cos(angle)
            wanted = (5 / 7 * slope if rolls else slope - friction * press) * t
            bench.near(f"{law}, friction {friction}: speed", got["vx"], wanted, 4e-3 * slope * t)
            spin = wanted / 0.5 if rolls else 2.5 * friction * press * t / 0.5
            bench.near(f"{law}, friction {friction}: spin", got["wy"], spin, 1e-2 * slope * t)


def resistance(bench):
    """Against rolling: 5/7 of rolling g off the speed; against spin: 5/2 spinning g / r off it."""
    gravity, dt, steps = 9.81, 1e-4, 3000
    for rolling, spinning in ((0.02, 0.0), (0.0, 0.05)):
        text = rolling_scene("dashpot", 0.5, 1.0)
        text["objects"][0]["body"]["spin"] = [0, 2, 6]
        text["simulation"]["materials"]["m"].update(rolling=rolling, spinning=spinning)
        result = bench.run(text, steps, dt, "--every", "1000")
        got, t = row(result, "a"), steps * dt
        bench.near(f"rolling {rolling}: speed", got["vx"], 1 - 5 / 7 * rolling * gravity * t, 2e-3)
        bench.near(f"spinning {spinning}: spin", got["wz"], 6 - 2.5 * spinning * gravity / 0.5 * t, 5e-3)


def meshes(bench):
    """Balls that fall, slide, roll and spin on the triangles of a file, over edges and corners, do as on a wall."""
    cells, lines = 12, []
    lines += [f"v {i - 5.75} {j - 5.75} 0" for j in range(cells + 1) for i in range(cells + 1)]
    for j in range(cells):
        for i in range(cells):
            a = 1 + i + j * (cells + 1)
            b, c, d = a + 1, a + cells + 1, a + cells + 2
            lines += [f"f {a} {b} {d}", f"f {a} {d} {c}"] if (i + j) % 2 else [f"f {a} {b} {c}", f"f {b} {d} {c}"]
    (bench.folder / "floor.obj").write_text("\n".join(lines) + "\n")
    for law in ("dashpot", "spring"):
        material = {"k_n": 1e5, "restitution": 0.5, "tangential": law, "friction": 0.3, "rolling": 0.01, "spinning": 0.01}
        balls = [ball(f"b{i}", (1.5 * (i % 3) - 1.5, 1.5 * (i // 3) - 1.5, 0.5 + 0.05 * i),
                      (0.3 * i - 1, 0.5 - 0.2 * i, 0), 0.5 - 0.03 * i, 1.0, (i, -2, 3)) for i in range(8)]
        wall = bench.run(scene(balls, material, (0, 0, -9.81), walls=floor()), 5000, 2e-4, "--every", "1000")
        plate = {"name": "floor", "mesh": "floor.obj"}
        mesh = bench.run(scene([*balls, plate], material, (0, 0, -9.81)), 5000, 2e-4, "--every", "1000")
        bench.same(f"{law}: contacts with the floor", wall["counts"]["began"] > 8, True)
        bench.same(f"{law}: contacts", mesh["counts"], wall["counts"])
        for i in range(8):
            got, wanted = row(mesh, f"b{i}"), row(wall, f"b{i}")
            for key in wanted:
                bench.near(f"{law}: ball {i} on a mesh: {key}", got[key], wanted[key], 1e-6)


def contacts(bench):
    """Contacts of a state are exactly those of closed balls, on a lattice where many touch, and of balls with walls and
    boxes; what only touches feels no force."""
    stream, count, side, unit = random.Random(11), 120, 24, 2.0 ** -7 * 3
    for _ in range(6):
        places = [[stream.randrange(side) for _ in range(3)] for _ in range(count)]
        radii = [stream.choice((1, 2, 5)) for _ in range(count)]
        objects = [ball(f"b{i}", [unit * x for x in places[i]], radius=unit * radii[i]) for i in range(count)]
        plain = {"k_n": 1.0}
        meeting = sum(sum((a - b) ** 2 for a, b in zip(places[i], places[j])) <= (radii[i] + radii[j]) ** 2
                      for i in range(count) for j in range(i))
        bench.same("contacts of balls", bench.run(scene(objects, plain), 0, 1e-3)["contacts"], meeting)
        below = sum(p[2] - r <= 0 for p, r in zip(places, radii))
        bench.same("contacts with a wall", bench.run(scene(objects, plain, walls=floor()), 0, 1e-3)["contacts"],
                   meeting + below)
        box = {"name": "box", "shape": {"box": [4 * unit] * 3},
               "pose": [1, 0, 0, -2 * unit, 0, 1, 0, 12 * unit, 0, 0, 1, 12 * unit]}
        near = 0
        for p, r in zip(places, radii):  # the box is from -4 to 0, and 10 to 14
            outside = [p[0], max(10 - p[1], 0, p[1] - 14), max(10 - p[2], 0, p[2] - 14)]
            near += sum(x * x for x in outside) <= r * r
        bench.same("contacts with a box", bench.run(scene([*objects, box], plain), 0, 1e-3)["contacts"], meeting + near)
    wall = [{"point": [0, 0, -0.5], "normal": [0, 0, 1]}]
    result = bench.run(scene([ball("a", (0, 0, 0)), ball("b", (1, 0, 0))], walls=wall), 100, 1e-4)
    bench.same("touching", (result["contacts"], result["max_overlap"]), (3, 0))
    bench.same("no force", velocity(result, "a") + velocity(result, "b"), [0.0] * 6)


def robot_cell(bench):
    """The arms and parts of a robot cell go where its motion file says, row by row, and balls in their way are hit."""
    cell = bench.folder / "cell"
    subprocess.run([bench.tool, "make", "robot", "-o", cell], check=True, stdout=subprocess.DEVNULL)
    text = json.loads((cell / "scene.json").read_text())
    with open(cell / "motion.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    moving = {r["object"] for r in rows}
    for o in text["objects"]:
        o["mesh"] = f"cell/{o['mesh']}"
        if o["name"] in moving:
            o["body"] = {"type": "kinematic"}
    text["simulation"] = {"model": "dem", "materials": {"m": {"k_n": 1e4, "restitution": 0.4}}}
    text["particles"] = [{**particles(bench.folder, [[1.3 + 0.1 * (i % 5), 0.1 * (i // 25) - 0.2, 1.6 + 0.1 * (i // 5 % 5)]
                                                    for i in range(125)], "x,y,z"), "radius": 0.04, "mass": 0.3}]
    out = bench.folder / "driven.csv"
    result = bench.run(text, 520, 2e-4, "--drive", cell / "motion.csv", "--motion", out)
    with open(out, newline="") as stream:
        got = {(r["step"], r["object"]): r for r in csv.DictReader(stream)}
    bench.same("rows of the cell", len(rows) > 400, True)
    for r in rows:
        if int(r["step"]) <= 520:
            g = {k: float(v) for k, v in got[r["step"], r["object"]].items() if k not in ("step", "object")}
            turned = [1 - 2 * (g["qy"] ** 2 + g["qz"] ** 2), 2 * (g["qx"] * g["qy"] + g["qw"] * g["qz"]),
                      2 * (g["qx"] * g["qz"] - g["qw"] * g["qy"])]
            for k, axis in enumerate(AXES):
                bench.near(f"{r['object']} in step {r['step']}: {axis}", g[axis], float(r[f"m{k}3"]), 1e-9)
                bench.near(f"{r['object']} in step {r['step']}: first axis", turned[k], float(r[f"m{k}0"]), 1e-9)
    bench.same("balls are hit by arms", any(r["b"].startswith("robot/") for r in result["events"]), True)


# ---- states ----------------------------------------------------------------------------------------------------------


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def hash_of(rows):
    total = 0
    for number, r in enumerate(rows):
        h = number
        for key in ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"):
            h = splitmix64(h ^ struct.unpack("<Q", struct.pack("<d", float(r[key]) + 0.0))[0])
        total = (total + h) & MASK
    return f"{total:016x}"


def make(bench, kind, size):
    subprocess.run([bench.tool, "make", kind, "--size", str(size), "-o", bench.folder / kind], check=True,
                   stdout=subprocess.DEVNULL)
    text = json.loads((bench.folder / kind / "scene.json").read_text())
    for entry in text.get("particles", []):
        entry["file"] = f"{kind}/{entry['file']}"
    return text


def lattice(bench):
    """The bed, once more: seed, order of the numbers and roundings are those of the comparison with other programs."""
    size, side = 300, 7
    make(bench, "bed", size)
    data = (bench.folder / "bed" / "bed.gzp").read_bytes()
    bench.same("particles", struct.unpack("<8sQ", data[:16]), (b"GRZPART\0", size))
    state = 0xDE0000 + size
    for i in range(size):
        place = struct.unpack_from("<3d", data, 16 + 80 * i)
        for k, cell in enumerate((i % side, i // side % side, i // (side * side))):
            unit = (splitmix64(state) >> 11) / 2 ** 53
            state = (state + 0x9E3779B97F4A7C15) & MASK
            bench.same(f"bed {i} {k}", place[k], 0.6 + cell * 1.1 + 0.08 * (unit - 0.5))


def mixed(bench):
    """A bed with bodies of its own: dynamic ones first in the hash, static and kinematic ones not in it."""
    bed = make(bench, "bed", 300)
    bed["simulation"]["materials"]["m"] = {"k_n": 2e5, "gamma_n": 80.0, "gamma_t": 20.0, "tangential": "spring",
                                            "friction": 0.4}
    bed["objects"] = [ball("post", (3, 3, 0.5), type="static"), ball("big", (3, 3, 12), (0, 0, -5), 1.0, 8.0, (1, 2, 3)),
                      ball("belt", (1, 1, 14), (0.5, 0, 0), type="kinematic"), ball("small", (5, 5, 10), radius=0.25)]
    for name in (0, 2):
        del bed["objects"][name]["body"]["mass"]
    return bed


def states(bench):
    for name, text in (("bed", mixed(bench)), ("gas", make(bench, "gas", 400)), ("cradle", make(bench, "cradle", 5))):
        steps, dt = 3000, 2e-4
        whole = bench.run(text, steps, dt, "--every", "500")
        moving = {o["name"] for o in text.get("objects", []) if o["body"].get("type", "dynamic") == "dynamic"}
        fixed = {o["name"] for o in text.get("objects", [])} - moving
        bench.same(f"{name}: hash of --final", hash_of([r for r in whole["final"] if r["name"] not in fixed]),
                   whole["hash"])
        bench.same(f"{name}: rows", [int(r["step"]) for r in whole["energy"]], list(range(0, steps + 1, 500)))
        for options, environment in ((["--threads", "1"], {}), (["--threads", "2"], {}), (["--threads", "4"], {}),
                                     ([], {"GRAZE_DISABLE": "avx512"}), ([], {"GRAZE_DISABLE": "avx512,avx2"})):
            again = bench.run(None, steps, dt, "--every", "500", *options, environment=environment)
            bench.same(f"{name} {options} {environment}", again["hash"], whole["hash"])
            bench.same(f"{name} {options} {environment}: end", again["end"], whole["end"])
        state = bench.folder / "state"
        half = bench.run(None, 1234, dt, "--every", "500", "--save", state)
        rest = bench.run(None, steps - 1234, dt, "--every", "500", "--restore", state)
        bench.same(f"{name}: restored", (rest["hash"], rest["end"]), (whole["hash"], whole["end"]))
        bench.same(f"{name}: restored, rows", half["energy"][:-1] + rest["energy"][1:], whole["energy"])
        bench.same(f"{name}: restored, events", half["events"] + rest["events"], whole["events"])


def sums(bench):
    """What the result says is what the last state and the last row say."""
    result = bench.run(mixed(bench), 2500, 2e-4, "--every", "700")
    masses = {"big": (8.0, 1.0), "small": (1.0, 0.25)}
    kinetic = rotational = potential = 0.0
    momentum = [0.0, 0.0, 0.0]
    for r in result["final"]:
        if r["name"] in ("post", "belt"):
            continue
        mass, radius = masses.get(r["name"], (1.0, 0.5))
        v, w = ([float(r[a + axis]) for axis in AXES] for a in "vw")
        kinetic += 0.5 * mass * sum(x * x for x in v)
        rotational += 0.2 * mass * radius ** 2 * sum(x * x for x in w)
        potential += mass * 9.81 * float(r["z"])
        momentum = [p + mass * x for p, x in zip(momentum, v)]
    end, last = result["end"], result["energy"][-1]
    for key, wanted in (("kinetic", kinetic), ("rotational", rotational), ("potential", potential)):
        bench.near(key, end[key], wanted, 1e-10 * abs(wanted))
        bench.same(f"row: {key}", float(last[key]), end[key])
    bench.near("energy", end["energy"], sum(end[k] for k in ("kinetic", "rotational", "potential", "elastic")), 1e-8)
    for k, axis in enumerate(AXES):
        bench.near(f"momentum {axis}", end["momentum"][k], momentum[k], 1e-9)
    bench.same("row: steps", [int(r["step"]) for r in result["energy"]], [0, 700, 1400, 2100, 2500])
    bench.same("row: contacts", int(last["contacts"]), result["contacts"])
    bench.same("bodies", result["bodies"], {"dynamic": 2, "static": 1, "kinematic": 1, "particles": 300})
    words = [r["event"] for r in result["events"]]
    bench.same("events", [words.count(w) for w in ("began", "ended", "hit")],
               [result["counts"][w] for w in ("began", "ended", "hits")])
    bench.same("open contacts", words.count("began") - words.count("ended"), result["contacts"])


def gas(bench):
    """Elastic balls in a periodic box keep energy and momentum."""
    result = bench.run(make(bench, "gas", 500), 4000, 1.4e-4, "--every", "4000")
    start, end = result["start"], result["end"]
    bench.near("energy of a gas", end["energy"], start["energy"], 1e-3 * start["energy"])
    bench.same("collisions of a gas", result["counts"]["ended"] > 50, True)
    for k, axis in enumerate(AXES):
        bench.near(f"momentum of a gas {axis}", end["momentum"][k], 0, 1e-11)


def scales(bench):
    """Powers of two in mass, length and time change exponents and no digit, whatever the law and whatever balls meet."""
    mass, length, time = 2.0 ** 5, 2.0 ** -3, 2.0 ** 2
    speed = length / time
    laws = {"hooke": lambda k, l, t: {"k_n": 1e5 * k, "gamma_n": 50.0 / t, "k_t": 3e4 * k, "gamma_t": 10.0 / t,
                                      "tangential": "spring"},
            "force": lambda k, l, t: {"k_n": 1e5 * k, "restitution": 0.6, "ends": "force", "tangential": "dashpot"},
            "hertz": lambda k, l, t: {"law": "hertz", "young": 1e6 * k / l, "poisson": 0.25, "restitution": 0.6,
                                      "tangential": "spring"}}
    def made(law, m, l, t):
        v, material = l / t, law(m / t ** 2, l, t)
        material |= {"friction": 0.4, "rolling": 0.05, "spinning": 0.03}
        balls = [ball(f"b{i}", [l * x for x in (1.2 * (i % 3), 1.3 * (i // 3), 0.8 + 0.3 * i)],
                      [v * x for x in (0.5 * i - 1, 0.25, -1)], 0.5 * l, m, [x / t for x in (i, 1, -i)]) for i in range(6)]
        step = {"name": "step", "shape": {"box": [l, l, 0.25 * l]}, "pose": [1, 0, 0, 1.3 * l, 0, 1, 0, 0.4 * l, 0, 0, 1, 0]}
        made = scene([*balls, step], material, (0, 0, -9.81 * v / t), walls=floor())
        made["particles"] = [{**particles(bench.folder, [[l * x for x in (0.4, 0.7, 3)] + [v, 0, 0],
                                                          [l * x for x in (0.5, 0.6, 4.5)] + [0, v, 0]]),
                              "radius": 0.5 * l, "mass": m, "drag": [0.1 * m / t, 0.05 * m / l]}]
        return made
    factors = {"x": length, "v": speed, "w": 1 / time, "q": 1.0}
    for name, law in laws.items():
        one = bench.run(made(law, 1.0, 1.0, 1.0), 4000, 2e-4)
        two = bench.run(made(law, mass, length, time), 4000, 2e-4 * time)
        bench.same(f"{name}: contacts took place", one["counts"]["began"] > 10, True)
        bench.same(f"{name}: the step is met", any("step" in (r["a"], r["b"]) for r in one["events"]), True)
        for r, s in zip(one["final"], two["final"]):
            for key in r:
                if key != "name":
                    factor = factors["x" if key in AXES else key[0]]
                    bench.same(f"{name}: scaled {r['name']} {key}", float(s[key]), float(r[key]) * factor)
        bench.same(f"{name}: scaled energy", two["end"]["kinetic"], one["end"]["kinetic"] * mass * speed ** 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin.resolve() / "graze"
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(tool, Path(scratch))
        for test in (free_fall, drag, bounds, swap, restitution, convergence, cradle, hertz, mixing, oblique, impulses, others, order, bounce, slide_to_roll,
                     incline, resistance, meshes, contacts, robot_cell, gas, lattice, states, sums, scales):
            test(bench)
        print(f"{bench.checked} numbers, {bench.bad} differences")
    return 1 if bench.bad or bench.checked < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
