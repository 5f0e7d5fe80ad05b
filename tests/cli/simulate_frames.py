#!/usr/bin/env python3
"""Decodes what `graze simulate` writes of every ball or body at every frame, as docs/files.md describes it, and the film's page,
and compares them with the tables of runs that end there. It shares no code.

    simulate_frames.py --bin FOLDER
"""
import argparse
import base64
import csv
import json
import math
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
import zlib
from pathlib import Path
from struct import calcsize, unpack_from

EVERY, STEPS, DT = 30, 100, 1e-4
TURN = ("qw", "qx", "qy", "qz")
COLUMNS = ("x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz")


class Bench:
    """Two sets, an object of each type, and walls; what was checked, and what was not as it should be."""

    def __init__(self, tool, folder):
        self.tool, self.folder, self.checked, self.bad = tool, folder, 0, 0
        self.paddle = {}  # its states by step: it is no ball
        (folder / "p.csv").write_text("x,y,z,r,vx,wz\n" + "".join(
            f"{i % 4},{i // 4 % 4},{1 + i // 16},{0.4 + 0.01 * i},{0.5 * i},{i}\n" for i in range(40)))
        (folder / "q.csv").write_text("x,y,z,vz\n9,0,5,-3\n9,1,5,-3\n9,2,5,-3\n")
        ball = '{"name":"%s","shape":{"sphere":%g},"pose":[1,0,0,%g,0,1,0,%g,0,0,1,%g],"body":{%s}}'
        (folder / "scene.json").write_text('{"graze":1,"objects":[' + ",".join([
            ball % ("one, two", 0.5, -3, 0, 2, '"mass":1,"velocity":[7,0,0]'),
            ball % ("st\u00f6pfel", 0.25, 0, -4, 1, '"type":"static"'),
            '{"name":"paddle","shape":{"box":[3,0.5,1]},"pose":[1,0,0,1,0,1,0,1,0,0,1,0.1],"body":{"type":"kinematic",'
            '"spin":[0,0,3],"velocity":[0,0,1]}}',
            ball % ("c", 0.75, 0, -8, 1, '"type":"kinematic","velocity":[0,4,0],"spin":[0,0,1]')]) + """],
            "particles":[{"name":"p","file":"p.csv","mass":1},{"name":"q/x","file":"q.csv","mass":2,"radius":0.125}],
            "simulation":{"model":"dem","materials":{"m":{"k_n":1e5,"restitution":0.5}},
             "walls":[{"point":[0,0,0],"normal":[0,0,1]},{"point":[-4,0,0],"normal":[1,0,1]}]}}""", encoding="utf-8")

    def run(self, steps, *options):
        subprocess.run([self.tool, "simulate", self.folder / "scene.json", "--steps", str(steps), "--dt", repr(DT), "-q",
                        *options], check=True, stdout=subprocess.DEVNULL)

    def states(self, steps):
        """The last state of a run, by name."""
        path = self.folder / "final.csv"
        self.run(steps, "--final", path)
        with open(path, newline="", encoding="utf-8") as file:
            states = {row["name"]: [float(row[k]) for k in (*COLUMNS, *TURN)] for row in csv.DictReader(file)}
        self.paddle[steps] = states.pop("paddle")
        return {name: state[:9] for name, state in states.items()}

    def same(self, what, got, wanted):
        self.checked += 1
        if got == wanted:
            return
        self.bad += 1
        print(f"{what}: {got!r} instead of {wanted!r}")


def read_track(path, alone=3):
    """Names (the first sets are objects), radii, and (step, time, states) of each frame of a .gzt file."""
    data, at = path.read_bytes(), 0

    def take(form):
        nonlocal at
        values = unpack_from("<" + form, data, at)
        at += calcsize("<" + form)
        return values

    (magic,), (balls, sets), names = take("8s"), take("2Q"), []
    assert magic == b"GRZTRACK"
    for number in range(sets):
        count, length = take("2Q")
        name = take(f"{-(-length // 8) * 8}s")[0][:length].decode()
        names += [name] if number < alone else [f"{name}/{i}" for i in range(count)]
    radii, read = take(f"{balls}d"), []
    while at < len(data):
        (step,), (time,), numbers = take("Q"), take("d"), take(f"{9 * balls}d")
        read.append((step, time, [list(numbers[9 * i:9 * i + 9]) for i in range(balls)]))
    assert at == len(data) and len(names) == balls
    return names, radii, read


