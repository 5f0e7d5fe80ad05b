#!/usr/bin/env python3
"""Checks `graze check`, `graze self` and `graze tritri` against exact rational arithmetic.

    oracle.py --bin FOLDER

Every pair of triangles of small models is decided here by brute force with fractions, in a way that shares nothing with
the library: the extreme points of the common set of two triangles are corners of one that lie in the other, crossings
of edges, and piercings of an edge through the other's plane; the dimension of their affine hull is the answer. Models:
those in data/ and those that `graze make` writes. Counts, kinds, lists and hashes must agree.
"""
import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
MASK = (1 << 64) - 1


def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def along(a, b, numerator, denominator):
    t = Fraction(numerator, denominator)
    return tuple(a[k] + (b[k] - a[k]) * t for k in range(3))


def on_segment(p, a, b):
    edge = sub(b, a)
    if not any(edge):
        return p == a
    return not any(cross(edge, sub(p, a))) and 0 <= dot(sub(p, a), edge) <= dot(edge, edge)


def edges(triangle):
    return [(triangle[0], triangle[1]), (triangle[1], triangle[2]), (triangle[2], triangle[0])]


def normal(triangle):
    return cross(sub(triangle[1], triangle[0]), sub(triangle[2], triangle[0]))


def contains(triangle, p):
    n = normal(triangle)
    if not any(n):
        return any(on_segment(p, a, b) for a, b in edges(triangle))
    if dot(n, sub(p, triangle[0])) != 0:
        return False
    return all(dot(n, cross(sub(b, a), sub(p, a))) >= 0 for a, b in edges(triangle))


def edge_crossing(p, q, r, s):
    u, v, w = sub(q, p), sub(s, r), sub(r, p)
    n = cross(u, v)
    if not any(n) or dot(w, n) != 0:
        return []
    square, t, o = dot(n, n), dot(cross(w, v), n), dot(cross(w, u), n)
    return [along(p, q, t, square)] if 0 <= t <= square and 0 <= o <= square else []


def piercing(a, b, triangle):
    n = normal(triangle)
    high, low = dot(n, sub(a, triangle[0])), dot(n, sub(b, triangle[0]))
    if high * low >= 0:
        return []
    point = along(a, b, high, high - low)
    return [point] if contains(triangle, point) else []


def hull_dimension(points):
    base = points[0]
    differences = [d for d in (sub(p, base) for p in points) if any(d)]
    if not differences:
        return 0
    return 2 if any(any(cross(differences[0], d)) for d in differences) else 1


def kind(a, b):
    """0 apart, else the dimension of the common set plus one."""
    points = [p for p in a if contains(b, p)] + [p for p in b if contains(a, p)]
    for (p, q), (r, s) in itertools.product(edges(a), edges(b)):
        points += edge_crossing(p, q, r, s)
    for p, q in edges(a):
        points += piercing(p, q, b)
    for p, q in edges(b):
        points += piercing(p, q, a)
    return hull_dimension(points) + 1 if points else 0


def coplanar(a, b):
    points = a + b
    return not any(dot(cross(sub(p, points[0]), sub(q, points[0])), sub(r, points[0]))
                   for p, q, r in itertools.combinations(points[1:], 3))


def pair_hash(i, j):
    x = ((i << 32 | j) + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


# ---- models -----------------------------------------------------------------------------------------------------


def read_obj(path):
    vertices, triangles = [], []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append(tuple(float(w) for w in words[1:4]))
        elif words[:1] == ["f"]:
            corners = [vertices[int(w.split("/")[0]) - (int(w.split("/")[0]) > 0)] for w in words[1:]]
            triangles += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    return triangles


def posed(triangles, m):
    """As the contract says: doubles, each operation rounded once."""
    def pose(p):
        return tuple(((m[4 * r] * p[0] + m[4 * r + 1] * p[1]) + m[4 * r + 2] * p[2]) + m[4 * r + 3] for r in range(3))
    return [tuple(pose(p) for p in t) for t in triangles]


def posed_exactly(triangles, m):
    m = [Fraction(x) for x in m]

    def pose(p):
        p = [Fraction(x) for x in p]
        return tuple(m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3] for r in range(3))
    return [tuple(pose(p) for p in t) for t in triangles]


def whole(*models):
    """The models with all coordinates times the power of two that makes integers of them: reckoning with those is fast."""
    values = [Fraction(x) for model in models for t in model for p in t for x in p]
    scale = max((x.denominator for x in values), default=1)
    values = iter([int(x * scale) for x in values])
    return [[tuple((next(values), next(values), next(values)) for _ in t) for t in model] for model in models]


def boxes(triangles):
    return [[(min(p[k] for p in t), max(p[k] for p in t)) for k in range(3)] for t in triangles]


def graze_boxes_meet(a, b):
    return all(low <= other[1] and other[0] <= high for (low, high), other in zip(a, b))


def meeting(a, b, candidates):
    """(i, j, kind) of the pairs of candidates that meet."""
    for i, j in candidates:
        found = kind(a[i], b[j])
        if found:
            yield i, j, found


def is_degenerate(triangle):
    return not any(normal(triangle))


