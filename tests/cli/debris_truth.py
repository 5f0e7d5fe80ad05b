#!/usr/bin/env python3
"""Makes fragments of explosions and lets them fly: what each hits first, and when, is known from how they were made, as
fractions. Of a point the two doubles are those around the time, of a ball they bracket it.

    debris_truth.py --bin FOLDER        3 seeds of 5,000 fragments, 60 of 20,000 with GRAZE_TEST_LONG=1
"""
import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path


def fault_of(fragment, wanted, found):
    """What is wrong with one line of the answer, or None."""
    if (found["hit"] == "1") != (wanted["object"] != ""):
        return "missed" if wanted["object"] else "hits nothing"
    if found["object"] != wanted["object"]:
        return "another object"
    if not wanted["object"]:
        return None
    time, low, high = Fraction(wanted["time"]), float(found["earliest"]), float(found["latest"])
    if not low <= time <= high:
        return "time"
    if float(fragment["r"]) > 0:
        return "a wide bracket" if high - low > 2.0 ** -30 else None
    if low == high or (low < time < high and math.nextafter(low, 2) == high):
        return None
    return "not the two doubles"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin / "graze"
    is_long = os.environ.get("GRAZE_TEST_LONG") == "1"
    hits = count = bad = 0
    for seed in range(1, 61 if is_long else 4):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            subprocess.run([tool, "make", "explosion", "--debris", "20000" if is_long else "5000", "--seed", str(seed),
                            "--size", str(1 + seed % 7), "-o", folder], check=True, stdout=subprocess.DEVNULL)
            done = subprocess.run([tool, "motion", "--particles", folder / "debris.csv", folder / "scene.json",
                                   "--format", "csv", "--threads", str(1 + seed % 3)], stdout=subprocess.PIPE, text=True)
            if done.returncode != 1:
                sys.exit(f"debris_truth.py: graze motion ended with {done.returncode}")
            fragments = list(csv.DictReader((folder / "debris.csv").open()))
            truth = list(csv.DictReader((folder / "truth.csv").open()))
            found = list(csv.DictReader(done.stdout.splitlines()))
            if not len(fragments) == len(truth) == len(found):
                sys.exit("debris_truth.py: not a line for each fragment")
            for i, line in enumerate(zip(fragments, truth, found)):
                fault = fault_of(*line)
                count += 1
                hits += line[1]["object"] != ""
                bad += fault is not None
                if fault and bad < 10:
                    print(f"seed {seed}, fragment {i}: {fault}", *line, sep="\n  ")
    print(f"{count} fragments, {hits} hit something, {bad} differences")
    return 1 if bad or not 0 < hits < count else 0


if __name__ == "__main__":
    sys.exit(main())
