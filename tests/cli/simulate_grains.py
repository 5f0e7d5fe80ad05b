#!/usr/bin/env python3
"""Grains on meshes, through `graze simulate`, against what is known of them: none comes through a wall or is lost, a
heap is the steeper the rougher its grains are, an hourglass runs at a constant rate, which grows with the width of the
neck as W. A. Beverloo found (1961), what a silo's floor carries grows less and less with the height of the grains (H. A.
Janssen, 1895), and the small ones come to be in the core of what turns in a drum. All lengths are in diameters of a grain, whose mass is 1.

    simulate_grains.py --bin FOLDER [--long]
"""
import argparse
import csv
import itertools
import json
import math
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import Bench

K_N = 1e5
GRAVITY = 9.81
DT = 2e-4


def profile_mesh(path, profile, sectors=48):
    """An OBJ file of (radius, height) turned about z."""
    vertices, faces = [], []
    for radius, z in profile:
        for s in range(sectors):
            angle = 2 * math.pi * s / sectors
            vertices.append((radius * math.cos(angle), radius * math.sin(angle), z))
    for ring in range(len(profile) - 1):
        for s in range(sectors):
            a, b = ring * sectors + s, ring * sectors + (s + 1) % sectors
            faces += [(a, b, b + sectors), (a, b + sectors, a + sectors)]
    with open(path, "w") as out:
        out.writelines(f"v {x!r} {y!r} {z!r}\n" for x, y, z in vertices)
        out.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)


def column(count, radius, low, seed):
    """Places in a cylinder, layer upon layer."""
    stream, spacing, places, z = random.Random(seed), 1.06, [], low
    side = int(radius / spacing) + 1
    while True:
        for i in range(-side, side + 1):
            for j in range(-side, side + 1):
                if math.hypot(i * spacing, j * spacing) > radius:
                    continue
                if len(places) == count:
                    return places
                places.append([p + stream.uniform(-0.025, 0.025) for p in (i * spacing, j * spacing, z)])
        z += spacing


