#!/usr/bin/env python3
"""What `graze-mpi predict` is worth: a table of what it says beside what was measured or published.

usage: evidence.py GRAZE_MPI [--smpi PROGRAM] [--only PART] [--short] [--rounds N] [--out FILE]

  trace   messages of real ranks under mpiexec (measured: how many) and simulated ones, line by line; `off` is the share
          of lines that are not in both
  step    the least step of as many ranks as there are cores, and the least that is predicted. The baseline is one rank
          on each core at the same time, as much as each of the ranks has
  smpi    the least step under SimGrid's SMPI, a simulator of others: PROGRAM is what bench/smpi/build.sh makes
  paper   Lawlor and Kale, A Voxel-Based Parallel Collision Detection Algorithm, ICS 2002. The speed of their processors
          is fitted to the time of one; what it is then on many is predicted

Runs take turns, `--rounds` times each, and the least counts. Times are seconds, `off` is predicted / measured - 1 in per
cent. Ends with 1 if a trace or an answer differs."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
COLUMNS = "status,part,what,ranks,boxes,measured,predicted,off_percent,remark"

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--smpi", help="graze-mpi as bench/smpi/build.sh makes it")
parser.add_argument("--only", default="", help="parts, as `trace,paper`")
parser.add_argument("--short", action="store_true", help="without the 1,500 processors of the paper: 20 minutes less")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--out", help="file of the rows")
asked = parser.parse_args()
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", HWLOC_COMPONENTS="-opencl,-gl",
                  OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")
out = open(asked.out, "w", buffering=1) if asked.out else sys.stdout
failed = False


def row(part, what, ranks, boxes, measured, predicted, off, remark):
    print(",".join(map(str, ("simulated", part, what, ranks, boxes, measured, predicted, f"{off:.1f}", remark))), file=out, flush=True)


def run(command):
    """Ends with 0 or 1; the JSON that it printed. None: `timeout` ended it, with all that it had started."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 124:
        return None
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return json.JSONDecoder().raw_decode(done.stdout, done.stdout.index("{"))[0]


def same_answer(what, said, other):
    global failed
    if (said["pairs"], said["hash"]) != (other["pairs"], other["hash"]):
        print(f"{what}: not the same answer", file=sys.stderr)
        failed = True


def predict(ranks, make, *options):
    return run([asked.program, "predict", "--ranks", ranks, "--make", make, "--format", "json", *options])


def traces(folder):
    global failed
    for kind, placement in (("wave", "curve"), ("clusters", "curve"), ("clusters", "directory")):
        for ranks in (2, 4, 7, 16):
            files, make = [pathlib.Path(folder) / name for name in ("real", "simulated")], f"{kind}:{ranks * 2000}"
            common = ["--make", make, "--placement", placement, "--repeat", 4, "--format", "json", "--trace"]
            real = run(["mpiexec", "--quiet", "-n", ranks, asked.program, "pairs", *common, files[0]])
            said = run([asked.program, "predict", "--ranks", ranks, *common, files[1]])
            same_answer(make, real, said)
            lines = [file.read_text().splitlines()[1:] for file in files]
            off = sum(a != b for a, b in zip(*lines)) + abs(len(lines[0]) - len(lines[1]))
            failed |= off > 0 or len(lines[0]) == 0
            row("trace", f"messages of {kind} by {placement}", ranks, real["n"], len(lines[0]), len(lines[1]), 100 * off / len(lines[0]),
                "4 steps; round; sender; receiver and bytes of each")


def least(say):
    return say.get("mpi", say)["step_seconds"]["min"]


def busy_baseline(cores, make):
    """The least step of one rank while every core has one."""
    command = [asked.program, "pairs", "--make", make, "--repeat", "200", "--format", "json"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(cores)]
    return min(least(json.loads(one.communicate()[0])) for one in running)


