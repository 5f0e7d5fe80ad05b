#!/usr/bin/env python3
"""Blasts of `graze simulate` from outside: velocities and spins by the formulas of docs/particles.md, to the last bit;
when particles land, against the parabola; and what many seeds hit, against the events of single runs.

    simulate_blast.py --bin FOLDER
"""
import argparse
import csv
import json
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MASK = (1 << 64) - 1
GRAVITY = 9.81


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Stream:
    def __init__(self, seed, number):
        self.key, self.drawn = (splitmix64(seed) + number) & MASK, 0
        self.key = splitmix64(self.key)

    def unit(self):
        self.drawn += 1
        return (splitmix64((self.key + self.drawn - 1) & MASK) >> 11) * 2.0 ** -53

    def in_ball(self):
        while True:
            p = [2 * self.unit() - 1 for _ in range(3)]
            if 0 < p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < 1:
                return p


def blasted(blast, seed, number, place):
    stream = Stream(seed, number)
    least, most = blast["speed"]
    speed = min(least + (most - least) * stream.unit(), most)
    spin = [blast["spin"] * x for x in stream.in_ball()]
    away = [x - c for x, c in zip(place, blast["center"])]
    if away == [0, 0, 0]:
        away = stream.in_ball()
    largest = max(abs(x) for x in away)
    away = [x / largest for x in away]
    length = math.sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2])
    return [speed * (x / length) for x in away], spin