def read_vtk(path):
    """The arrays of a .vtp file by name."""
    data = path.read_bytes()
    begin = data.index(b"<AppendedData")
    appended = data.index(b"_", begin) + 1
    end = data.rindex(b"\n</AppendedData>")
    root = tree.fromstring(data[:begin] + b"</VTKFile>")
    piece, arrays, used = root.find("PolyData/Piece"), {}, 0
    for group, array in ((group, array) for group in piece for array in group):
        at = appended + int(array.get("offset"))
        size, = unpack_from("<Q", data, at)
        form = {"Float64": "d", "Int32": "i", "Int64": "q"}[array.get("type")]
        values = unpack_from(f"<{size // calcsize(form)}{form}", data, at + 8)
        width = int(array.get("NumberOfComponents"))
        name = "polygon " * (group.tag == "Polys") + array.get("Name")
        arrays[name] = [values[i:i + width] for i in range(0, len(values), width)]
        used = max(used, at + 8 + size)
    assert used == end and int(piece.get("NumberOfPoints")) == len(arrays["position"])
    time = float(root.find("PolyData/FieldData/DataArray").text)
    return time, arrays


def quaternion(parameters):
    """w, x, y, z of v / (1 + w)."""
    p = list(parameters)
    square = sum(x * x for x in p)
    return [(1 - square) / (1 + square), *(2 * x / (1 + square) for x in p)]


