#!/usr/bin/env python3
"""graze ccd against the truth tables of real and hand-made queries: hits and both doubles, each query also scaled by
powers of two, its features swapped and its axes turned; and graze motion against the lists of pairs that meet in real
cloth.

    ccd_truth.py --bin FOLDER        more scales and more cloth with GRAZE_TEST_LONG=1

Exit code 77: the tables are not here, which is said in a line that begins with SKIPPED.
"""
import argparse
import csv
import glob
import json
import lzma
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "data")


def read_queries(path):
    """Lists of eight points of fractions: v f0 f1 f2, or a0 a1 b0 b1, at t = 0, then at t = 1."""
    opened = lzma.open(path, "rt") if path.endswith(".xz") else open(path)
    with opened as file:
        rows = [[int(x) for x in row[:6]] for row in csv.reader(file)]
    points = [[Fraction(row[2 * k], row[2 * k + 1]) for k in range(3)] for row in rows]
    return [points[i:i + 8] for i in range(0, len(points), 8)]


def read_truth(path):
    with open(path) as file:
        return [(int(row["exact"]), row["toi_lo"], row["toi_hi"]) for row in csv.DictReader(file)]


def text(kind, points):
    return kind + " " + " ".join(float(x).hex() for p in points for x in p) + "\n"


def as_given(points):
    return points


def swapped(kind):
    """The edges exchanged and turned around, or the corners of the face."""
    order = [3, 2, 1, 0] if kind == "ee" else [0, 3, 2, 1]
    return lambda points: [points[i + k] for i in (0, 4) for k in order]


def turned(points):
    return [[-p[1], p[2], p[0]] for p in points]


def scaled(power):
    factor = Fraction(2) ** power
    return lambda points: [[x * factor for x in p] for p in points]


def is_double(points):
    try:
        return all(Fraction(float(x)) == x for p in points for x in p)
    except OverflowError:
        return False


LONG = os.environ.get("GRAZE_TEST_LONG") == "1"


def check_tables(graze, tables):
    """How many answers are wrong."""
    powers = [-40, 40, -300, 300] if LONG else [-300]
    wrong = asked = hits = 0
    for path in tables:
        name = os.path.basename(path).split(".csv")[0]
        kind = "ee" if "ee" in name[-6:] else "vf"
        queries, truths = read_queries(path), read_truth(f"{DATA}/truth/ccd/{name}.toi.csv")
        for change in (as_given, swapped(kind), turned, *map(scaled, powers)):
            both = [(q, t) for q, t in zip(map(change, queries), truths) if t[0] >= 0 and is_double(q)]
            run = subprocess.run([graze, "ccd", "-"], input="".join(text(kind, q) for q, _ in both), text=True,
                                 stdout=subprocess.PIPE, check=False)
            answers = run.stdout.splitlines()
            if run.returncode > 1 or len(answers) != len(both):
                print(f"{name}: exit {run.returncode}, {len(answers)} answers to {len(both)} queries")
                return 1
            for i, (answer, (_, (hit, low, high))) in enumerate(zip(answers, both)):
                want = ["1", low, high] if hit else ["0"]
                asked, hits = asked + 1, hits + hit
                if [float(x) for x in answer.split()] != [float(x) for x in want]:
                    wrong += 1
                    print(f"{name}, {i}: {answer}, but the truth is {want}")
    print(f"{asked} queries, {hits} hits, {wrong} wrong")
    return wrong + (hits == 0)


def read_json(path):
    with lzma.open(path, "rt") as file:
        return json.load(file)


def check_cloth(graze, folder, name, step, frames):
    """How many pairs are missing or too many. In the lists features are numbered vertices, edges, triangles."""
    scene, paths = f"{DATA}/scenes/deforming/{name}", []
    for frame in frames:
        paths.append(f"{folder}/{frame}")
        with lzma.open(f"{scene}/{frame}.xz") as packed, open(paths[-1], "wb") as file:
            file.write(packed.read())
    run = subprocess.run([graze, "motion", *paths, "--pairs", "--format", "json"], stdout=subprocess.PIPE, check=False)
    found, wrong = json.loads(run.stdout), 0
    for kind, first, second in (("vf", 0, found["vertices"] + found["edges"]), ("ee", found["vertices"], found["vertices"])):
        pairs, meet = (read_json(f"{scene}/{what}_{step}{kind}.json.xz") for what in ("boxes", "mma_bool"))
        want = {(min(pair) - first, max(pair) - second) for pair, hit in zip(pairs, meet) if hit}
        got = set(map(tuple, found[kind + "_list"]))
        wrong += len(want ^ got) + (not want)
        print(f"{name}, {kind}: {len(want)} pairs, {len(want - got)} missing, {len(got - want)} too many")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    graze = os.path.join(parser.parse_args().bin, "graze")
    tables = sorted(glob.glob(DATA + "/ccd/*/*.csv*"))
    if not tables:
        print("SKIPPED: no tables of queries in ../shared/data/ccd")
        return 77
    wrong = check_tables(graze, tables)
    with tempfile.TemporaryDirectory() as folder:
        wrong += check_cloth(graze, folder, "cloth-funnel", 227, ("227.ply", "228.ply"))
        if LONG:
            wrong += check_cloth(graze, folder, "cloth-ball", 92, ("cloth_ball92.ply", "cloth_ball93.ply"))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
