#!/usr/bin/env python3
"""How long a check takes again: makes a plant, moves a share of its objects, and compares a first check with checks that
know its report. The answer of every check again is compared with that of a check that knows nothing.

usage: again.py GRAZE [--size N] [--detail N] [--share X] [--by LENGTH] [--rounds N] [--threads N]

A row: load, build and query as the program tells them, and of the whole program the seconds that it took, those of
processors (user and system, all threads); medians over the rounds, in which the programs take turns. Ratios are to the
first row."""
import argparse
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time

SECONDS = ("load", "build", "query")


def move(source, target, share, by):
    """Moves a random share of the nodes that have a mesh along x."""
    data = source.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    tree, rest = json.loads(data[20 : 20 + size]), data[20 + size :]
    nodes = [node for node in tree["nodes"] if "mesh" in node]
    for node in random.Random(1).sample(nodes, max(1, round(share * len(nodes)))):
        node.setdefault("matrix", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])[12] += by
    text = json.dumps(tree, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest)) + struct.pack("<I4s", len(text), b"JSON")
    target.write_bytes(head + text + rest)


def answer(report):
    """What does not depend on how it was found: not the seconds, states, dates, and what is resolved."""
    report = {key: value for key, value in report.items() if key not in ("seconds", "created", "resolved")}
    pairs = [{key: value for key, value in pair.items() if key not in ("state", "found")} for pair in report["pairs"]]
    counts = {key: value for key, value in report["counts"].items() if key != "reused_pairs"}
    return {**report, "pairs": pairs, "counts": counts}


def check(graze, folder, arguments):
    start = time.monotonic()
    out = folder / "out.json"
    running = subprocess.Popen([graze, "check", "plant.glb", "-q", "--format", "json", "--curves", "-o", out, *arguments],
                               cwd=folder)
    _, status, used = os.wait4(running.pid, 0)
    took = time.monotonic() - start
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (0, 1):
        sys.exit(f"{arguments}: exit {running.returncode}")
    report = json.loads(out.read_text())
    return report, [report["seconds"][key] for key in SECONDS] + [took, used.ru_utime + used.ru_stime]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("graze", type=os.path.abspath)
    parser.add_argument("--size", default="2000")
    parser.add_argument("--detail", default="3")
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--by", type=float, default=2**-10, help="within the gaps of the plant: nothing new meets")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        old, new = folder / "old", folder / "new"
        old.mkdir()
        new.mkdir()
        subprocess.run([given.graze, "make", "plant", "--size", given.size, "--detail", given.detail, "-q", "-o",
                        old / "plant.glb"], check=True, stdout=subprocess.DEVNULL)
        move(old / "plant.glb", new / "plant.glb", given.share, given.by)
        threads, cache = ["--threads", given.threads], ["--cache", folder / "cache"]
        known = ["--previous", folder / "old.json"]
        report, _ = check(given.graze, old, threads + cache)
        (folder / "old.json").write_text(json.dumps(report))
        rows = {"first": (old, []), "first, meshes cached": (old, cache), "moved, nothing known": (new, []),
                "unchanged": (old, known), "unchanged, meshes cached": (old, known + cache),
                "moved": (new, known), "moved, meshes cached": (new, known + cache)}
        times, answers = {row: [] for row in rows}, {}
        for _ in range(given.rounds):
            for row, (where, arguments) in rows.items():
                report, seconds = check(given.graze, where, threads + arguments)
                times[row].append(seconds)
                found = answer(report)
                if answers.setdefault(where, found) != found:
                    sys.exit(f"{row}: another answer than without an earlier report")
    medians = {row: [statistics.median(column) for column in zip(*list_)] for row, list_ in times.items()}
    first = medians["first"]
    print(f"{'':26} {'load':>8} {'build':>8} {'query':>8} {'took':>8} {'ratio':>6} {'busy':>8} {'ratio':>6}")
    for row, m in medians.items():
        print(f"{row:26} {m[0]:8.4f} {m[1]:8.4f} {m[2]:8.4f} {m[3]:8.4f} {m[3] / first[3]:6.3f} "
              f"{m[4]:8.4f} {m[4] / first[4]:6.3f}")


if __name__ == "__main__":
    main()