def read_page(path):
    """The record of a film's page, its radii, and (places, speeds, touching) of each frame, as report/track_pack.c
    packs them."""
    page = path.read_text()

    def block(pattern):
        return [zlib.decompress(base64.b64decode(text)) for text in
                re.findall(f'<script type="text/plain" {pattern}>([^<]*)</script>', page)]

    record = json.loads(re.search('id="record">(.*?)</script>', page, re.S)[1])
    balls, frames = record["balls"], []
    turning = sum(s["count"] for s in record["sets"] if "mesh" in s)
    for data, count in zip(block('class="frames"'), record["groups"], strict=True):
        at, last, turned, levels, bits = 0, [], [], [0] * balls, 0

        def take(before, length):
            """Three numbers for each of some balls, axis by axis."""
            nonlocal at
            numbers = [[0] * length for _ in range(3)]
            for axis in range(3):
                planes, at = data[at], at + 1
                for i in range(length):
                    word = sum(data[at + plane * length + i] << 8 * plane for plane in range(planes))
                    guess = (2 * before[-1][axis][i] - before[-2][axis][i] if len(before) > 1 else
                             before[-1][axis][i] if before else numbers[axis][i - 1] if i else 0)
                    numbers[axis][i] = guess + (word >> 1 if word % 2 == 0 else -(word + 1 >> 1))
                at += planes * length
            before.append(numbers)
            return numbers

        for _ in range(count):
            places = take(last, balls)
            levels, at = [(a + b) % 256 for a, b in zip(levels, data[at:])], at + balls
            bits, at = bits ^ int.from_bytes(data[at:at + -(-balls // 8)], "little"), at + -(-balls // 8)
            if turning:
                record.setdefault("turns", []).append([quaternion(n / 512 for n in p) for p in zip(*take(turned, turning))])
            frames.append(([[o + record["resolution"] * p[i] for o, p in zip(record["origin"], places)]
                            for i in range(balls)],
                           [record["slowest"] * 2 ** ((level - 0.5) / 8) if level else 0 for level in levels],
                           [bits >> i & 1 for i in range(balls)]))
        assert at == len(data)
    radii, = block('id="radii"')
    moves = base64.b64decode(re.search('id="moves">([^<]*)<', page)[1])
    record["moves"] = [unpack_from("<2I12f", moves, at) for at in range(0, len(moves), 56)]
    return record, unpack_from(f"<{balls}f", radii), frames


def check_track(bench):
    bench.run(STEPS, "--every", str(EVERY), "--frames", bench.folder / "film.gzt")
    names, radii, frames = read_track(bench.folder / "film.gzt")
    bench.same("steps", [step for step, _, _ in frames], [0, 30, 60, 90, 100])
    bench.same("radii", list(radii[:4]) + [radii[-1]], [0.5, 0.25, 0.75, 0.4, 0.125])
    for step, time, states in frames:
        bench.same(f"the time of step {step}", math.isclose(time, step * DT, rel_tol=1e-12), True)
        bench.same(f"the balls at step {step}", dict(zip(names, states)), bench.states(step))
    return names, radii, frames


def check_vtk(bench, names, radii, frames):
    folder = bench.folder / "series"
    bench.run(STEPS, "--every", "10", "--frames", folder)  # longer, so that files of it must go
    bench.run(STEPS, "--every", str(EVERY), "--frames", folder)
    bench.same("files", sorted(f.name for f in folder.iterdir()),
               [f"frame_{i:06}.vtp" for i in range(len(frames))] + ["frames.pvd"])
    listed = [(float(d.get("timestep")), d.get("file")) for d in tree.parse(folder / "frames.pvd").iter("DataSet")]
    bench.same("the series", listed, [(time, f"frame_{i:06}.vtp") for i, (_, time, _) in enumerate(frames)])
    for i, (step, time, states) in enumerate(frames):
        at, arrays = read_vtk(folder / f"frame_{i:06}.vtp")
        bench.same(f"the time of step {step}", at, time)
        bench.same(f"radii of step {step}", [r for r, in arrays["radius"]], list(radii))
        joined = zip(arrays["position"], arrays["velocity"], arrays["spin"])
        bench.same(f"the states of step {step}", [[*x, *v, *w] for x, v, w in joined], states)
        speeds = [math.sqrt(s[3] * s[3] + s[4] * s[4] + s[5] * s[5]) for s in states]
        bench.same(f"speeds of step {step}", [s for s, in arrays["speed"]], speeds)
        bench.same("sets", [s for s, in arrays["set"]], [0, 1, 2] + 40 * [3] + 3 * [4])
        bench.same("points", [c for c, in arrays["connectivity"]], list(range(len(names))))
        bench.same("cells", [c for c, in arrays["offsets"]], list(range(1, len(names) + 1)))


def check_page(bench, names, radii, frames):
    """The film has the frames of the file, rounded as it says, the table's energies, and what touches."""
    folder, energy, listed = bench.folder / "film", bench.folder / "energy.csv", bench.folder / "events.csv"
    bench.run(STEPS, "--every", str(EVERY), "--report", folder, "--energy", energy, "--events", listed, "--show",
              "colliding", "--title", "<b>&")
    record, shown, packed = read_page(folder / "index.html")
    bench.same("the title", (record["title"], record["show"], record["complete"]), ("<b>&", "colliding", True))
    bench.same("radii of the film", all(math.isclose(a, b, rel_tol=1e-7) for a, b in zip(shown, radii, strict=True)), True)
    own = [s["name"] if s["alone"] else f"{s['name']}/{i}" for s in record["sets"] for i in range(s["count"])]
    bench.same("names of the film", own, names)
    bench.same("the lattice", 0.125 / 256 < record["resolution"] <= 0.125 / 128, True)
    bench.same("frames of the film", len(packed), len(frames))
    for (step, time, states), head, (places, speeds, _) in zip(frames, record["frames"], packed):
        bench.same("a frame's step and time", (head[0], math.isclose(head[1], time, rel_tol=1e-6)), (step, True))
        off = max(abs(a - b) for p, s in zip(places, states, strict=True) for a, b in zip(p, s))
        bench.same(f"places of step {step}", off <= record["resolution"] * 0.5000001, True)
        for got, state in zip(speeds, states):
            speed = math.dist(state[3:6], (0, 0, 0))
            bench.same("a speed", abs(got - speed) <= 0.05 * speed if speed >= record["slowest"] else got == 0, True)
    bench.same("curves", [c["name"] for c in record["curves"]],
               ["kinetic", "rotational", "potential", "elastic", "dissipated", "contacts"])
    with open(energy, newline="", encoding="utf-8") as file:
        for row, head in zip(csv.DictReader(file), record["frames"], strict=True):
            bench.same("energies", all(math.isclose(float(row[c["name"]]), value, rel_tol=1e-6, abs_tol=1e-300)
                                       for c, value in zip(record["curves"], head[2:], strict=True)), True)
    with open(listed, newline="", encoding="utf-8") as file:
        wanted = [[int(r["step"]), r["event"], r["a"], r["b"]] for r in csv.DictReader(file)]
    called = [*names, "wall/0", "wall/1", "paddle"]
    bench.same("events", [[e[0], e[2], called[e[3]], called[e[4]]] for e in record["events"]], wanted)
    bench.same("there are events", record["all_events"] == len(wanted) > 0, True)
    bench.same("the paddle hits", "paddle" in {called[e[4]] for e in record["events"]}, True)
    check_touching(bench, record, radii, frames, packed)
    bench.same("objects", [o["name"] for o in record["objects"]], ["paddle"])
    for number, ((step, _, _), move) in enumerate(zip(frames, record["moves"], strict=True)):
        middle = [a + b for a, b in zip(move[11:], record["origin"])]
        bench.same("a pose of the paddle", (move[:2], all(map(near, [*move[2:11], *middle],
                   [*turn(bench.paddle[step][9:]), *bench.paddle[step][:3]]))), ((number, 0), True))


def near(a, b):
    return abs(a - b) < 1e-5


def turn(q):
    """The rows of the rotation by a quaternion w, x, y, z."""
    w, x, y, z = q
    return [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]


def from_paddle(state, point):
    """How far a point is from the surface of the paddle, when it is outside."""
    rows, away = turn(state[9:]), [a - b for a, b in zip(point, state)]
    inside = [sum(rows[3 * r + c] * away[r] for r in range(3)) for c in range(3)]
    return math.dist(inside, [min(max(p, -h), h) for p, h in zip(inside, (1.5, 0.25, 0.5))])


def check_touching(bench, record, radii, frames, packed):
    """Balls and walls, by the exact places."""
    planes = [(w["point"], [c / math.hypot(*w["normal"]) for c in w["normal"]]) for w in record["walls"]]
    for (step, _, states), (_, _, touching) in zip(frames, packed):
        wanted = [int(any(math.dist(a[:3], b[:3]) <= ra + rb for j, (b, rb) in enumerate(zip(states, radii)) if i != j
                          and not {i, j} <= {1, 2}) or
                      i not in (1, 2) and (from_paddle(bench.paddle[step], a[:3]) <= ra or
                                           any(sum((x - p) * n for x, p, n in zip(a, *w)) <= ra for w in planes)))
                  for i, (a, ra) in enumerate(zip(states, radii))]
        bench.same(f"what touches at step {step}", touching, wanted)
        bench.same("something touches, not all", 0 < sum(touching) < len(touching), True)


def check_restored(bench, frames):
    """A run that goes on begins with the state that it was given, and its frames are those of one long run."""
    bench.run(45, "--save", bench.folder / "state")
    bench.run(STEPS - 45, "--restore", bench.folder / "state", "--every", str(EVERY), "--frames", bench.folder / "on.gzt")
    _, _, later = read_track(bench.folder / "on.gzt")
    bench.same("steps of a restored run", [step for step, _, _ in later], [45, 60, 90, 100])
    bench.same("frames of a restored run", later[1:], frames[2:])


def check_replay(bench, frames):
    """A run that is recorded and run again has the same frames, and the same film."""
    record, pages = bench.folder / "record", []
    bench.run(STEPS, "--record", record, "--every", str(EVERY), "--report", bench.folder / "film", "--title", "t")
    subprocess.run([bench.tool, "simulate", "--replay", record, "--every", str(EVERY), "-q", "--title", "t", "--report",
                    bench.folder / "again", "--frames", bench.folder / "again.gzt"], check=True, stdout=subprocess.DEVNULL)
    bench.same("frames of a replay", read_track(bench.folder / "again.gzt")[2], frames)
    for folder in ("film", "again"):
        page, radii, packed = read_page(bench.folder / folder / "index.html")
        pages.append([{k: v for k, v in page.items() if k not in ("created", "seconds")}, radii, packed])
    bench.same("the film of a replay", pages[1], pages[0])


def multiply(a, b):
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return [aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by + ay * bw + az * bx - ax * bz, aw * bz + az * bw + ax * by - ay * bx]


def turned_by(vector, q):
    angle = math.hypot(*vector)
    return multiply([math.cos(angle / 2), *(x * math.sin(angle / 2) / angle for x in vector)], q) if angle else q


def degrees_between(a, b):
    return 2 * math.degrees(math.acos(min(1, abs(sum(x * y for x, y in zip(a, b))))))


def check_draw(bench):
    """Meshes in place of balls: a body turns as the simulation says, particles by the mean of the spins at two frames,
    which is exact for those that nothing touches."""
    folder, angles = bench.folder, []
    (folder / "brick.obj").write_text("v 5 0 0\nv 9 0 0\nv 5 2 0\nv 5 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    (folder / "t.csv").write_text("x,y,z,vz,wx,wy,wz\n0,0,9,0,3,-4,12\n2,0,0.3,-3,0,50,0\n4,0,9,0,0,0,0\n6,0,9,0,0,300,0\n")
    (folder / "draw.json").write_text("""{"graze":1,
        "objects":[{"name":"b","shape":{"sphere":0.5},"draw":"brick.obj","pose":[0,-1,0,0,1,0,0,9,0,0,1,9],
                    "body":{"mass":1,"spin":[20,1,0]}},
                   {"name":"round","shape":{"sphere":0.5},"pose":[1,0,0,0,0,1,0,-9,0,0,1,9],"body":{"mass":1,"spin":[9,9,9]}}],
        "particles":[{"name":"p","file":"t.csv","mass":1,"radius":0.25,"draw":"brick.obj"}],
        "simulation":{"model":"dem","gravity":[0,0,0],"walls":[{"point":[0,0,0],"normal":[0,0,1]}],"materials":
         {"m":{"k_n":1e5,"restitution":0.5,"tangential":"dashpot","friction":0.5}}}}""")
    command = [bench.tool, "simulate", folder / "draw.json", "--dt", "1e-3", "-q"]
    subprocess.run([*command, "--steps", "90", "--every", "6", "--report", folder / "drawn", "--frames", folder / "d.gzt"],
                   check=True, stdout=subprocess.DEVNULL)
    names, _, frames = read_track(folder / "d.gzt", 2)
    record, _, _ = read_page(folder / "drawn/index.html")
    bench.same("names of what is drawn", names, ["b", "round", "p/0", "p/1", "p/2", "p/3"])
    bench.same("sets", [(s["name"], s.get("middle")) for s in record["sets"]],
               [("b", [7, 1, 0.5]), ("round", None), ("p", [7, 1, 0.5])])
    bench.same("the reach of the mesh", math.isclose(record["sets"][0]["reach"], math.sqrt(4 + 1 + 0.25)), True)
    turns = [[1, 0, 0, 0] for _ in range(4)]
    for number, ((step, time, states), got) in enumerate(zip(frames, record["turns"], strict=True)):
        subprocess.run([*command, "--steps", str(step), "--final", folder / "f.csv"], check=True, stdout=subprocess.DEVNULL)
        with open(folder / "f.csv", newline="", encoding="utf-8") as file:
            row = next(csv.DictReader(file))
            body = [float(row[k]) for k in TURN]
        if number > 0:
            _, before, earlier = frames[number - 1]
            for i, (a, b) in enumerate(zip(earlier[2:], states[2:])):
                turns[i] = turned_by([(x + y) / 2 * (time - before) for x, y in zip(a[6:], b[6:])], turns[i])
        free = [turned_by([w * time for w in spin], [1, 0, 0, 0]) for spin in ((3, -4, 12), (0, 0, 0), (0, 300, 0))]
        for wanted, shown in [(body, got[0]), *zip(turns, got[1:]), *zip(free, [got[1], got[3], got[4]])]:
            angles.append(degrees_between(wanted, shown))
    bench.same("the spin of p/1 changes", frames[0][2][3][6:] != frames[-1][2][3][6:], True)
    bench.same("angles, rounded to less than 0.4 degrees", 0.05 < max(angles) < 0.4, True)


SHAPES = {"box": ({"box": [1, 2, 0.5]}, 1), "ball": ({"sphere": 0.5}, math.pi / 6),
          "capsule": ({"capsule": [0.25, 1]}, math.pi * (0.0625 + 0.015625 * 4 / 3)),
          "cylinder": ({"cylinder": [0.5, 0.75]}, math.pi * 0.25 * 0.75), "hull": ({"hull": "wedge.obj"}, 1),
          "mesh": ({"mesh": "nut.obj"}, 1)}
POSES = ("x", "y", "z", *TURN, "vx", "vy", "vz", "wx", "wy", "wz")


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def plus(a, b, factor=1):
    return [x + factor * y for x, y in zip(a, b)]


def make_bodies(folder):
    """A shape of each kind that falls, turned and turning; the hull is half of a box of 1 x 1 x 2, and so is the mesh."""
    (folder / "wedge.obj").write_text("v 3 0 0\nv 4 0 0\nv 3 1 0\nv 3 0 2\nv 4 0 2\nv 3 1 2\nv 3.25 0.25 1\nf 1 2 3\n")
    (folder / "nut.obj").write_text("v 3 0 0\nv 4 0 0\nv 3 1 0\nv 3 0 2\nv 4 0 2\nv 3 1 2\nf 1 3 2\nf 4 5 6\n"
                                    "f 1 2 5\nf 1 5 4\nf 2 3 6\nf 2 6 5\nf 3 1 4\nf 3 4 6\n")
    objects = [{"name": f"{name}, a", **(shape if "mesh" in shape else {"shape": shape}), "pose": [0.8, -0.6, 0, 3 * i, 0.6, 0.8, 0, 0, 0, 0, 1, 1.5],
                "body": {"density": 2, "spin": [1 + i, 2, 0.5], "velocity": [i, 0.25, -2]}}
               for i, (name, (shape, _)) in enumerate(SHAPES.items())]
    (folder / "bodies.json").write_text(json.dumps({"graze": 1, "objects": objects, "simulation": {
        "model": "rigid", "materials": {"m": {"friction": 0.5}}, "walls": [{"point": [0, 0, 0], "normal": [0, 0, 1]}]}}))
    return [body["name"] for body in objects]


def rigid_states(bench, steps):
    path = bench.folder / "bodies.csv"
    subprocess.run([bench.tool, "simulate", bench.folder / "bodies.json", "--steps", str(steps), "--dt", "auto", "-q",
                    "--final", path], check=True, stdout=subprocess.DEVNULL)
    with open(path, newline="", encoding="utf-8") as file:
        return {row["name"]: [float(row[k]) for k in POSES] for row in csv.DictReader(file)}


def read_poses(path):
    """Names, and (step, time, states) of each frame of a .gzt file of bodies."""
    data, at, names, read = path.read_bytes(), 24, [], []
    magic, bodies, sets = unpack_from("<8s2Q", data)
    assert magic == b"GRZPOSES" and bodies == sets
    for _ in range(sets):
        count, length = unpack_from("<2Q", data, at)
        assert count == 1
        names.append(data[at + 16:at + 16 + length].decode())
        at += 16 + -(-length // 8) * 8
    while at < len(data):
        step, time, *numbers = unpack_from(f"<Qd{13 * bodies}d", data, at)
        at += 16 + 104 * bodies
        read.append((step, time, {name: numbers[13 * i:13 * i + 13] for i, name in enumerate(names)}))
    assert at == len(data)
    return names, read


def check_surface(bench, what, state, polygons, points, volume):
    """Polygons close a volume, turn outward around the centre of mass, and move with the body."""
    edges, total, inside = {}, 0, True
    for polygon in polygons:
        corners = [plus(points[c]["position"], state, -1) for c in polygon]
        for a, b, c in ((corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)):
            share = sum(x * y for x, y in zip(a, cross(b, c))) / 6
            total += share
            inside = inside and share > 0
        for edge in zip(polygon, polygon[1:] + polygon[:1]):
            edges[edge] = edges.get(edge, 0) + 1
    closed = all(n == 1 and (b, a) in edges for (a, b), n in edges.items())
    bench.same(f"{what}: closed, outward", (closed, inside), (True, True))
    bench.same(f"{what}: its volume, {total} of {volume}", 0.9 * volume < total < volume * (1 + 1e-12), True)
    for point in points.values():
        wanted = plus(state[7:10], cross(state[10:], plus(point["position"], state, -1)))
        moves = math.dist(point["velocity"], wanted) < 1e-12 and point["spin"] == tuple(state[10:])
        turned = point["orientation"] == tuple(state[3:7]) and math.isclose(point["speed"][0], math.hypot(*wanted))
        if not (moves and turned):
            bench.same(f"{what}: a point", point, wanted)
    rows = turn(state[3:7])
    return [[sum(rows[3 * r + c] * away[r] for r in range(3)) for c in range(3)]
            for away in (plus(p["position"], state, -1) for p in points.values())]


def check_bodies(bench):
    """The frames of rigid bodies are the states of runs that end there, and what is drawn is the bodies."""
    names, run = make_bodies(bench.folder), [bench.tool, "simulate", bench.folder / "bodies.json", "--steps", "50", "-q"]
    run += ["--dt", "auto", "--every", "20", "--frames"]
    subprocess.run([*run, bench.folder / "bodies.gzt"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*run, bench.folder / "bodies"], check=True, stdout=subprocess.DEVNULL)
    listed, frames = read_poses(bench.folder / "bodies.gzt")
    bench.same("bodies", listed, names)
    bench.same("steps of bodies", [step for step, _, _ in frames], [0, 20, 40, 50])
    first = {}
    for number, (step, time, states) in enumerate(frames):
        bench.same(f"the bodies at step {step}", states, rigid_states(bench, step))
        at, arrays = read_vtk(bench.folder / f"bodies/frame_{number:06}.vtp")
        bench.same(f"the time of step {step}", at, time)
        count, ends = len(names), [0] + [e for e, in arrays["polygon offsets"]]
        points = [dict(zip(arrays, values)) for values in zip(*(arrays[k] for k in list(arrays)[:6]))]
        corners = [c for c, in arrays["polygon connectivity"]]
        polygons = [corners[a:b] for a, b in zip(ends, ends[1:])]
        bench.same("centres", [(list(p["position"]), p["body"]) for p in points[:count]],
                   [(states[name][:3], (i,)) for i, name in enumerate(names)])
        bench.same("centres are points", [c for c, in arrays["connectivity"]], list(range(count)))
        for i, (name, (_, (_, volume))) in enumerate(zip(names, SHAPES.items())):
            own = {c: p for c, p in enumerate(points) if c >= count and p["body"] == (i,)}
            shape = check_surface(bench, f"{name} at step {step}", states[name], [p for p in polygons if p[0] in own], own,
                                  volume)
            still = all(math.dist(a, b) < 1e-12 for a, b in zip(shape, first.setdefault(name, shape), strict=True))
            bench.same(f"the shape of {name} at step {step}", still, True)
    box = sorted(tuple(round(x, 9) for x in p) for p in first[names[0]])
    bench.same("the box", box, sorted((x, y, z) for x in (-0.5, 0.5) for y in (-1, 1) for z in (-0.25, 0.25)))
    bench.same("the ball", all(math.isclose(math.hypot(*p), 0.5) for p in first[names[1]]), True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--without", action="append", default=[], help="zlib: the build has no films")
    options = parser.parse_args()
    tool, films = options.bin / "graze", "zlib" not in options.without
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(tool, Path(folder))
        names, radii, frames = check_track(bench)
        check_vtk(bench, names, radii, frames)
        check_restored(bench, frames)
        check_bodies(bench)
        if films:
            check_page(bench, names, radii, frames)
            check_replay(bench, frames)
            check_draw(bench)
    print(f"{bench.checked} comparisons, {bench.bad} failed")
    return bench.bad > 0


if __name__ == "__main__":
    sys.exit(main())
