#!/usr/bin/env python3
"""What many ranks would take, simulated by `graze-mpi predict`: a wave and clusters, as many boxes a rank (weak) or in
all (strong), with noise and with ten times the latency.

usage: ranks.py GRAZE_MPI [--small] [--only TEXT] [--out FILE]

Rows go to a CSV file, or to the output, as they are ready. `step_ms` is the median step of P ranks; `efficiency` is that
of the weak or strong scaling against one rank with N / P or all boxes, in per cent; `of_parts` is against what 16 of the
ranks take alone with their own boxes, in the mean. Boxes are dealt by place. Rows of the same boxes must have the same
answer, or the program ends with 1. The rows of 16,384 ranks take a quiet machine an hour, and 9 GB at most; clusters
have fewer boxes a rank there, as all boxes lie in memory."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

NETWORK = pathlib.Path(__file__).parent / "networks" / "red_storm.txt"
COLUMNS = ("status,kind,scaling,ranks,boxes_a_rank,noise_percent,latency_us,step_ms,efficiency,of_parts,baseline_ms,parts_ms,travel_ms,search_ms,"
           "network_ms,plan_ms,received_mean,received_most,work_most_over_mean,pairs,hash,steps,megabytes,seconds")

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--small", action="store_true", help="64 to 1,024 ranks: ten minutes")
parser.add_argument("--only", default="", help="rows that have this text in their first columns, as `clusters,weak,1536`")
parser.add_argument("--out", help="file of the rows")
asked = parser.parse_args()
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
answers = {}


def rows():
    """kind, scaling, ranks, boxes, noise in per cent, times the latency, steps"""
    if asked.small:
        sizes = {("wave", 64): 65536, ("wave", 256): 65536, ("wave", 1024): 16384, ("clusters", 64): 65536, ("clusters", 256): 65536,
                 ("clusters", 1024): 16384}
        strong = 4194304
    else:
        sizes = {("wave", 1536): 65536, ("wave", 16384): 65536, ("clusters", 1536): 65536, ("clusters", 16384): 8192}
        strong = 16777216
    for (kind, ranks), each in sizes.items():
        steps = 5 if ranks * each > 1 << 28 else 13
        for noise, latency in (0, 1), (2, 1), (5, 1), (0, 10):
            yield kind, "weak", ranks, ranks * each, noise, latency, steps
        yield kind, "strong", ranks, strong, 0, 1, steps


def slower(folder, factor):
    """The network with so many times the latency, in a file."""
    out = []
    for line in NETWORK.read_text().splitlines():
        word, *rest = line.split()
        out.append(f"latency {float(rest[0]) * factor!r}" if word == "latency" else f"name Red Storm, latency x{factor}" if word == "name" else line)
    path = pathlib.Path(folder) / "slower.txt"
    path.write_text("\n".join(out) + "\n")
    return path


def predict(folder, kind, scaling, ranks, boxes, noise, latency, steps):
    command = [asked.program, "predict", "--ranks", str(ranks), "--make", f"{kind}:{boxes}", "--deal", "place", "--steady", "--repeat", str(steps),
               "--noise", str(noise), "--network", slower(folder, latency), "--format", "json", *(["--weak"] if scaling == "weak" else [])]
    start = time.monotonic()
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = running.stdout.read()
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (0, 1):
        sys.exit(f"{command}: exit {running.returncode}")
    return json.loads(text), used.ru_maxrss / 1024, time.monotonic() - start


def row(said, kind, scaling, ranks, boxes, noise, latency, steps, megabytes, seconds):
    path, spread, parts = said["critical_path"], said["per_rank"], said.get("parts")
    each = said["n"] / ranks
    cells = [said["status"], kind, scaling, ranks, round(each), noise, 5 * latency, f"{1e3 * said['step_seconds']['median']:.4f}",
             f"{100 * said['efficiency']:.1f}", f"{100 * parts['efficiency']:.1f}" if parts else "", f"{1e3 * said['baseline_seconds']:.4f}",
             f"{1e3 * parts['mean_seconds']:.4f}" if parts else ""]
    cells += [f"{1e3 * path.get(phase, 0):.4f}" for phase in ("travel", "search", "network", "plan")]
    cells += [f"{spread['received'][1] / each:.3f}", f"{spread['received'][2] / each:.3f}", f"{spread['work'][2] / spread['work'][1]:.3f}",
              said["pairs"], said["hash"], steps, round(megabytes), round(seconds)]
    return ",".join(map(str, cells))


def main():
    out = open(asked.out, "w", buffering=1) if asked.out else sys.stdout
    print(COLUMNS, file=out, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for what in rows():
            if asked.only not in ",".join(map(str, what)):
                continue
            said, megabytes, seconds = predict(folder, *what)
            print(row(said, *what, megabytes, seconds), file=out, flush=True)
            kind, _, _, boxes = what[:4]
            if answers.setdefault((kind, boxes), (said["pairs"], said["hash"])) != (said["pairs"], said["hash"]):
                sys.exit(f"{kind}:{boxes}: ranks do not agree on the answer")


main()