class Grains(Bench):
    def run(self, mesh, places, steps, every=None, friction=0.5, rolling=0.0, plate=None):
        """The JSON and the frames, each of places. `plate`: the speed of a floor from z = 0 on."""
        material = {"k_n": K_N, "restitution": 0.3, "friction": friction, "tangential": "spring", "rolling": rolling}
        scene = {"graze": 1, "units": "m", "simulation": {"model": "dem", "materials": {"grain": material}},
                 "objects": [{"name": "mesh", "mesh": str(mesh)}],
                 "particles": [{"name": "grains", "file": "grains.csv", "radius": 0.5, "mass": 1}]}
        if plate is not None:
            scene["objects"].append({"name": "plate", "shape": {"box": [30, 30, 2]},
                                     "pose": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -1],
                                     "body": {"type": "kinematic", "velocity": [0, 0, plate]}})
        (self.folder / "scene.json").write_text(json.dumps(scene))
        with open(self.folder / "grains.csv", "w") as out:
            out.write("x,y,z\n")
            out.writelines(",".join(map(repr, p)) + "\n" for p in places)
        every = every or steps
        done = subprocess.run(
            [self.tool, "simulate", self.folder / "scene.json", "--steps", str(steps), "--dt", repr(DT), "--quiet",
             "--format", "json", "--every", str(every), "--frames", self.folder / "frames.gzt"],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"simulate_grains.py: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout), self.frames(len(places))

    def frames(self, count):
        """Of the grains, from the file's end: a frame is a step, a time, and nine numbers a ball."""
        data, size = (self.folder / "frames.gzt").read_bytes(), 16 + 72 * count
        frames = []
        while len(data) - size * (len(frames) + 1) > 8 * count:
            at = len(data) - size * (len(frames) + 1)
            balls = struct.unpack_from(f"<{9 * count}d", data, at + 16)
            frames.append([balls[9 * i:9 * i + 3] for i in range(count)])
        return frames[::-1]


def check_bowl(bench):
    """Grains fall into a funnel whose bottom is shut: all stay within."""
    mesh = bench.folder / "bowl.obj"
    profile_mesh(mesh, [(0.0, 0.0), (2.0, 0.0), (6.0, 6.0), (6.0, 40.0)])
    result, frames = bench.run(mesh, column(400, 5.0, 8.0, 1), 12000)
    inside = [math.hypot(x, y) < 6.01 and z > 0.45 and (z > 5.5 or math.hypot(x, y) < 2 + z * 2 / 3)
              for x, y, z in frames[-1]]
    bench.check(f"{inside.count(False)} grains are not in the bowl", all(inside))
    bench.check("the grains of the bowl do not come to rest", result["end"]["kinetic"] < 20)
    bench.check("the grains of the bowl are not in contact", result["contacts"] > 400)


def slope(places):
    """Of a cone with the same mean height and mean distance from its axis."""
    height = sum(z - 0.5 for _, _, z in places) / len(places)
    return 2 * height / (sum(math.hypot(x, y) for x, y, _ in places) / len(places))


def check_heaps(bench, count, steps):
    mesh = bench.folder / "floor.obj"
    profile_mesh(mesh, [(0.0, 0.0), (10.0, 0.0), (20.0, 0.0), (200.0, 0.0)])
    slopes, width = [], 0.55 * count ** (1 / 3)
    for friction, rolling in ((0.1, 0.0), (0.3, 0.1), (0.6, 0.3)):
        _, frames = bench.run(mesh, column(count, width, 0.55, 2), steps, friction=friction, rolling=rolling)
        slopes.append(slope(frames[-1]))
    print("slopes of heaps, the rougher the later:", *(f"{s:.3f}" for s in slopes))
    bench.check("a heap is not the steeper the rougher it is", slopes[0] < 0.8 * slopes[1] < 0.64 * slopes[2])


def rate_of(bench, width, steps):
    """Grains a second through a hole in the flat floor of a silo, which they fill three times as high as it is wide."""
    mesh, every = bench.folder / "silo.obj", 500
    radius = width / 2 + 5
    count = int(3.6 * width * radius**2 * 3)
    profile_mesh(mesh, [(width / 2, 0.0), (radius, 0.0), (radius, 400.0)])
    _, frames = bench.run(mesh, column(count, radius - 0.6, 0.55, 3), steps, every)
    out = [sum(z < 0 for _, _, z in places) for places in frames]
    first = next(i for i, n in enumerate(out) if n > 0.12 * count)  # by then all that is above the hole moves
    last = max(i for i, n in enumerate(out) if n < 0.35 * count)
    middle, seconds = (first + last) // 2, every * DT
    halves = [(out[b] - out[a]) / (b - a) / seconds for a, b in ((first, middle), (middle, last))]
    rate = (out[last] - out[first]) / (last - first) / seconds
    print(f"hole {width}: {rate:.1f} grains a second, {halves[0]:.1f} and {halves[1]:.1f} in its halves", flush=True)
    bench.check(f"the rate is not constant in time: {halves}", abs(halves[0] - halves[1]) < 0.1 * rate)
    bench.check(f"{out[-1]} grains are not enough to tell the rate", out[-1] >= 0.35 * count)
    return rate


def check_beverloo(bench):
    """rate^(2/5) is a line over the width: each of four holes is where it is fitted, to 5 % of its rate."""
    holes = ((6.0, 110000), (8.0, 75000), (10.0, 60000), (12.0, 55000))
    points = [(width, rate_of(bench, width, steps) ** 0.4) for width, steps in holes]
    mean = [sum(p[k] for p in points) / len(points) for k in range(2)]
    steep = sum((w - mean[0]) * (r - mean[1]) for w, r in points) / sum((w - mean[0]) ** 2 for w, _ in points)
    for width, root in points:
        off = (root / (mean[1] + steep * (width - mean[0]))) ** 2.5 - 1
        print(f"hole {width}: {100 * off:+.1f} % from Beverloo's law")
        bench.check(f"hole {width} is not as Beverloo's law has it", abs(off) < 0.05)


def check_janssen(bench):
    """What the floor carries, by the overlaps of the grains that lie on it. It sinks slowly for half a minute, until they
    hang on the wall as much as they can, as Janssen assumed."""
    mesh, sinking, steps, every, mean = bench.folder / "tube.obj", -0.02, 150000, 500, 60
    profile_mesh(mesh, [(4.0, -3.0), (4.0, 20.0), (4.0, 400.0)])
    loads, counts = [], (300, 600, 1200)
    for count in counts:
        result, frames = bench.run(mesh, column(count, 3.45, 0.55, 4), steps, every, plate=sinking)
        floors = [sinking * (result["time"] - every * DT * k) for k in range(mean)]  # grains slip: a mean of six seconds
        load = sum(K_N * max(0.0, floor + 0.5 - z) for floor, places in zip(floors, frames[::-1])
                   for _, _, z in places) / mean / GRAVITY
        print(f"{count} grains: the floor carries {load:.1f} of them; kinetic energy {result['end']['kinetic']:.2g}")
        loads.append(load)
    bench.check("the floor carries more than there is", all(l < c for l, c in zip(loads, counts)))
    low, high = 1.0, 1e6  # the most that it can carry: load = most (1 - exp(-count / most))
    for _ in range(100):
        most = (low + high) / 2
        low, high = (most, high) if most * (1 - math.exp(-counts[2] / most)) < loads[2] else (low, most)
    print(f"it carries {most:.0f} grains at most")
    bench.check("a silo's wall carries nothing", loads[2] < 0.5 * counts[2])
    for load, count in zip(loads, counts):
        expected = most * (1 - math.exp(-count / most))
        bench.check(f"{count} grains in a silo: {load:.1f} instead of {expected:.1f}",
                    abs(load - expected) < 0.05 * expected)


def check_drum(bench):
    """Two sizes in a drum that turns three times: the small ones trickle through the flowing layer and make the core of
    the bed. Both have the same volume and are mixed at first."""
    profile_mesh(bench.folder / "drum.obj", [(0.0, -1.65), (7.0, -1.65), (7.0, 1.65), (0.0, 1.65)])
    stream, grains = random.Random(5), {"large": [], "small": []}
    for i, j, k in itertools.product(range(-7, 2), range(-7, 8), range(-1, 2)):
        if math.hypot(i, j) * 1.06 + 0.75 > 7:
            continue
        size = stream.choice(("large", "small"))
        corners = [(0, 0, 0)] if size == "large" else itertools.product((-0.265, 0.265), repeat=3)
        grains[size] += [[1.06 * c + d + stream.uniform(-0.01, 0.01) for c, d in zip((i, j, k), corner)] for corner in corners]
    for size, places in grains.items():
        (bench.folder / f"{size}.csv").write_text("x,y,z\n" + "".join(",".join(map(repr, p)) + "\n" for p in places))
    material = {"k_n": 1e4, "restitution": 0.3, "friction": 0.5, "tangential": "spring", "rolling": 0.05}
    scene = {"graze": 1, "simulation": {"model": "dem", "gravity": [-GRAVITY, 0, 0], "materials": {"grain": material}},
             "objects": [{"name": "drum", "mesh": "drum.obj", "body": {"type": "kinematic", "spin": [0, 0, 0.4]}}],
             "particles": [{"name": size, "file": f"{size}.csv", "radius": radius, "density": 1.91}
                           for size, radius in (("large", 0.5), ("small", 0.25))]}
    (bench.folder / "drum.json").write_text(json.dumps(scene))
    final, ratios = bench.folder / "final.csv", []
    for steps in (4000, 160000):
        subprocess.run([bench.tool, "simulate", bench.folder / "drum.json", "--steps", str(steps), "--dt", "3e-4", "--every",
                        str(steps), "--final", final, "--quiet", "-o", bench.folder / "out.txt"], check=True)
        with open(final, newline="") as stream:
            rows = [(r["name"].split("/")[0], float(r["x"]), float(r["y"])) for r in csv.DictReader(stream) if "/" in r["name"]]
        mass = {"large": 8, "small": 1}
        total = sum(mass[s] for s, _, _ in rows)
        middle = [sum(mass[r[0]] * r[k] for r in rows) / total for k in (1, 2)]
        far = {s: [math.dist((x, y), middle) for t, x, y in rows if t == s] for s in mass}
        ratios.append(sum(far["small"]) / len(far["small"]) / (sum(far["large"]) / len(far["large"])))
    print(f"drum: small grains are {ratios[0]:.2f} as far from the middle of the bed as large ones, in the end {ratios[1]:.2f}")
    bench.check(f"small grains are in the middle from the start: {ratios[0]}", ratios[0] > 0.9)
    bench.check(f"small grains are not in the middle of the bed: {ratios[1]}", ratios[1] < 0.8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Grains(arguments.bin / "graze", Path(name))
        checks = {"bowl": lambda: check_bowl(bench), "heaps": lambda: check_heaps(bench, 200, 15000)}
        if arguments.long:
            checks |= {"heaps": lambda: check_heaps(bench, 1500, 60000), "beverloo": lambda: check_beverloo(bench),
                       "janssen": lambda: check_janssen(bench), "drum": lambda: check_drum(bench)}
        for what, check in checks.items():
            if arguments.only in (None, what):
                check()
    print(f"simulate_grains.py: {bench.checked} checks, {bench.bad} failed")
    return bench.bad > 0


if __name__ == "__main__":
    sys.exit(main())
