#!/usr/bin/env python3
"""Runs random scenes through `graze simulate` and through a simulator of its own, some hundred lines of plain loops
written from the description of the law (docs/particles.md): every state must agree to roundings.

    simulate_oracle.py --bin FOLDER        200 scenes, 5000 with GRAZE_TEST_LONG=1
"""
import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

INF = math.inf
DISABLED = ("", "avx512", "avx512,avx2", "")


def add(a, b, factor=1.0):
    return [x + factor * y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def across(a, n):
    return add(a, n, -dot(a, n))


class Ball:
    def __init__(self, name, kind, place, velocity, spin, radius, mass, material, drag=(0, 0)):
        self.name, self.kind, self.x, self.v, self.w = name, kind, list(place), list(velocity), list(spin)
        self.radius, self.material, self.drag = radius, material, drag
        self.mass = mass if kind in ("dynamic", "particle") else INF
        self.inertia = 0.4 * self.mass * radius ** 2

    @property
    def moves(self):
        return self.mass < INF


# ---- the law ---------------------------------------------------------------------------------------------------------


def harmonic(x, y):
    return 2 * x * y / (x + y) if x + y > 0 else 0.0


def damping_of(e, ends):
    """The damping ratio zeta of a restitution."""
    if ends == "overlap":
        return -math.log(e) / math.hypot(math.pi, math.log(e))
    low, high = 0.0, 1.0
    for _ in range(200):
        zeta = 0.5 * (low + high)
        root = math.sqrt(1 - zeta * zeta)
        got = math.exp(-zeta / root * (math.pi - math.atan2(2 * zeta * root, 1 - 2 * zeta * zeta)))
        low, high = (zeta, high) if got > e else (low, zeta)
    return 0.5 * (low + high)


class Law:
    """What holds between two materials, at an overlap, a reduced mass and a reduced radius."""

    def __init__(self, a, b):
        self.law = a.get("law", "hooke")
        words = ("none", "dashpot", "spring", "full")
        self.tangential = max(a.get("tangential", "none"), b.get("tangential", "none"), key=words.index)
        self.ends = "force" if "force" in (a.get("ends"), b.get("ends")) else "overlap"
        both = lambda key: harmonic(a[key], b[key]) if key in a and key in b else 0.0
        mean = lambda key: math.sqrt(a.get(key, 0.0) * b.get(key, 0.0))
        given = lambda key: harmonic(a.get(key, b.get(key, 0.0)), b.get(key, a.get(key, 0.0)))
        self.eta_n, self.gamma_n, self.eta_t, self.gamma_t = both("eta_n"), both("gamma_n"), given("eta_t"), given("gamma_t")
        self.zeta = damping_of(mean("restitution"), self.ends) if "restitution" in a and "restitution" in b else 0.0
        self.share = 0.0 if {"eta_t", "gamma_t"} & (a.keys() | b.keys()) else 0.5
        self.friction, self.rolling, self.spinning = mean("friction"), mean("rolling"), mean("spinning")
        if self.law == "hooke":
            self.k_n = harmonic(a["k_n"], b["k_n"])
            self.k_t = harmonic(*(m.get("k_t", 2 / 7 * m["k_n"]) for m in (a, b)))
        else:
            self.young = 1 / sum((1 - m["poisson"] ** 2) / m["young"] for m in (a, b))
            self.shear = 1 / sum((2 - m["poisson"]) * 2 * (1 + m["poisson"]) / m["young"] for m in (a, b))

    def constants(self, overlap, mass, radius):
        """k_n, eta_n, k_t, eta_t."""
        if self.law == "hooke":
            k_n, k_t, factor = self.k_n, self.k_t, 2.0
        else:
            root = math.sqrt(radius * overlap)
            k_n, k_t, factor = 4 / 3 * self.young * root, 8 * self.shear * root, math.sqrt(5)
        eta_n = self.eta_n + self.gamma_n * mass + factor * self.zeta * math.sqrt(k_n * mass)
        if self.tangential == "full":
            return k_n, eta_n, 0.0, eta_n
        return k_n, eta_n, k_t, self.eta_t + self.gamma_t * mass + self.share * eta_n


def against_spin(part, coefficient, force, radius, inverse_inertia, dt):
    size = math.sqrt(dot(part, part))
    if size == 0:
        return [0.0, 0.0, 0.0]
    return [-min(coefficient * abs(force) * radius / size, 1 / (inverse_inertia * dt)) * x for x in part]


def side(law, n, overlap, u, arms, spins, mass, inverse_inertia, radius, spring, dt):
    """Force and torque on the one, and what becomes of the spring."""
    k_n, eta_n, k_t, eta_t = law.constants(overlap, mass, radius)
    normal = k_n * overlap - eta_n * dot(u, n)
    if law.ends == "force":
        normal = max(normal, 0.0)
    force, torque = [normal * x for x in n], [0.0, 0.0, 0.0]
    if law.tangential == "full":
        force = add(force, across(u, n), -eta_t)
    elif law.tangential != "none":
        turn = add([arms[0] * x for x in spins[0]], spins[1], arms[1])
        slip = add(across(u, n), cross(turn, n), -1)
        if law.tangential == "spring":
            spring = across(add(spring, slip, dt), n)
            pull = [-k_t * s - eta_t * v for s, v in zip(spring, slip)]
        else:
            pull = [-eta_t * v for v in slip]
        size, most = math.sqrt(dot(pull, pull)), law.friction * abs(normal)
        if size > most:
            pull = [most / size * x for x in pull]
            if law.tangential == "spring":
                if law.law == "hertz":
                    spring = [most / size * x for x in spring]
                else:
                    spring = [-(f + eta_t * v) / k_t for f, v in zip(pull, slip)]
        force = add(force, pull)
        torque = [-arms[0] * x for x in cross(n, pull)]
    relative = add(spins[0], spins[1], -1)
    about = [dot(relative, n) * x for x in n]
    for part, coefficient in ((add(relative, about, -1), law.rolling), (about, law.spinning)):
        torque = add(torque, against_spin(part, coefficient, normal, radius, inverse_inertia, dt))
    return force, torque, spring


# ---- the world -------------------------------------------------------------------------------------------------------


class World:
    def __init__(self, balls, walls, materials, gravity, period, integrator):
        self.balls, self.walls, self.materials, self.gravity = balls, walls, materials, gravity
        self.period, self.integrator, self.springs, self.contacts = period, integrator, {}, 0

    def between(self, a, b):
        return Law(self.materials[a], self.materials[b])

    def pair(self, i, j, dt):
        a, b = self.balls[i], self.balls[j]
        d = add(a.x, b.x, -1)
        for k, period in enumerate(self.period):
            if period:
                d[k] -= period * round(d[k] / period)
        distance = math.sqrt(dot(d, d))
        overlap = a.radius + b.radius - distance
        if overlap <= 0:
            return None
        n = [x / distance for x in d]
        inverse = 1 / a.mass + 1 / b.mass
        return side(self.between(a.material, b.material), n, overlap, add(a.v, b.v, -1),
                    (a.radius - overlap / 2, b.radius - overlap / 2), (a.w, b.w), 1 / inverse,
                    1 / a.inertia + 1 / b.inertia, a.radius * b.radius / (a.radius + b.radius),
                    self.springs.get((i, j), [0.0, 0.0, 0.0]), dt)

    def wall(self, i, w, dt):
        a, (point, normal, material) = self.balls[i], self.walls[w]
        length = math.sqrt(dot(normal, normal))
        n = [x / length for x in normal]
        overlap = a.radius - dot(n, add(a.x, point, -1))
        if overlap <= 0:
            return None
        belt = self.materials[material].get("surface_speed", [0, 0, 0])
        return side(self.between(a.material, material), n, overlap, add(a.v, belt, -1), (a.radius - overlap / 2, 0.0),
                    (a.w, [0.0] * 3), a.mass, 1 / a.inertia, a.radius, self.springs.get((i, -1 - w), [0.0] * 3), dt)

    def accelerations(self, dt):
        """Of every ball, and its angular one; springs are as they become."""
        springs, result = {}, []
        for i, a in enumerate(self.balls):
            force, torque = [0.0] * 3, [0.0] * 3
            keys = [j for j in range(len(self.balls)) if j != i] + [-1 - w for w in range(len(self.walls))]
            for j in keys if a.moves else []:
                got = self.pair(i, j, dt) if j >= 0 else self.wall(i, -1 - j, dt)
                if got:
                    force, torque, springs[i, j] = add(force, got[0]), add(torque, got[1]), got[2]
            if not a.moves:
                result.append(([0.0] * 3, [0.0] * 3))
                continue
            resistance = a.drag[0] + a.drag[1] * math.sqrt(dot(a.v, a.v))
            force = add(force, a.v, -resistance)
            result.append((add(self.gravity, force, 1 / a.mass), [x / a.inertia for x in torque]))
        self.contacts += len(springs)
        self.springs = springs
        return result

    def kick(self, accelerations, dt):
        for ball, (linear, angular) in zip(self.balls, accelerations):
            ball.v, ball.w = add(ball.v, linear, dt), add(ball.w, angular, dt)

    def drift(self, dt, low):
        for ball in self.balls:
            ball.x = add(ball.x, ball.v, dt)
            for k, period in enumerate(self.period):
                if period:
                    ball.x[k] = low[k] + (ball.x[k] - low[k]) % period

    def run(self, steps, dt, low):
        now = self.accelerations(dt)
        self.springs = {}
        for _ in range(steps):
            if self.integrator == "leapfrog":
                self.kick(now, dt / 2)
                self.drift(dt, low)
                now = self.accelerations(dt)
                self.kick(now, dt / 2)
            else:
                self.kick(now, dt)
                self.drift(dt, low)
                now = None
            if now is None:
                now = self.accelerations(dt)


# ---- random scenes ---------------------------------------------------------------------------------------------------


def random_materials(r):
    """Two of one kind, so that they go together."""
    law = r.choice(["hooke", "hooke", "hertz"])
    damping = r.choice([None, "restitution", "eta_n", "gamma_n"])
    tangential, across_damping = r.choice(["none", "dashpot", "spring", "full"]), r.choice([None, "eta_t", "gamma_t"])
    ends, resists, own_k_t = r.choice(["overlap", "force"]), r.random() < 0.5, r.random() < 0.5
    if law == "hertz" and damping == "restitution":
        ends = "overlap"  # no formula is known for the other
    materials = {}
    for name in ("m", "n"):
        m = {"law": law, "ends": ends, "tangential": tangential, "friction": r.uniform(0.1, 0.9)}
        if law == "hooke":
            m["k_n"] = r.uniform(5e3, 2e4)
        else:
            m.update(young=r.uniform(1e5, 3e5), poisson=r.uniform(0, 0.45))
        if damping:
            m[damping] = {"restitution": r.uniform(0.4, 1), "eta_n": r.uniform(5, 30), "gamma_n": r.uniform(10, 60)}[damping]
        if across_damping and r.random() < 0.7 and tangential in ("dashpot", "spring"):
            m[across_damping] = r.uniform(5, 30)
        if tangential == "spring" and law == "hooke" and own_k_t:
            m["k_t"] = r.uniform(2e3, 8e3)
        if resists:
            m.update(rolling=r.uniform(0, 0.2), spinning=r.uniform(0, 0.2))
        materials[name] = m
    if r.random() < 0.5:
        materials["belt"] = {**materials["n"], "surface_speed": [r.uniform(-1, 1), r.uniform(-1, 1), 0]}
    return materials


def place_balls(r, count, materials):
    """Apart, and most of them on their way to the middle."""
    balls = []
    while len(balls) < count:
        kind = r.choice(["dynamic", "dynamic", "particle", "particle", "static", "kinematic"])
        radius = 0.5 if kind == "particle" else r.uniform(0.2, 0.7)
        place = [r.uniform(-1.4, 1.4) for _ in range(3)]
        if any(math.dist(place, b.x) < radius + b.radius + 0.01 for b in balls):
            continue
        velocity = [-2 * x + r.uniform(-1, 1) for x in place]
        spin = [r.uniform(-5, 5) for _ in range(3)]
        if kind == "static":
            velocity = spin = [0.0] * 3
        mass = 1.5 if kind == "particle" else r.uniform(0.5, 3)
        drag = (0.25, 0.125) if kind == "particle" else (0, 0)
        material = "m" if kind == "particle" else r.choice(["m", "n"])
        balls.append(Ball(f"b{len(balls)}", kind, place, velocity, spin, radius, mass, material, drag))
    balls.sort(key=lambda b: ("dynamic", "particle").index(b.kind) if b.moves else 2)
    number = 0
    for ball in balls:
        if ball.kind == "particle":
            ball.name, number = f"p/{number}", number + 1
    return balls


def random_world(r):
    materials = random_materials(r)
    balls = place_balls(r, r.randint(2, 7), materials)
    walls = []
    if r.random() < 0.6:
        walls.append(([0, 0, -2.2], [0, 0, 3], "belt" if "belt" in materials else "n"))
    if r.random() < 0.4:
        tilt = [r.uniform(-0.3, 0.3), 1, r.uniform(-0.3, 0.3)]
        walls.append(([0, -2.5, 0], tilt, "m"))
    period = [8.0 if r.random() < 0.15 else 0.0 for _ in range(3)] if not walls else [0.0] * 3
    gravity = [r.uniform(-3, 3), r.uniform(-3, 3), r.uniform(-10, 3)]
    return World(balls, walls, materials, gravity, period, r.choice(["leapfrog", "leapfrog", "euler"]))


def write_scene(world, folder):
    objects, rows = [], []
    for b in world.balls:
        if b.kind == "particle":
            rows.append([*b.x, *b.v, *b.w])
            continue
        body = {"type": b.kind, "velocity": b.v, "spin": b.w, "material": b.material}
        if b.moves:
            body["mass"] = b.mass
        x, y, z = b.x
        objects.append({"name": b.name, "shape": {"sphere": b.radius}, "pose": [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z],
                        "body": body})
    scene = {"graze": 1, "objects": objects,
             "simulation": {"model": "dem", "gravity": world.gravity, "integrator": world.integrator,
                            "materials": world.materials,
                            "walls": [{"point": p, "normal": n, "material": m} for p, n, m in world.walls]}}
    if any(world.period):
        scene["simulation"].update(bounds=[-4, -4, -4, 4, 4, 4], periodic=[int(p > 0) for p in world.period])
    if rows:
        text = "x,y,z,vx,vy,vz,wx,wy,wz\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)
        (folder / "p.csv").write_text(text)
        scene["particles"] = [{"name": "p", "file": "p.csv", "radius": 0.5, "mass": 1.5, "material": "m",
                               "drag": [0.25, 0.125]}]
    (folder / "scene.json").write_text(json.dumps(scene))


def compare(world, folder):
    """The largest difference of any number, and where."""
    with open(folder / "final.csv", newline="") as stream:
        rows = {r["name"]: r for r in csv.DictReader(stream)}
    worst = (0.0, "")
    for b in world.balls:
        for prefix, three in (("", b.x), ("v", b.v), ("w", b.w)):
            for axis, wanted in zip("xyz", three):
                off = abs(float(rows[b.name][prefix + axis]) - wanted) / (1 + abs(wanted))
                worst = max(worst, (off, f"{b.name} {prefix}{axis}"))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin.resolve() / "graze"
    scenes = 5000 if os.environ.get("GRAZE_TEST_LONG") == "1" else 200
    bad = contacts = 0
    worst = (0.0, "")
    for seed in range(scenes):
        world, steps, dt = random_world(random.Random(seed)), 400, 2e-3
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write_scene(world, folder)
            done = subprocess.run([tool, "simulate", folder / "scene.json", "--steps", str(steps), "--dt", repr(dt),
                                   "--final", folder / "final.csv", "--quiet", "--threads", str(1 + seed % 3)],
                                  capture_output=True, text=True, check=False,
                                  env={**os.environ, "GRAZE_DISABLE": DISABLED[seed % len(DISABLED)]})
            if done.returncode > 1:
                sys.exit(f"simulate_oracle.py: seed {seed}: exit {done.returncode}: {done.stderr}")
            world.run(steps, dt, [-4.0] * 3)
            off = compare(world, folder)
        contacts += world.contacts
        worst = max(worst, off)
        if off[0] > 1e-7:
            bad += 1
            print(f"seed {seed}: {off[1]} is off by {off[0]:.3g}")
    print(f"{scenes} scenes, {contacts} sides of contacts, {bad} differ, {worst[0]:.3g} at most")
    return 1 if bad or contacts < 50 * scenes else 0


if __name__ == "__main__":
    sys.exit(main())