def expect_pair(a, b):
    counts = dict(triangle_pairs=0, points=0, segments=0, areas=0, coplanar=0, degenerate=0)
    triangles, total = [], 0
    a, b = whole(a, b)
    boxes_a, boxes_b = boxes(a), boxes(b)
    candidates = [(i, j) for i in range(len(a)) for j in range(len(b)) if graze_boxes_meet(boxes_a[i], boxes_b[j])]
    for i, j, found in meeting(a, b, candidates):
        zero = is_degenerate(a[i]) or is_degenerate(b[j])
        counts["triangle_pairs"] += 1
        counts["degenerate" if zero else ("points", "segments", "areas")[found - 1]] += 1
        counts["coplanar"] += coplanar(a[i], b[j])
        triangles.append([i, j])
        total += pair_hash(i, j)
    return {**counts, "hash": f"{total & MASK:016x}", "triangles": triangles}


def expect_self(mesh):
    counts = dict(self_pairs=0, duplicates=0, edge_overlaps=0, vertex_more=0, disjoint_hits=0, degenerate_pairs=0)
    [mesh] = whole(mesh)
    pairs, total, box = [], 0, boxes(mesh)
    candidates = [(i, j) for i, j in itertools.combinations(range(len(mesh)), 2) if graze_boxes_meet(box[i], box[j])]
    for i, j, found in meeting(mesh, mesh, candidates):
        if is_degenerate(mesh[i]) or is_degenerate(mesh[j]):
            counts["degenerate_pairs"] += 1
            continue
        shared = sum(p == q for p in mesh[i] for q in mesh[j])
        if (shared == 2 and found < 3) or (shared == 1 and found < 2):
            continue
        counts[("disjoint_hits", "vertex_more", "edge_overlaps", "duplicates")[shared]] += 1
        counts["self_pairs"] += 1
        pairs.append([i, j])
        total += pair_hash(i, j)
    return {**counts, "degenerate": sum(map(is_degenerate, mesh)), "hash": f"{total & MASK:016x}", "pairs": pairs}


# ---- comparisons --------------------------------------------------------------------------------------------------


class Checker:
    def __init__(self, bin_folder):
        self.graze = bin_folder.resolve() / "graze"
        self.faults = 0
        self.compared = 0

    def run(self, *arguments, stdin=None):
        done = subprocess.run([self.graze, *arguments], input=stdin, capture_output=True, text=True, timeout=300)
        if done.returncode not in (0, 1):
            sys.exit(f"graze {arguments}: exit {done.returncode}: {done.stderr}")
        return done.returncode, done.stdout

    def same(self, what, expected, got):
        self.compared += 1
        if expected != got:
            self.faults += 1
            if self.faults <= 10:
                print(f"{what}\n  expected {expected}\n  got      {got}")

    def check_scene(self, path, tier="t1"):
        code, text = self.run("check", "--format", "json", "--pairs", "--all", "--exactness", tier, str(path))
        report, scene = json.loads(text), json.loads(path.read_text())
        pose = posed_exactly if tier == "t2" else posed
        identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]
        models = {o["name"]: pose(read_obj(path.parent / o["mesh"]), o.get("pose", identity)) for o in scene["objects"]}
        for pair in report["pairs"]:
            expected = expect_pair(models[pair["a"]], models[pair["b"]])
            self.same(f"{path}: {tier}: {pair['a']} {pair['b']}", expected, {k: pair[k] for k in expected})
            if expected["triangle_pairs"] > 0:
                self.same(f"{path}: {pair['a']} {pair['b']}: meets", False, pair["relation"] == "separate")
        clashes = sum(p["relation"] != "separate" for p in report["pairs"])
        self.same(f"{path}: exit code", int(clashes > 0), code)

    def check_self(self, path):
        code, text = self.run("self", "--format", "json", "--pairs", str(path))
        expected = expect_self(read_obj(path))
        got = json.loads(text)["meshes"][0]
        self.same(f"{path}: self", expected, {k: got[k] for k in expected})
        self.same(f"{path}: exit code", int(expected["self_pairs"] > 0), code)

    def check_tritri(self, pairs):
        lines = "".join(" ".join(repr(x) for t in pair for p in t for x in p) + "\n" for pair in pairs)
        text = self.run("tritri", "-", stdin=lines)[1]
        for pair, line in zip(pairs, text.splitlines(), strict=True):
            [[a, b]] = whole(pair)
            found = kind(a, b)
            self.same(f"tritri {pair}", f"{int(found > 0)} {found} {int(coplanar(a, b))}", line)


def lattice_pairs(count, seed):
    """Triangles on a small lattice: touching, coplanar and flat ones come up all the time."""
    source = random.Random(seed)
    return [tuple(tuple(tuple(float(source.randint(0, 3)) for _ in range(3)) for _ in range(3)) for _ in range(2))
            for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    checker = Checker(parser.parse_args().bin)
    data = HERE / "data"
    for scene in ("touching", "overlap", "apart", "rules", "rotated", "flat"):
        checker.check_scene(data / f"{scene}.json")
    checker.check_scene(data / "rotated.json", "t2")
    for mesh in ("cube", "tetra", "folded", "flat", "groups"):
        checker.check_self(data / f"{mesh}.obj")
    long = os.environ.get("GRAZE_TEST_LONG") == "1"
    checker.check_tritri(lattice_pairs(10000 if long else 1000, 1))
    with tempfile.TemporaryDirectory() as scratch:
        for kind_name, size in (("walls", 1), ("walls", 3 if long else 2), ("nested", 2)):
            folder = Path(scratch) / f"{kind_name}{size}"
            checker.run("make", kind_name, "--size", str(size), "-o", str(folder))
            checker.check_scene(folder / "scene.json")
        checker.check_self(Path(scratch) / "walls1" / "wall.obj")
    print(f"{checker.compared} answers compared, {checker.faults} wrong")
    return 1 if checker.faults or checker.compared < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