def steps():
    cores = len(os.sched_getaffinity(0))
    for each in (8192, 32768):
        make, real, said, base, alone = f"wave:{cores * each}", [], [], [], []
        for _ in range(asked.rounds):
            real.append(run(["mpiexec", "--quiet", "-n", cores, asked.program, "pairs", "--make", make, "--repeat", 200, "--format", "json"]))
            said.append(predict(cores, make, "--repeat", 200))
            base.append(busy_baseline(cores, f"wave:{each}"))
            alone.append(predict(1, f"wave:{each}", "--repeat", 200))
            same_answer(make, real[-1], said[-1])
        measured, predicted = min(map(least, real)), min(map(least, said))
        row("step", "seconds of a step", cores, real[0]["n"], measured, predicted, 100 * (predicted / measured - 1), "least of all rounds")
        one, busy = min(map(least, alone)), min(base)
        row("step", "times that of one rank", cores, real[0]["n"], f"{measured / busy:.3f}", f"{predicted / one:.3f}",
            100 * ((predicted / one) / (measured / busy) - 1), f"one rank with the other cores as busy {busy} s; predicted {one} s")


def simgrid(folder):
    hosts = pathlib.Path(folder) / "hosts"
    hosts.write_text("".join(f"n{i}\n" for i in range(256)))
    for ranks, each in ((16, 16384), (64, 16384), (256, 4096)):
        make, real, said, endless = f"wave:{ranks * each}", [], [], 0
        command = ["timeout", 50, "smpirun", "-np", ranks, "-platform", HERE / "smpi" / "red_storm.xml", "-hostfile", hosts,
                   "--cfg=smpi/host-speed:1e9", "--cfg=smpi/iprobe:1e-6", "--cfg=smpi/test:1e-6", "--log=root.thres:error",
                   os.path.abspath(asked.smpi), "pairs", "--make", make, "--repeat", 4, "--format", "json"]
        for _ in range(asked.rounds):
            found = run(command)
            if found is None:
                endless += 1
                continue
            real.append(found)
            said.append(predict(ranks, make, "--repeat", 4))
            same_answer(make, real[-1], said[-1])
        if not real:
            print(f"{ranks} ranks: no run under SMPI ended", file=sys.stderr)
            continue
        measured, predicted = min(map(least, real)), min(map(least, said))
        row("smpi", "seconds of a step", ranks, real[0]["n"], measured, predicted, 100 * (predicted / measured - 1),
            f"least of {len(real)} runs; {endless} more did not end; SMPI asks for messages every microsecond")


def network(folder, factor):
    """That of Red Storm, faster by this factor: then all times are, which a slow processor takes with Red Storm's."""
    path = pathlib.Path(folder) / "network.txt"
    lines = (HERE / "networks" / "red_storm.txt").read_text().splitlines()
    path.write_text("\n".join(re.sub(r"^(latency|overhead|gap|gap_per_byte)\s+(\S+).*", lambda m: f"{m[1]} {float(m[2]) / factor!r}", line)
                              for line in lines) + "\n")
    return path


def paper(folder):
    for search in ("auto", "bisection"):  # one rank that does not search has nothing to do
        common = ["--search", search, "--deal", "place", "--repeat", 4, "--steady"]
        for what, fit, count, ranks, boxes, published in (("65536 on each of 1500 processors", 0.44, 65536, 1500, 98304000, 0.73),
                                                          ("300000 on 32 Origin processors", 3.132, 871414, 32, 300000, 0.030)):
            if ranks > 1000 and (asked.short or search == "bisection"):
                continue
            one = predict(1, f"wave:{count}", *common)
            factor = fit / one["step_seconds"]["median"]
            said = predict(ranks, f"wave:{boxes}", *common, *(["--weak"] if ranks > 1000 else []), "--network", network(folder, factor))
            seconds = said["step_seconds"]["median"] * factor
            row("paper", what, ranks, said["n"], published, f"{seconds:.4f}", 100 * (seconds / published - 1),
                f"search {search}; fitted: {fit} s for {count} on one; {factor:.0f} times ours")


def main():
    if pathlib.Path(asked.program).name == asked.program:
        sys.exit("the program is a path")
    print(COLUMNS, file=out, flush=True)
    wanted = asked.only.split(",") if asked.only else ["trace", "step", "smpi", "paper"]
    with tempfile.TemporaryDirectory() as folder:
        if "trace" in wanted:
            traces(folder)
        if "step" in wanted:
            steps()
        if "smpi" in wanted and asked.smpi:
            simgrid(folder)
        if "paper" in wanted:
            paper(folder)
    sys.exit(failed)


main()
