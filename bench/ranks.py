#!/usr/bin/env python3
"""What many ranks would take, simulated by `graze-mpi predict`: a wave and clusters, as many boxes a rank (weak) or in
all (strong), with noise and with ten times the latency.

usage: ranks.py GRAZE_MPI [--small] [--each N] [--steps N] [--only TEXT] [--out FILE]
       ranks.py GRAZE_MPI --weights
       ranks.py GRAZE_MPI --threads

Rows go to a CSV file, or to the output, as they are ready. `step_ms` is the median step of P ranks; `efficiency` is that
of the weak or strong scaling against one rank with N / P or all boxes, in per cent; `of_parts` is against what 16 of the
ranks take alone with their own boxes, in the mean. Boxes are dealt by place. Rows of the same boxes must have the same
answer, or the program ends with 1. The rows of 16,384 ranks take a quiet machine an hour, and 9 GB at most; clusters
have fewer boxes a rank there, as all boxes lie in memory.

With --weights: what a box and a pair take of a step's nanoseconds, on one rank and on two. Cubes of seven edges around
the same 65,536 points meet from a tenth of another one to twelve; the line through the least times of these is by least
squares. And what a box takes that is sent: of cubes that are dealt to eight ranks in no order. src/mpi/world.h counts
work by it.

With --threads: two ranks under mpiexec beside two threads of one, in turns, by the wall clock; not simulated."""
import argparse
import json
import os
import pathlib
import random
import struct
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
parser.add_argument("--each", type=int, help="boxes a rank of the weak rows, instead of 65,536")
parser.add_argument("--steps", type=int, help="steps of a row, instead of 5 or 13")
parser.add_argument("--only", default="", help="rows that have this text in their first columns, as `clusters,weak,1536`")
parser.add_argument("--weights", action="store_true", help="what a box, a pair and a box that is sent take")
parser.add_argument("--threads", action="store_true", help="two ranks beside two threads")
parser.add_argument("--out", help="file of the rows; not with --weights or --threads, which print them")
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
    for (kind, ranks), usual in sizes.items():
        each = asked.each or usual
        steps = asked.steps or (5 if ranks * each > 1 << 28 else 13)
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


def run(command):
    text = subprocess.run([asked.program, "predict", *command, "--steady", "--format", "json"], stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text)


def cubes(path, pairs):
    """65,536 cubes, each of which meets so many behind it, without those at the rim: n (2 e)^3 / 2 in a unit cube."""
    count, draw = 65536, random.Random(1)
    edge = (2 * pairs / count) ** (1 / 3) / 2
    with open(path, "wb") as file:
        file.write(b"GRZBOX1\0" + struct.pack("<Q", count))
        for i in range(count):
            at = [draw.random() for _ in range(3)]
            file.write(struct.pack("<Q6d", i, *at, *(x + edge for x in at)))
    return count


def weights(folder):
    for ranks in (1, 2):
        points = []
        for pairs in (0.1, 0.5, 1, 2, 4, 8, 12):
            path = pathlib.Path(folder) / "cubes.gzb"
            count = cubes(path, pairs)
            said = [run(["--ranks", str(ranks), "--deal", "place", "--repeat", "25", str(path)]) for _ in range(3)]
            points.append((said[0]["pairs"] / count, 1e9 * ranks / count * min(s["step_seconds"]["min"] for s in said)))
            print(f"{ranks} rank{'s'[:ranks - 1]}: {points[-1][0]:.3f} pairs a box, {points[-1][1]:.1f} ns a box", flush=True)
        middle, mean = (sum(p[k] for p in points) / len(points) for k in (0, 1))
        pair = sum((x - middle) * (y - mean) for x, y in points) / sum((x - middle) ** 2 for x, _ in points)
        print(f"{ranks} rank{'s'[:ranks - 1]}: a box {mean - pair * middle:.1f} ns, a pair {pair:.1f} ns")
    said = [run(["--ranks", "8", "--make", "uniform:524288", "--deal", deal, "--repeat", "13"]) for deal in ("place", "order")]
    travel, sent = (([s["critical_path"]["travel"] for s in said]), [s["sent_objects"] / 8 for s in said])
    print(f"a box that is sent: {1e9 * (travel[1] - travel[0]) / (sent[1] - sent[0]):.1f} ns, on the network too")


def threads():
    """The least and the median step of ten times 200."""
    os.environ.update(OMPI_MCA_mpi_yield_when_idle="1", HWLOC_COMPONENTS="-opencl,-gl")
    print("status,boxes,rounds,ranks_ms,ranks_median_ms,threads_ms,threads_median_ms,threads_over_ranks")
    for boxes in (16384, 65536):
        common, said = ["pairs", "--make", f"wave:{boxes}", "--repeat", "200", "--format", "json"], ([], [])
        for _ in range(10):
            for kind, command in enumerate((["mpiexec", "--quiet", "-n", "2", asked.program, *common], [asked.program, *common, "--threads", "2"])):
                said[kind].append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout))
        if len({(s["pairs"], s["hash"]) for kind in said for s in kind}) != 1:
            sys.exit("ranks and threads do not agree on the answer")
        times = [[1e3 * min(s["mpi"]["step_seconds"][word] for s in kind) for word in ("min", "median")] for kind in said]
        print(f"measured,{boxes},10,{times[0][0]:.4f},{times[0][1]:.4f},{times[1][0]:.4f},{times[1][1]:.4f},{times[1][0] / times[0][0]:.3f}", flush=True)


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
    if asked.threads:
        return threads()
    if asked.weights:
        with tempfile.TemporaryDirectory() as folder:
            return weights(folder)
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
