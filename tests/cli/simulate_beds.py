#!/usr/bin/env python3
"""Many balls through `graze simulate`: beds against the heights and contacts that LAMMPS (package GRANULAR) and a program of
110 lines have of the same input and law, and elastic gases, which keep energy and momentum.

    simulate_beds.py --bin FOLDER [--long]
"""
import argparse
import csv
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import Bench

GRAVITY = 9.81


class Beds(Bench):
    def near(self, what, got, wanted, tolerance):
        self.check(f"{what}: {got!r} instead of {wanted!r}, off by more than {tolerance:.3g}",
                   abs(got - wanted) <= tolerance)

    def make(self, kind, size):
        folder = self.folder / f"{kind}{size}"
        subprocess.run([self.tool, "make", kind, "--size", str(size), "-o", folder], check=True,
                       stdout=subprocess.DEVNULL)
        return folder / "scene.json"

    def run(self, scene, steps, dt, every):
        """The rows of --energy, and the places of the particles in the end."""
        final, energy = self.folder / "final.csv", self.folder / "energy.csv"
        done = subprocess.run([self.tool, "simulate", scene, "--steps", str(steps), "--dt", dt, "--every", str(every),
                               "--final", final, "--energy", energy, "--quiet", "-o", self.folder / "out.txt"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"simulate_beds.py: exit {done.returncode}: {done.stderr}")
        with open(final, newline="") as stream:
            places = [tuple(float(r[axis]) for axis in "xyz") for r in csv.DictReader(stream)]
        with open(energy, newline="") as stream:
            return [{key: float(value) for key, value in r.items()} for r in csv.DictReader(stream)], places


def touching(places):
    """How many pairs of balls of diameter 1 meet, by cells of that size: both others count walls in other ways."""
    cells = {}
    for p in places:
        cells.setdefault(tuple(map(math.floor, p)), []).append(p)
    ahead = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if (i, j, k) > (0, 0, 0)]
    count = 0
    for cell, inside in cells.items():
        others = [q for a in ahead for q in cells.get(tuple(map(sum, zip(cell, a))), [])]
        for i, p in enumerate(inside):
            count += sum(math.dist(p, q) <= 1 for q in inside[:i]) + sum(math.dist(p, q) <= 1 for q in others)
    return count


def check_bed(bench, size, heights, contacts, spring=False):
    """`heights`: of the centres, by step. `contacts`: with balls, a ball, in the last of them."""
    scene = bench.make("bed", size)
    if spring:
        text = json.loads(scene.read_text())
        text["simulation"]["materials"]["ball"]["tangential"] = "spring"
        scene.write_text(json.dumps(text))
    steps = sorted(heights)
    rows, places = bench.run(scene, steps[-1], "2e-4", math.gcd(*steps))
    what = f"bed of {size}" + (" with springs" if spring else "")
    for row in rows:
        step, height = int(row["step"]), row["potential"] / (size * GRAVITY)
        if step in heights:
            print(f"{what}, step {step}: mean height {height:.4f}, others {heights[step]}")
            bench.near(f"{what}: mean height at step {step}", height, heights[step], 0.02)
    told = 2 * touching(places) / size
    print(f"{what}: {told:.3f} contacts a ball, LAMMPS {contacts}")
    bench.near(f"{what}: contacts a ball", told, contacts, 0.1 * contacts)


def check_gas(bench, size, steps=10000):
    """Elastic, at a fiftieth of a contact."""
    rows, _ = bench.run(bench.make("gas", size), steps, "auto", 1000)
    energies = [r["kinetic"] + r["rotational"] + r["potential"] + r["elastic"] for r in rows]
    for row, energy in zip(rows, energies):
        bench.near(f"energy of {size} at step {row['step']:.0f}", energy, energies[0], 1e-4 * energies[0])
        for axis in ("px", "py", "pz"):  # a ball has about 1; each step rounds each of them
            bench.near(f"momentum of {size} at step {row['step']:.0f}", row[axis], rows[0][axis], 1e-15 * size)
    print(f"gas of {size}: energy within {max(abs(e / energies[0] - 1) for e in energies):.1e}")
    bench.check(f"nothing meets in a gas of {size}", max(r["contacts"] for r in rows) > size / 500)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Beds(arguments.bin / "graze", Path(name))
        if arguments.long:
            check_bed(bench, 65536, {3000: 21.0525, 6000: 17.296, 9000: 14.409}, 4.948)
            check_gas(bench, 65536)
        else:
            check_bed(bench, 1024, {14000: 3.892}, 4.557)
            check_bed(bench, 1024, {14000: 4.161}, 3.879, spring=True)
            check_gas(bench, 4096)
    print(f"simulate_beds.py: {bench.checked} checks, {bench.bad} failed")
    return bench.bad > 0


if __name__ == "__main__":
    sys.exit(main())
