#!/usr/bin/env python3
"""How time grows with the size of the input: boxes that meet few others, a wavy plane against itself with its bake, and
the check of a plant, each of several sizes that `graze make` makes. Fits an exponent to each column.

usage: growth.py GRAZE [--rounds N] [--most SIZE] [--only boxes|wave|plant] [--threads N] [--out FILE.csv]

A row: the number of elements, what was found, and in nanoseconds an element the least over the rounds of the processor
time of the whole program (user and system, all threads), and of the seconds that it tells of itself: load, build, query.
Sizes take turns. Processor time is the one to go by where other programs run; what a phase waits for is in its seconds.
An exponent is the slope of the straight line through all logarithms; it is told from the second size on, as the least
one is mostly the start of a program. Answers must be the same in every round, or it ends with 1."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

PHASES = ("load", "build", "query")

# family: (options of make with the size, file, verb, elements of a size, sizes)
FAMILIES = {
    "boxes": (lambda n: ["boxes", "--kind", "uniform", "--size", n], "boxes.gzb", "pairs", lambda n: n,
              (1000, 10000, 100000, 1000000, 10000000)),
    "wave": (lambda n: ["wave", "--size", n], "wave.glb", "self", lambda n: 4 * n * n, (16, 50, 158, 500, 1000)),
    "plant": (lambda n: ["plant", "--size", n], "plant.glb", "check", lambda n: n, (2000, 20000, 200000)),
}

# verb: what must be the same in every round, and what the row calls found
FOUND = {
    "pairs": lambda told: (told["hash"], told["pairs"]),
    "self": lambda told: (told["meshes"], sum(mesh["self_pairs"] for mesh in told["meshes"])),
    "check": lambda told: ([(pair["a"], pair["b"], pair["relation"], pair["hash"]) for pair in told["pairs"]], len(told["pairs"])),
}


def make(graze, family, size, folder):
    options, name, _, _, _ = FAMILIES[family]
    folder.mkdir()
    subprocess.run([graze, "make", *map(str, options(size)), "-q", "-o", folder / name], check=True,
                   stdout=subprocess.DEVNULL)


def measure(graze, family, folder, threads):
    """Processor seconds of the program, its phases, and its answer without them."""
    _, name, verb, _, _ = FAMILIES[family]
    out = folder / "out.json"
    command = [graze, verb, folder / name, "-q", "--threads", str(threads), "--format", "json", "-o", out]
    running = subprocess.Popen(command)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (0, 1):
        sys.exit(f"{family}: exit {running.returncode}")
    told = json.loads(out.read_text())
    answer, found = FOUND[verb](told)
    return used.ru_utime + used.ru_stime, [told["seconds"].get(key, 0.0) for key in PHASES], answer, found


def run(graze, family, arguments, folder):
    """Of every size: elements, what was found, the least processor time, the least time of each phase."""
    _, _, _, elements, sizes = FAMILIES[family]
    sizes = [size for size in sizes if elements(size) <= arguments.most]
    rows, answers = {}, {}
    for size in sizes:
        make(graze, family, size, folder / f"{family}-{size}")
    for turn in range(arguments.rounds):
        for size in sizes:
            used, phases, answer, found = measure(graze, family, folder / f"{family}-{size}", arguments.threads)
            if answers.setdefault(size, answer) != answer:
                sys.exit(f"{family} {size}: another answer in round {turn}")
            before = rows.get(size, (0, 0, [used, *phases]))[2]
            rows[size] = (elements(size), found, [min(pair) for pair in zip(before, [used, *phases])])
    return [rows[size] for size in sizes]


def exponent(points):
    """Slope of the least squares of log y over log x; None where there is nothing to fit."""
    logs = [(math.log(x), math.log(y)) for x, y in points if y > 0]
    if len(logs) < 2:
        return None
    mean_x, mean_y = (sum(axis) / len(logs) for axis in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def show(family, rows, out):
    print(f"{family:8}{'elements':>10} {'found':>10} {'processor':>10}" + "".join(f"{key:>10}" for key in PHASES))
    for n, found, seconds in rows:
        print(f"{'':8}{n:10} {found:10} " + "".join(f"{1e9 * s / n:10.1f}" for s in seconds))
        if out:
            out.write(f"{family},{n},{found}," + ",".join(f"{1e9 * s / n:.2f}" for s in seconds) + "\n")
    slopes = [exponent([(n, seconds[k]) for n, _, seconds in rows[1:]]) for k in range(1 + len(PHASES))]
    print(f"{'exponent':30}" + "".join(f"{'':>10}" if s is None else f"{s:10.2f}" for s in slopes))
    if out:
        out.write(f"{family},exponent,," + ",".join("" if s is None else f"{s:.3f}" for s in slopes) + "\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("graze", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=10**7)
    parser.add_argument("--only", choices=FAMILIES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=argparse.FileType("w"))
    arguments = parser.parse_args()
    if arguments.out:
        arguments.out.write("family,elements,found,processor_ns,load_ns,build_ns,query_ns\n")
    for family in [arguments.only] if arguments.only else FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            show(family, run(arguments.graze.resolve(), family, arguments, pathlib.Path(folder)), arguments.out)


if __name__ == "__main__":
    main()
