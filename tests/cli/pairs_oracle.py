#!/usr/bin/env python3
"""Every broad phase of `graze pairs`, and those of a device where there is one, against looking at each pair here, in
Python: seeded boxes on small grids (which touch a lot), with odd ids, as text and as binary. Then a file of real boxes
whose answer CGAL gave, where it is there.

    pairs_oracle.py --bin FOLDER [--shared FOLDER]
"""
import argparse
import json
import lzma
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MASK = (1 << 64) - 1


def hash_of(i, j):
    x = ((i << 32 | j) + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def meet(p, q):
    return all(p[k] <= q[3 + k] and q[k] <= p[3 + k] for k in range(3))


def make(seed):
    """Boxes by id, in the order of a file."""
    draw = random.Random(seed)
    grid = draw.choice([3, 8, 30])
    scale = draw.choice([1, 0.1, 1e-300, 1e300])
    boxes = {}
    for number in draw.sample(range(1 << 32), draw.choice([0, 1, 2, 60])):
        low = [draw.randrange(grid) for _ in range(3)]
        high = [c + draw.randrange(3) for c in low]
        boxes[number] = [scale * (c - grid // 2) for c in low + high]
    return boxes


def run(tool, method, path, extra=()):
    """`method` is a name, or "gpu NAME" for that of a device."""
    engine, name = method.split() if " " in method else ("cpu", method)
    done = subprocess.run([tool, "pairs", "--quiet", "--engine", engine, "--method", name, "--format", "json", *extra,
                           path], stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit(f"pairs_oracle.py: graze pairs {path} ended with {done.returncode}")
    return done.returncode, json.loads(done.stdout)


def check_seed(tool, method, seed, folder):
    boxes = make(seed)
    ids = sorted(boxes)
    wanted = [[i, j] for n, i in enumerate(ids) for j in ids[n + 1:] if meet(boxes[i], boxes[j])]
    text, binary = folder / "boxes.csv", folder / "boxes.gzb"
    text.write_text("id,minx,miny,minz,maxx,maxy,maxz\n"
                    + "".join(",".join(map(repr, [i, *box])) + "\n" for i, box in boxes.items()))
    binary.write_bytes(b"GRZBOX1\0" + struct.pack("<Q", len(boxes))
                       + b"".join(struct.pack("<Q6d", i, *box) for i, box in boxes.items()))
    for path in (text, binary):
        code, report = run(tool, method, path, ["--pairs"])
        right = (code == bool(wanted) and report["ids"] == wanted and report["pairs"] == len(wanted)
                 and report["n"] == len(boxes)
                 and report["hash"] == f"{sum(hash_of(i, j) for i, j in wanted) & MASK:016x}")
        if not right:
            sys.exit(f"pairs_oracle.py: {method} is wrong on {path.name} of seed {seed}: {report}, wanted {wanted}")


def check_real(tool, methods, shared, folder):
    source, truth = shared / "broadphase/32006GPUAABBs.txt.xz", shared / "truth/broadphase_boxes.csv"
    if not source.exists() or not truth.exists():
        print(f"skipped: no {source}")
        return
    wanted = next(row.split(",") for row in truth.read_text().splitlines() if ",double," in row)
    path = folder / "real.csv"
    lines = lzma.open(source, "rt").read().split("\n")
    path.write_text("".join(f"{i},{','.join(line.split())}\n" for i, line in enumerate(line for line in lines if line)))
    for method in methods:
        report = run(tool, method, path)[1]
        if [str(report["n"]), str(report["pairs"]), report["hash"]] != wanted[2:]:
            sys.exit(f"pairs_oracle.py: {method} is wrong on {source.name}: {report}")
    print(f"{source.name}: {len(methods)} methods")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--shared", type=Path)
    options = parser.parse_args()
    tool = options.bin.resolve() / "graze"
    listed = subprocess.run([tool, "pairs", "--method", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    methods = [line.split()[0] for line in listed.splitlines()]
    devices = subprocess.run([tool, "devices", "--format", "csv"], stdout=subprocess.PIPE, text=True)
    if devices.returncode == 0 and len(devices.stdout.splitlines()) > 1:
        methods += ["gpu grid", "gpu subdivision", "gpu tree"]
    with tempfile.TemporaryDirectory() as scratch:
        for method in methods:
            for seed in range(4 if " " in method else 25):
                check_seed(tool, method, seed, Path(scratch))
        print(f"{', '.join(methods)}: 25 seeds each, on a device 4")
        if options.shared:
            check_real(tool, methods, options.shared, Path(scratch))


if __name__ == "__main__":
    main()
