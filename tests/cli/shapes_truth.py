#!/usr/bin/env python3
"""Boxes of whole numbers, turned so that edges stay along the axes: as shapes, as hulls of point clouds, and as meshes.
Which meet, and how, intervals say. The program must find the same pairs, with the same relations, and the same distances.

    shapes_truth.py --bin FOLDER        12 scenes, 400 with GRAZE_TEST_LONG=1
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from itertools import combinations, permutations
from pathlib import Path

FACES = [(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6),
         (1, 3, 5), (3, 7, 5)]


def rotation(rng):
    """A matrix that exchanges and reverses axes, as rows, with determinant 1."""
    while True:
        order, signs = rng.choice(list(permutations(range(3)))), [rng.choice((-1, 1)) for _ in range(3)]
        even = order in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        if signs[0] * signs[1] * signs[2] * (1 if even else -1) == 1:
            return [[signs[k] if order[k] == i else 0 for i in range(3)] for k in range(3)]


def write_mesh(path, edges, rng, cloud):
    """The box's triangles; of a cloud, triangles that have the box's corners and others inside, in any order."""
    corners = [[(0.5 if i >> k & 1 else -0.5) * edges[k] for k in range(3)] for i in range(8)]
    faces = list(FACES)
    if cloud:
        corners += [[rng.choice((-0.25, 0, 0.25)) * edges[k] for k in range(3)] for _ in range(6)]
        faces = [tuple(rng.sample(range(8), 2)) + (8 + i % 6,) for i in range(10)]
        faces += [(i, (i + 1) % 8, 8) for i in range(8)]
        rng.shuffle(faces)
    lines = ["v " + " ".join(map(repr, c)) for c in corners]
    lines += ["f " + " ".join(str(i + 1) for i in f) for f in faces]
    path.write_text("\n".join(lines) + "\n")


def make_object(i, folder, rng):
    """An entry of the scene, and the box in the world."""
    edges, place, turn = [rng.randint(1, 6) for _ in range(3)], [rng.randint(0, 12) for _ in range(3)], rotation(rng)
    entry = {"name": f"o{i}", "pose": [x for k in range(3) for x in (*turn[k], place[k] / 2)]}
    kind = rng.randrange(3)
    if kind == 0:
        entry["shape"] = {"box": edges}
    else:
        write_mesh(folder / f"o{i}.obj", edges, rng, kind == 1)
        entry.update({"shape": {"hull": f"o{i}.obj"}} if kind == 1 else {"mesh": f"o{i}.obj"})
    size = [sum(abs(turn[k][j]) * edges[j] for j in range(3)) for k in range(3)]
    return entry, [(place[k] - size[k], place[k] + size[k]) for k in range(3)]


def relation(a, b):
    """Of two boxes, intervals on three axes."""
    if any(x[0] > y[1] or y[0] > x[1] for x, y in zip(a, b)):
        return "separate"
    if any(x[0] == y[1] or y[0] == x[1] for x, y in zip(a, b)):
        return "touch"
    a_in_b = all(y[0] <= x[0] and x[1] <= y[1] for x, y in zip(a, b))
    b_in_a = all(x[0] <= y[0] and y[1] <= x[1] for x, y in zip(a, b))
    return {(True, True): "duplicate", (True, False): "a_in_b", (False, True): "b_in_a"}.get((a_in_b, b_in_a), "cross")


def distance(a, b):
    """Of the surfaces, of boxes that are separate; numbers are twice the lengths."""
    return math.sqrt(sum(max(0, x[0] - y[1], y[0] - x[1]) ** 2 for x, y in zip(a, b))) / 2


def run(tool, *arguments):
    done = subprocess.run([tool, *arguments, "--format", "json", "--quiet"], stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit(f"shapes_truth.py: graze {arguments[0]} ended with {done.returncode}")
    return json.loads(done.stdout)["pairs"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin / "graze"
    rng = random.Random(os.environ.get("GRAZE_TEST_SEED", "shapes"))
    bad, seen = 0, {}
    for number in range(400 if os.environ.get("GRAZE_TEST_LONG") == "1" else 12):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            made = [make_object(i, folder, rng) for i in range(14)]
            if number % 2 == 0:  # one again, as another kind
                made.append(({**made[0][0], "name": "again", "shape": made[0][0].get("shape") or
                              {"hull": made[0][0]["mesh"]}}, made[0][1]))
                made[-1][0].pop("mesh", None)
            scene = folder / "scene.json"
            scene.write_text(json.dumps({"graze": 1, "units": "m", "objects": [m[0] for m in made]}))
            wanted = {(a[0]["name"], b[0]["name"]): (relation(a[1], b[1]), distance(a[1], b[1]))
                      for a, b in combinations(made, 2)}
            found = {(p["a"], p["b"]): p["relation"] for p in run(tool, "check", scene)}
            apart = {(p["a"], p["b"]): p["distance"] for p in run(tool, "distance", scene)}
            for pair, (how, far) in wanted.items():
                seen[how] = seen.get(how, 0) + 1
                if found.get(pair, "separate") != how or (how == "separate" and apart[pair] != far):
                    bad += 1
                    print(f"scene {number}, {pair}: {how} {far}, not {found.get(pair)} {apart.get(pair)}")
    print(", ".join(f"{count} {how}" for how, count in sorted(seen.items())), f"- {bad} differences")
    return 1 if bad or len(seen) < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
