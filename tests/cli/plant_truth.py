#!/usr/bin/env python3
"""Makes plants as a folder and as GLB and checks them: the list must be the planted pairs, with their relations, and
nothing else; and with a clearance also those whose distance is less. The truth is by construction and knows nothing of
how pairs are decided.

    plant_truth.py --bin FOLDER        8 seeds, 100 with GRAZE_TEST_LONG=1
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TURNED = {"a_in_b": "b_in_a", "b_in_a": "a_in_b"}


def entry(pair, meet):
    """The pair with its names in order, so that a file may list its objects in any."""
    a, b, relation = pair["a"], pair["b"], pair["relation"]
    return (a, b, relation, meet) if a < b else (b, a, TURNED.get(relation, relation), meet)


def check(tool, target, truth):
    """What differs between the program's list and the truth, and the exit code."""
    done = subprocess.run([tool, "check", "--quiet", "--format", "json", target], stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit(f"plant_truth.py: graze check {target} ended with {done.returncode}")
    report = json.loads(done.stdout)
    found = [entry(pair, pair["triangle_pairs"] > 0) for pair in report["pairs"]]
    wanted = [entry(pair, pair["surfaces_meet"]) for pair in truth["pairs"] if pair["relation"] != "separate"]
    faults = [("found", *f) for f in sorted(set(found) - set(wanted))]
    faults += [("missed", *w) for w in sorted(set(wanted) - set(found))]
    count = report["counts"]["objects"]
    if len(found) != len(set(found)) or len(wanted) != len(set(wanted)):
        faults.append(("a pair occurs twice",))
    if report["status"] != "complete" or report["counts"]["object_pairs"] != count * (count - 1) // 2:
        faults.append(("not every pair was checked",))
    if done.returncode != (1 if wanted else 0):
        faults.append(("exit code", done.returncode))
    return faults, len(wanted)


def check_gaps(tool, target, truth, clearance):
    """The same for planted gaps, of the clearance that planted objects have to keep from each other: strictly."""
    done = subprocess.run([tool, "check", "--quiet", "--format", "json", "--set", "p=*/[ab]", "--clearance-between",
                           "p", "p", repr(clearance), target], stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit(f"plant_truth.py: graze check {target} --clearance-between ended with {done.returncode}")
    found = [(*sorted((pair["a"], pair["b"])), pair["gap"]) for pair in json.loads(done.stdout)["pairs"]
             if pair["relation"] == "clearance"]
    unsaid = {tuple(sorted((pair["a"], pair["b"]))) for pair in truth["pairs"]
              if pair["relation"] == "separate" and "gap" not in pair}
    wanted = [(*sorted((pair["a"], pair["b"])), pair["gap"]) for pair in truth["pairs"] if pair.get("gap", clearance) < clearance]
    found = [one for one in found if one[:2] not in unsaid]
    faults = [("gap found", clearance, *f) for f in sorted(set(found) - set(wanted))]
    faults += [("gap missed", clearance, *w) for w in sorted(set(wanted) - set(found))]
    if len(found) != len(set(found)):
        faults.append(("a gap occurs twice",))
    return faults, len(wanted)


def lengths(truth, seed):
    """A usual clearance; one that is a gap to the last bit, which keeps it, and the next double, which does not."""
    gaps = sorted(pair["gap"] for pair in truth["pairs"] if "gap" in pair)
    if not gaps:
        return []
    one = gaps[seed % len(gaps)]
    return [0.05, one, math.nextafter(one, 1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin / "graze"
    seeds = 100 if os.environ.get("GRAZE_TEST_LONG") == "1" else 8
    bad = pairs = gaps = 0
    for seed in range(1, seeds + 1):
        # Other sizes, other bays; now and then no planted pair, or finer parts.
        options = ["--seed", str(seed), "--size", str(100 + 37 * (seed % 11)), "--clashes", str(seed % 4),
                   "--gaps", str(seed % 3), "--detail", "2" if seed % 10 == 0 else "1"]
        with tempfile.TemporaryDirectory() as scratch:
            for name, scene, truth in (("plant", "plant/scene.json", "plant/truth.json"),
                                       ("plant.glb", "plant.glb", "plant.glb.truth.json")):
                folder = Path(scratch)
                subprocess.run([tool, "make", "plant", *options, "-o", folder / name], check=True,
                               stdout=subprocess.DEVNULL)
                known = json.loads((folder / truth).read_text())
                faults, planted = check(tool, folder / scene, known)
                pairs += planted
                for clearance in lengths(known, seed):
                    more, planted = check_gaps(tool, folder / scene, known, clearance)
                    faults += more
                    gaps += planted
                bad += len(faults)
                for fault in faults[:10]:
                    print(f"seed {seed}, {name}:", *fault)
    print(f"{seeds} plants, each in two forms: {pairs} pairs and {gaps} gaps as planted, {bad} differences")
    return 1 if bad or pairs == 0 or gaps == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