class Bench:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.checked, self.bad = tool, folder, 0, 0

    def same(self, what, got, wanted):
        self.checked += 1
        if got != wanted:
            self.bad += 1
            print(f"{what}: {got!r} instead of {wanted!r}")

    def call(self, *arguments, code=0):
        done = subprocess.run([self.tool, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode != code:
            sys.exit(f"simulate_blast.py: exit {done.returncode}, not {code}: {done.stderr}")
        return done.stdout

    def table(self, name):
        with open(self.folder / name, newline="") as stream:
            return list(csv.DictReader(stream))

    def simulate(self, steps, dt, *options, code=0):
        return json.loads(self.call("simulate", self.folder / "scene.json", "--steps", steps, "--dt", repr(dt), "-q",
                                    "--format", "json", *options, code=code))


def rows(row, columns):
    return [float(row[c]) for c in columns]


def write_scene(bench, places, blast, radius, walls, objects=(), calm=2):
    """A set that a blast leaves alone, far off, and one that it throws."""
    (bench.folder / "calm.csv").write_text("x,y,z,vx\n" + "".join(f"{1000 + 10 * i},0,50,1\n" for i in range(calm)))
    (bench.folder / "thrown.csv").write_text("x,y,z\n" + "".join(f"{x!r},{y!r},{z!r}\n" for x, y, z in places))
    sets = [{"name": "calm", "file": "calm.csv", "radius": radius, "mass": 1},
            {"name": "thrown", "file": "thrown.csv", "radius": radius, "mass": 0.5, "blast": blast}]
    text = {"graze": 1, "objects": list(objects), "particles": sets,
            "simulation": {"model": "dem", "gravity": [0, 0, -GRAVITY], "walls": walls,
                           "materials": {"m": {"k_n": 5000, "restitution": 0.4}}}}
    (bench.folder / "scene.json").write_text(json.dumps(text))


def lattice(count, spacing, middle):
    side = math.ceil(count ** (1 / 3))
    cells = [(i % side, i // side % side, i // side // side) for i in range(count)]
    return [[m + spacing * (c - (side - 1) / 2) for c, m in zip(cell, middle)] for cell in cells]


def velocities(bench):
    """One of them in the middle of the blast; the others all around."""
    count = 3375
    blast = {"center": [0.5, -1, 2], "speed": [3, 12], "spin": 40}
    places = lattice(count, 0.25, blast["center"])
    write_scene(bench, places, blast, 0.05, [], calm=3)
    for seed in (1, 2, 1 << 40):
        bench.simulate(0, 1e-4, "--seed", seed, "--final", bench.folder / "final.csv")
        final = bench.table("final.csv")
        thrown = [r for r in final if r["name"].startswith("thrown/")]
        for i, (row, place) in enumerate(zip(thrown, places)):
            v, w = rows(row, ("vx", "vy", "vz")), rows(row, ("wx", "wy", "wz"))
            bench.same(f"seed {seed}: {row['name']}", [v, w], list(blasted(blast, seed, 3 + i, place)))
            bench.same(f"seed {seed}: {row['name']} within bounds",
                       3 * (1 - 1e-12) <= math.hypot(*v) <= 12 * (1 + 1e-12) and math.hypot(*w) <= 40, True)
        bench.same("the others", [rows(r, ("vx", "vy", "vz", "wx")) for r in final[:3]], [[1, 0, 0, 0]] * 3)
        # Speeds are evenly spread: Kolmogorov and Smirnov's distance.
        speeds = sorted((math.hypot(*rows(r, ("vx", "vy", "vz"))) - 3) / 9 for r in thrown)
        bench.same("evenly spread", max(abs(s - i / count) for i, s in enumerate(speeds)) < 1.63 / math.sqrt(count), True)


def landing_time(height, radius, speed):
    return (speed + math.sqrt(speed * speed + 2 * GRAVITY * (height - radius))) / GRAVITY


def check_landings(bench, dt, radii, least, ground=0.0):
    """Particles whose first contact is the ground; the table tells the end of the step in which it began."""
    first = {}
    for row in bench.table("events.csv"):
        for name in (row["a"], row["b"]):
            first.setdefault(name, row)
    start = {r["name"]: r for r in bench.table("start.csv")}
    landed = 0
    for name, row in first.items():
        if row["b"] != "wall/0" or row["event"] != "began" or name == "wall/0":
            continue
        height, speed = float(start[name]["z"]) - ground, float(start[name]["vz"])
        if height <= radii[name]:
            continue
        overlap = -2 * (float(row["z"]) - ground)
        got = float(row["time"]) - overlap / float(row["speed"])
        wanted = landing_time(height, radii[name], speed)
        bench.checked += 1
        landed += 1
        if abs(got - wanted) > 0.01 * dt:
            bench.bad += 1
            print(f"{name} lands at {got!r}, not at {wanted!r}: {abs(got - wanted) / dt:.3g} steps")
    bench.same(f"{landed} land in free flight, of {len(radii)}", landed >= least, True)


def landings(bench):
    count, dt, radius = 1000, 2e-4, 0.01
    blast = {"center": [0, 0, 3], "speed": [2, 9], "spin": 10}
    write_scene(bench, lattice(count, 0.2, blast["center"]), blast, radius,
                [{"point": [0, 0, 0], "normal": [0, 0, 1]}])
    bench.simulate(0, dt, "--final", bench.folder / "start.csv", "--seed", 7)
    result = bench.simulate(12000, dt, "--events", bench.folder / "events.csv", "--seed", 7)
    radii = {f"thrown/{i}": radius for i in range(count)}
    check_landings(bench, dt, radii, 900)
    hit = {h["object"]: h for h in result["first_hits"]}["wall/0"]
    start = {r["name"]: r for r in bench.table("start.csv")}[hit["by"]]
    wanted = landing_time(float(start["z"]), radius, float(start["vz"]))
    bench.same("the first hit", abs(hit["time"] - wanted) < 0.01 * dt and hit["step"] == math.ceil(wanted / dt), True)
    bench.same("its energy", abs(hit["energy"] - 0.25 * hit["speed"] ** 2) < 1e-12 * hit["energy"], True)
    fall = float(start["vz"]) - GRAVITY * wanted
    speed = math.hypot(float(start["vx"]), float(start["vy"]), fall)
    bench.same("its speed", abs(hit["speed"] - speed) < GRAVITY * dt, True)


def wilson(k, n):
    z = 1.959963984540054
    middle, root = k / n + z * z / (2 * n), z * math.sqrt(k / n * (1 - k / n) / n + z * z / (4 * n * n))
    return (middle - root) / (1 + z * z / n), (middle + root) / (1 + z * z / n)


def probabilities(bench):
    """Every seed again by itself: who was hit its events say."""
    steps, dt, seed, seeds = 4000, 2e-4, 5, 12
    blast = {"center": [0, 0, 1], "speed": [1, 15], "spin": 5}
    def ball(name, place, radius, **body):
        x, y, z = place
        body = {"body": body} if body else {}
        return {"name": name, "shape": {"sphere": radius}, "pose": [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z], **body}
    objects = [ball("near", [2, 0, 1], 0.4), ball("free", [0, -1.6, 0.5], 0.3, mass=2), ball("small", [0, 2, 0], 0.2),
               ball("moving", [-1.5, -0.3, 1], 0.4, type="kinematic", velocity=[0, 1, 0]), ball("far", [0, 0, 90], 1)]
    write_scene(bench, lattice(150, 0.15, blast["center"]), blast, 0.02,
                [{"point": [0, 0, -1], "normal": [0, 0, 1]}, {"point": [-90, 0, 0], "normal": [1, 0, 0]}], objects)
    names = [o["name"] for o in objects] + ["wall/0", "wall/1"]
    runs, first = dict.fromkeys(names, 0), {}
    for s in range(seed, seed + seeds):
        result = bench.simulate(steps, dt, "--seed", s, "--events", bench.folder / "events.csv")
        hit = {}
        for row in bench.table("events.csv"):
            thrown = [row[k].startswith("thrown/") for k in "ab"]
            if row["event"] == "began" and float(row["speed"]) > 0 and thrown.count(True) == 1:
                hit.setdefault(row["a"] if thrown[1] else row["b"], row)
        hit = {name: row for name, row in hit.items() if not name.startswith("calm/")}
        for name in hit:
            runs[name] += 1
        told = {h["object"]: h for h in result["first_hits"]}
        bench.same(f"seed {s}: who was hit", sorted(told), sorted(hit))
        bench.same(f"seed {s}: when", {n: h["step"] for n, h in told.items()}, {n: int(r["step"]) for n, r in hit.items()})
        bench.same(f"seed {s}: in order", [h["time"] for h in result["first_hits"]], sorted(h["time"] for h in told.values()))
        for name, h in told.items():
            first[name] = max(first.get(name, 0), h["energy"])
    results = [bench.simulate(steps, dt, "--seed", seed, "--seeds", seeds, "--hits", bench.folder / "hits.csv", *more)
               for more in ((), ("--threads", 1), ("--threads", 4))]
    hits = results[0]["hits"]
    bench.same("threads", [r["hits"] for r in results[1:]], [hits, hits])
    bench.same("who", [h["object"] for h in hits], names)
    bench.same("runs", {h["object"]: h["runs"] for h in hits}, runs)
    bench.same("never", [runs["far"], runs["wall/1"]], [0, 0])
    bench.same("sometimes", any(0 < k < seeds for k in runs.values()), True)
    for h, row in zip(hits, bench.table("hits.csv")):
        low, high = wilson(h["runs"], seeds)
        bench.same(h["object"], h["probability"], h["runs"] / seeds)
        bench.same(f"{h['object']}: bounds", abs(h["low"] - low) < 1e-12 and abs(h["high"] - high) < 1e-12, True)
        bench.same(f"{h['object']}: energy", h["energy"] >= first.get(h["object"], 0), True)
        bench.same(f"{h['object']}: row", {k: row[k] if k == "object" else float(row[k]) for k in row}, h)
    last = bench.simulate(steps, dt, "--seed", seed + seeds - 1)
    bench.same("the last run", results[0]["hash"], last["hash"])


def explosion(bench):
    """The fragments of the forklift: of a millimetre of steel, where its triangles are, at speeds within the bounds."""
    folder = bench.folder
    bench.call("make", "explosion", "--bodies", "-o", folder, "-q", "--format", "json")
    bench.call("make", "forklifts", "-o", folder / "model", "-q", "--format", "json")
    corners, triangles = [], []
    for line in (folder / "model" / "forklift.obj").read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            corners.append([float(w) for w in words[1:]])
        if words[:1] == ["f"]:
            triangles.append([corners[int(w) - 1] for w in words[1:]])
    data = (folder / "debris.gzp").read_bytes()
    bench.same("file", (data[:8], struct.unpack_from("<Q", data, 8)), (b"GRZPART\0", (len(triangles),)))
    radii = {}
    for i, (a, b, c) in enumerate(triangles):
        row = struct.unpack_from("<10d", data, 16 + 80 * i)
        bench.same(f"centre of {i}", list(row[:3]), [(x + y + z) / 3 for x, y, z in zip(a, b, c)])
        u, v = ([q - p for p, q in zip(a, corner)] for corner in (b, c))
        area = math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2
        volume = 4 / 3 * math.pi * row[3] ** 3
        bench.same(f"volume of {i}", abs(volume - 0.001 * area) < 1e-12 * volume, True)
        radii[f"debris/{i}"] = row[3]
    scene = json.loads((folder / "scene.json").read_text())
    blast, ground = scene["particles"][0]["blast"], scene["simulation"]["walls"][0]["point"][2]
    dt = 2e-5
    bench.simulate(0, dt, "--final", folder / "start.csv")
    for row in bench.table("start.csv"):
        away = [p - c for p, c in zip(rows(row, "xyz"), blast["center"])]
        v, w = rows(row, ("vx", "vy", "vz")), rows(row, ("wx", "wy", "wz"))
        speed, along = math.hypot(*v), sum(p * q for p, q in zip(v, away)) / math.hypot(*away)
        least, most = blast["speed"]
        bench.same(row["name"], least - 1e-12 <= speed <= most + 1e-12 and speed - along < 1e-12 * speed
                   and math.hypot(*w) <= blast["spin"], True)
    bench.simulate(6000, dt, "--events", folder / "events.csv")
    check_landings(bench, dt, radii, 200, ground)


def bodies(bench):
    """Rigid balls: velocities to the last bit, when the first ones hit the ground, and single seeds against all."""
    count, radius, steps, seeds = 120, 0.05, 120, 6
    blast = {"center": [0, 0, 3], "speed": [2, 9], "spin": 10}
    places = lattice(count, 0.4, blast["center"])
    def at(place):
        return [1, 0, 0, place[0], 0, 1, 0, place[1], 0, 0, 1, place[2]]
    objects = [{"name": "post", "shape": {"box": [0.2, 3, 6]}, "pose": at([3, 0, 0])},
               {"name": "loose", "shape": {"box": [1, 1, 1]}, "pose": at([0, 0, 0.5]), "body": {"density": 9}},
               {"name": "far", "shape": {"sphere": 1}, "pose": at([0, 0, 99])}]
    objects += [{"name": f"b{i}", "shape": {"sphere": radius}, "pose": at(p), "body": {"mass": 0.5, "blast": blast}}
                for i, p in enumerate(places)]
    text = {"graze": 1, "objects": objects,
            "simulation": {"model": "rigid", "gravity": [0, 0, -GRAVITY], "materials": {"m": {"restitution": 0.4}},
                           "walls": [{"point": [0, 0, 0], "normal": [0, 0, 1]}]}}
    (bench.folder / "scene.json").write_text(json.dumps(text))
    still, runs, most = ["post", "loose", "far", "wall/0"], dict.fromkeys(["post", "loose", "far", "wall/0"], 0), {}
    for seed in range(3, 3 + seeds):
        bench.simulate(0, 1 / 60, "--final", bench.folder / "start.csv", "--seed", seed)
        start = bench.table("start.csv")[3:]
        for i, row in enumerate(start):
            v, w = rows(row, ("vx", "vy", "vz")), rows(row, ("wx", "wy", "wz"))
            bench.same(f"seed {seed}: {row['name']}", [v, w], list(blasted(blast, seed, 3 + i, places[i])))
        result = bench.simulate(steps, 1 / 60, "--events", bench.folder / "events.csv", "--seed", seed)
        hit = set()
        for row in bench.table("events.csv"):
            names = [row["a"], row["b"]]
            if row["event"] == "began" and sum(n in still for n in names) == 1:
                hit.add(next(n for n in names if n in still))
        told = {h["object"]: h for h in result["first_hits"]}
        bench.same(f"seed {seed}: who was hit", set(told), hit)
        ground = told["wall/0"]
        row = next(r for r in start if r["name"] == ground["by"])
        time = landing_time(float(row["z"]), radius, float(row["vz"]))
        v = [float(row["vx"]), float(row["vy"]), float(row["vz"]) - GRAVITY * time]
        place = [float(row["x"]) + time * v[0], float(row["y"]) + time * v[1], 0]
        bench.same(f"seed {seed}: lands at {ground['time']}, not {time}", abs(ground["time"] - time) < 1e-4, True)
        bench.same(f"seed {seed}: where", math.dist(place, ground["point"]) < 2e-3, True)
        bench.same(f"seed {seed}: speed", abs(ground["speed"] - math.hypot(*v)) < 2e-3, True)
        bench.same(f"seed {seed}: energy", abs(ground["energy"] - 0.25 * ground["speed"] ** 2) < 1e-12, True)
        for name, h in told.items():
            runs[name] += 1
            most[name] = max(most.get(name, 0), h["energy"])
    results = [bench.simulate(steps, 1 / 60, "--seed", 3, "--seeds", seeds, "--hits", bench.folder / "hits.csv", *more)
               for more in (("--threads", 1), ("--threads", 4))]
    hits = results[0]["hits"]
    bench.same("threads", results[1]["hits"], hits)
    bench.same("runs", {h["object"]: h["runs"] for h in hits}, runs)
    bench.same("never", runs["far"], 0)
    bench.same("energies", all(h["energy"] >= most.get(h["object"], 0) for h in hits), True)
    bench.same("rows", [r["object"] for r in bench.table("hits.csv")], still)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin.resolve() / "graze"
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(tool, Path(scratch))
        for test in (velocities, landings, probabilities, explosion, bodies):
            test(bench)
        print(f"{bench.checked} checks, {bench.bad} differences")
    return 1 if bench.bad or bench.checked < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
