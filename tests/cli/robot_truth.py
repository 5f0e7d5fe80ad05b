#!/usr/bin/env python3
"""What `graze watch` tells of the robot cell against what its plan says: every pair, at every step.

    robot_truth.py --bin FOLDER

The truth comes from upright boxes seen from above (scenes/robot_truth.c), not from triangles.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def pairs_of_steps(told):
    """For each step the pairs that take part, with their relation, from the events."""
    now, steps = {}, []
    for step in told["steps"]:
        for event in step["events"]:
            pair = frozenset((event["a"], event["b"]))
            if (event["event"] == "began") == (pair in now):
                sys.exit(f"step {step['step']}: {event} does not follow from what was before")
            if event["event"] == "ended":
                del now[pair]
            else:
                now[pair] = event["relation"]
        if len(now) != step["pairs"]:
            sys.exit(f"step {step['step']}: {len(now)} pairs by the events, {step['pairs']} by the count")
        steps.append(dict(now))
    return steps


def truth_of_steps(truth):
    steps = [{} for _ in range(truth["last_step"] + 1)]
    for meeting in truth["meetings"]:
        steps[meeting["step"]][frozenset((meeting["a"], meeting["b"]))] = meeting["relation"]
    return steps


def check(graze, folder, size, seed):
    cell = Path(folder) / f"cell_{size}_{seed}"
    subprocess.run([graze, "make", "robot", "--size", str(size), "--seed", str(seed), "-o", cell], check=True,
                   stdout=subprocess.DEVNULL)
    truth = truth_of_steps(json.loads((cell / "truth.json").read_text()))
    done = subprocess.run([graze, "watch", cell / "scene.json", "--motion", cell / "motion.csv", "--format", "json"],
                          capture_output=True, text=True)
    told = pairs_of_steps(json.loads(done.stdout))
    meets = any(truth)
    wrong = [step for step, (a, b) in enumerate(zip(truth, told)) if a != b]
    print(f"size {size}, seed {seed}: {len(truth)} steps, {sum(map(bool, truth))} of them with collisions, "
          f"{len(wrong)} not as planned")
    for step in wrong[:5]:
        print(f"  step {step}: planned {truth[step]}, told {told[step]}")
    return not wrong and len(truth) == len(told) and done.returncode == (1 if meets else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    graze = str(Path(options.bin).resolve() / "graze")
    with tempfile.TemporaryDirectory() as folder:
        good = [check(graze, folder, size, seed) for size, seed in ((1, 1), (1, 2), (1, 3), (1, 4), (4, 1), (9, 7))]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
