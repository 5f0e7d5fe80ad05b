#!/usr/bin/env python3
"""Makes plants as a folder and as GLB and checks them: the list must be the planted pairs, with their relations, and
nothing else. The truth is by construction and knows nothing of how pairs are decided.

    plant_truth.py --bin FOLDER        8 seeds, 100 with GRAZE_TEST_LONG=1
"""
import argparse
import json
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin / "graze"
    seeds = 100 if os.environ.get("GRAZE_TEST_LONG") == "1" else 8
    bad = pairs = 0
    for seed in range(1, seeds + 1):
        # Other sizes, other bays; now and then no planted pair, or finer parts.
        options = ["--seed", str(seed), "--size", str(100 + 37 * (seed % 11)), "--clashes", str(seed % 4),
                   "--detail", "2" if seed % 10 == 0 else "1"]
        with tempfile.TemporaryDirectory() as scratch:
            for name, scene, truth in (("plant", "plant/scene.json", "plant/truth.json"),
                                       ("plant.glb", "plant.glb", "plant.glb.truth.json")):
                folder = Path(scratch)
                subprocess.run([tool, "make", "plant", *options, "-o", folder / name], check=True,
                               stdout=subprocess.DEVNULL)
                faults, planted = check(tool, folder / scene, json.loads((folder / truth).read_text()))
                pairs += planted
                bad += len(faults)
                for fault in faults[:10]:
                    print(f"seed {seed}, {name}:", *fault)
    print(f"{seeds} plants, each in two forms: {pairs} pairs as planted, {bad} differences")
    return 1 if bad or pairs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
