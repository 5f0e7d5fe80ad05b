#!/usr/bin/env python3
"""graze-mpi against graze: the same bytes for any number of ranks, and the same words when something is wrong.

A job takes half a second to start and, where it ends with another code than 0, a second to end; so each shows several
things, and some are left to the long form.

    mpi_ranks.py --bin FOLDER --mpiexec PROGRAM [--long]
"""
import argparse
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

asked = argparse.ArgumentParser()
asked.add_argument("--bin", required=True)
asked.add_argument("--mpiexec", required=True)
asked.add_argument("--long", action="store_true")
asked = asked.parse_args()
graze, graze_mpi = (os.path.join(os.path.abspath(asked.bin), name) for name in ("graze", "graze-mpi"))
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"  # of reports
failures = 0


def fail(words):
    global failures
    failures += 1
    print("FAILED:", words)


def check(good, words):
    if not good:
        fail(words)


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


def ranks(n, *arguments, quiet=True):
    return run([asked.mpiexec] + (["--quiet"] if quiet else []) + ["-n", str(n), graze_mpi, *arguments])


def write_boxes(path, boxes):
    with open(path, "wb") as out:
        out.write(b"GRZBOX1\0" + struct.pack("<Q", len(boxes)))
        for number, box in boxes:
            out.write(struct.pack("<Q6d", number, *box))


def read_boxes(path):
    data = open(path, "rb").read()
    rows = struct.iter_unpack("<Q6d", data[16:])
    return [(row[0], row[1:]) for row in rows]


def pairs_of(text):
    return [tuple(map(int, line.split(","))) for line in text.splitlines()[1:]]


def make(kind, size, step=0):
    path = f"{kind}{step}.gzb"
    run([graze, "make", "boxes", "--kind", kind, "--size", str(size), "--step", str(step), "--speed", "0.2", "-o", path])
    return path


def shuffled(path):
    boxes = read_boxes(path)
    random.Random(1).shuffle(boxes)
    write_boxes("shuffled_" + path, boxes)
    return "shuffled_" + path


def answers(numbers):
    """Three files as steps of one world, the last one listed; then made by the ranks."""
    paths = [make("wave", 3000), shuffled(make("mixed", 3000)), make("clusters", 3000)]
    want = [json.loads(run([graze, "pairs", "--format", "json", "--pairs", path]).stdout) for path in paths]
    for n in numbers:
        answer = ranks(n, "pairs", "--format", "json", "--pairs", *paths)
        result = json.loads(answer.stdout)
        check(answer.returncode == 1 and answer.stderr == "", f"{n} ranks: {answer.stderr}")
        for step, right in zip(result["steps"], want):
            check(all(step[key] == right[key] for key in ("n", "pairs", "hash")), f"{n} ranks: other pairs")
        check(result["ids"] == want[2]["ids"], f"{n} ranks: another list")
        check(result["engine"] == "mpi" and result["ranks"] == n and result["status"] == "complete", "keys")
    for kind in ("clusters", "mixed", "wave") if asked.long else ("clusters",):
        path = make(kind, 3000)
        text = run([graze, "pairs", "--format", "csv", path]).stdout
        check(ranks(3, "pairs", "--format", "csv", "--make", f"{kind}:3000").stdout == text, f"--make {kind}")


def facts():
    found = ranks(3, "pairs", "--format", "json", "--repeat", "4", "--voxel", "3", "--deliver", "owners", make("wave", 3000))
    mpi = json.loads(found.stdout)["mpi"]
    check(mpi["voxel"] == 4 and mpi["reason"] == "asked for" and mpi["placement"] == "curve", "voxel")
    check(mpi["sent_objects"] <= 3 * 3000 and mpi["messages"] > 0 and mpi["bytes_sent"] > 0, "traffic")
    check(0 < mpi["step_seconds"]["min"] <= mpi["step_seconds"]["median"], "seconds")
    for key in ("objects", "received", "pairs", "work", "bytes"):
        least, mean, most = mpi["per_rank"][key]
        check(0 <= least <= mean <= most, key)
    want = json.loads(run([graze, "pairs", "--format", "json", "wave0.gzb"]).stdout)
    if asked.long:
        got = json.loads(ranks(2, "pairs", "--format", "json", "--search", "bisection", "wave0.gzb").stdout)
        check(got["hash"] == want["hash"], "bisection")
    timed = run([graze_mpi, "pairs", "--format", "json", "--search", "none", "wave0.gzb"])
    said = json.loads(timed.stdout)
    check(timed.returncode == 3 and said["status"] == "not searched" and "pairs" not in said and "hash" not in said, "none")
    alone = run([graze_mpi, "pairs", "wave0.gzb"])
    check(alone.returncode == 1 and want["hash"] in alone.stdout, "without mpiexec")


def groups():
    boxes = read_boxes(make("mixed", 2000))
    group = [random.Random(i).choice([0, 1, 2, 0xFFFFFFFF]) for i in range(len(boxes))]
    open("groups", "wb").write(struct.pack(f"<{len(group)}I", *group))
    whole = pairs_of(run([graze, "pairs", "--format", "csv", "mixed0.gzb"]).stdout)
    want = [(a, b) for a, b in whole if group[a] != group[b] or group[a] == 0xFFFFFFFF]
    got = ranks(3, "pairs", "--format", "csv", "--groups", "groups", "mixed0.gzb")
    check(pairs_of(got.stdout) == want and len(want) < len(whole), "groups")
    if not asked.long:
        return
    open("groups", "ab").write(b"x")
    got = run([graze_mpi, "pairs", "--groups", "groups", "mixed0.gzb"])
    check(got.returncode == 3 and "groups: 8001 bytes, where 2000 boxes need 4 each" in got.stderr, "groups of a wrong size")


def steps():
    paths = [make("uniform", 2000, step) for step in (0, 3, 6)] + ["uniform0.gzb"]
    result = ranks(4, "pairs", "--placement", "directory", "--format", "json", *paths)
    mpi = json.loads(result.stdout)["mpi"]
    check(mpi["placement"] == "directory" and 0 <= mpi["places"]["asked"] <= mpi["places"]["used"], "places")
    before = set()
    for path, told in zip(paths, json.loads(result.stdout)["steps"]):
        now = set(pairs_of(run([graze, "pairs", "--format", "csv", path]).stdout))
        check(told["pairs"] == len(now) and told["n"] == 2000, "pairs of a step")
        check(told["began"] == len(now - before) and told["persist"] == len(now & before), "events of a step")
        check(told["ended"] == len(before - now), "ended of a step")
        before = now


def crumpled(path, seed, side):
    """A sheet whose corners are moved about, so that it crosses itself here and there, with triangles twice and flat ones."""
    chance = random.Random(seed)
    with open(path, "w") as out:
        for i in range(side * side):
            out.write("v %r %r %r\n" % (i % side + chance.uniform(-1, 1), i // side + chance.uniform(-1, 1), chance.uniform(-0.3, 0.3)))
        for i in range(1, side * (side - 1)):
            if i % side > 0:
                out.write(f"f {i} {i + 1} {i + side}\nf {i + 1} {i + side + 1} {i + side}\n" + f"f {i} {i + 1} {i + 1}\n" * (i % 50 == 0))


def selves():
    """Several meshes, two of a name, with their lists; the faults of a file in the words of graze."""
    os.makedirs("again", exist_ok=True)
    names = ["sheet.obj", "tiny.stl", "again/sheet.obj"]
    crumpled(names[0], 1, 40)
    crumpled(names[2], 2, 9)
    open(names[1], "w").write("solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid t\n")
    want = json.loads(run([graze, "self", "--format", "json", "--pairs", *names]).stdout)
    got = ranks(3, "self", "--format", "json", "--pairs", "--trace", "trace.csv", *names)
    result = json.loads(got.stdout)
    check(got.returncode == 1 and result["meshes"] == want["meshes"], f"self: {got.stderr}")
    check(got.stderr == "graze-mpi self: tiny.stl: read by rank 0 alone; binary STL and PLY, GLB and OBJ are read by all\n", got.stderr)
    check(want["meshes"][0]["self_pairs"] > 0 and want["meshes"][0]["degenerate_pairs"] > 0, "the sheet is too smooth")
    check(result["ranks"] == 3 and result["engine"] == "mpi" and result["mpi"]["placement"] == "curve", "keys of self")
    for how in ("csv", "text") if asked.long else ("text",):
        want, got = (run([program, "self", "--pairs", "--format", how, *names]).stdout.splitlines() for program in (graze, graze_mpi))
        check(len(got) > 1000 and want[:-1] == got[:-1] and (how == "text" or want == got), f"self as {how}")
    open("bad.obj", "w").write("v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n")
    open("hollow.obj", "w").write("v 0 0 0\n")
    for arguments in [[names[0], "bad.obj"], ["bad.obj", "hollow.obj"], ["hollow.obj"], ["hollow.obj", "--allow-empty"]] + [["nothing.obj"], ["--strict", "bad.obj"], [], ["--threads", "x", "bad.obj"]] * asked.long:
        want, got = (run([program, "self", *arguments]) for program in (graze, graze_mpi))
        check(want.returncode == got.returncode and got.stderr.replace("graze-mpi", "graze") == want.stderr, f"{arguments}: {got.stderr}")


def sliced():
    """Files that ranks read in slices, into lists that they write in parts; faults and warnings of a part behind others."""
    chance, side = random.Random(4), 30
    points = [(i % side + chance.uniform(-1, 1), i // side + chance.uniform(-1, 1), chance.uniform(-0.3, 0.3)) for i in range(side * side)]
    faces = [t for i in range(1, side * (side - 1)) if i % side for t in ((i - 1, i, i + side - 1), (i, i + side, i + side - 1))]
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\nproperty double x\nproperty double y\nproperty double z\n" \
           f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    whole = {"s.obj": "".join("v %r %r %r\n" % p for p in points).encode() + "".join("f %d %d %d\n" % tuple(k + 1 for k in t) for t in faces).encode(),
             "s.stl": b"\0" * 80 + struct.pack("<I", len(faces)) + b"".join(
                 struct.pack("<12fH", 0, 0, 0, *(x for k in t for x in points[k]), 0) for t in faces),
             "s.ply": head.encode() + b"".join(struct.pack("<3d", *p) for p in points) + b"".join(struct.pack("<B3i", 3, *t) for t in faces)}
    for name, data in whole.items():
        open(name, "wb").write(data)
    run([graze, "make", "plant", "--size", "20", "-o", "s.glb"])
    for form, name in (("csv", "s.obj"),) + (("json", "s.stl"), ("text", "s.ply"), ("csv", "s.glb"), ("json", "s.obj")) * asked.long:
        want = run([graze, "self", "--pairs", "--format", form, name, "-o", "want.txt"])
        got = ranks(3, "self", "--pairs", "--format", form, name, "-o", "got.txt")
        check(got.returncode == want.returncode == 1 and got.stderr == "", f"{name}: {got.stderr}")
        want, got = open("want.txt").read(), open("got.txt").read()
        if form == "json":
            want, got = (str(json.loads(text)["meshes"]) for text in (want, got))
        lines = -1 if form == "text" else None
        check(len(want) > 2000 and want.splitlines()[:lines] == got.splitlines()[:lines], f"{name} as {form}")
    bad = bytearray(whole["s.stl"])
    struct.pack_into("<f", bad, 84 + 50 * 1500 + 16, float("nan"))
    struct.pack_into("<f", bad, 84 + 50 * 1600 + 16, float("inf"))
    open("bad.stl", "wb").write(bad)
    open("odd.obj", "wb").write(whole["s.obj"] + b"thing 1\nf 1 2 99999\nthing 2\n")
    open("good.obj", "wb").write(whole["s.obj"] + b"thing 1\nthing 2\n")
    for name, code in (("odd.obj", 3),) + (("bad.stl", 3), ("good.obj", 1)) * asked.long:
        want, got = run([graze, "self", name]), ranks(3, "self", name)
        check(got.returncode == want.returncode == code and got.stderr.replace("graze-mpi", "graze") == want.stderr != "", f"{name}: {got.stderr}")


def parts():
    """Lists written in parts, and in turn where a rank does not see the file: the same bytes."""
    path = os.path.abspath(make("clusters", 2000))
    for folder in ("one", "two"):
        os.mkdir(folder)
    want = run([graze, "pairs", "--format", "csv", path]).stdout
    got = ranks(5, "pairs", "--format", "csv", "-o", "parts.csv", path)
    check(got.returncode == 1 and open("parts.csv").read() == want, "a list in parts")
    work = [graze_mpi, "pairs", "--format", "csv", "-o", "list.csv", path]
    got = run([asked.mpiexec, "--quiet", "-n", "1", "-wdir", os.path.abspath("one"), *work, ":",
               "-n", "1", "-wdir", os.path.abspath("two"), *work])
    check(got.returncode == 1 and open("one/list.csv").read() == want and os.listdir("two") == [], "a list that one rank writes")


def checks():
    """A plant whose parts are files: the record of graze, whoever read what."""
    run([graze, "make", "plant", "--size", "30", "-o", "plant"])
    rows = ["--format", "json", "--pairs", "--curves", "--clearance", "0.05", "plant/scene.json"]
    want, got = json.loads(run([graze, "check", *rows]).stdout), ranks(3, "check", *rows)
    result = json.loads(got.stdout)
    check(got.returncode == 1 and got.stderr == "" and result["engine"] == "mpi" and result["ranks"] == 3, f"check: {got.stderr}")
    for key in set(want) - {"engine", "seconds", "created"}:
        check(result[key] == want[key], f"check: other {key}")
    facts = result["mpi"]["per_rank"]
    check(len(want["pairs"]) > 50 and facts["pairs"][0] > 0 and facts["objects"][2] < 60 and result["mpi"]["bytes_sent"] > 0, "check: who did what")
    got = run([graze_mpi, "check", "--report", "report", "plant/scene.json"])
    check(got.returncode == 2 and "--report is for `graze check'" in got.stderr, "a report of ranks")
    if not asked.long:
        return
    shutil.copytree("plant", "other")
    name = want["objects"][3]["mesh"]
    program = os.path.abspath(graze_mpi)
    for words, damage in ((": is another file than that of rank 0", lambda path: open(path, "a").write("# x\n")),
                          (": cannot open: No such file or directory", os.remove)):
        damage(os.path.join("other", os.path.basename(name)))
        got = run([asked.mpiexec, "--quiet", "-n", "1", "-wdir", os.path.abspath("plant"), program, "check", "scene.json", ":",
                   "-n", "1", "-wdir", os.path.abspath("other"), program, "check", "scene.json"])
        check(got.returncode == 3 and got.stderr == f"graze-mpi check: rank 1: {os.path.basename(name)}{words}\n", got.stderr)
    want, got = run([graze, "check", "other/scene.json"]), ranks(3, "check", "other/scene.json")
    check(got.returncode == 3 and got.stderr.replace("graze-mpi", "graze") == want.stderr, got.stderr)


def wide_ids():
    boxes = [(number << 35 | 5, box) for number, box in read_boxes(make("uniform", 500))]
    want = [(a << 35 | 5, b << 35 | 5) for a, b in pairs_of(run([graze, "pairs", "--format", "csv", "uniform0.gzb"]).stdout)]
    random.Random(2).shuffle(boxes)
    write_boxes("wide.gzb", boxes)
    check(pairs_of(ranks(3, "pairs", "--format", "csv", "wide.gzb").stdout) == want, "ids of 64 bits")


def bad_files():
    """Exit 3, one line, and the words of graze."""
    good = read_boxes(make("uniform", 400))
    nan, turned, twice = list(good), list(good), list(good)
    nan[250] = (250, (0, 0, float("nan"), 1, 1, 1))
    nan[390] = (390, (0, 0, float("inf"), 1, 1, 1))
    turned[7] = (7, (0, 5, 0, 1, 4, 1))
    twice[350] = (20, good[350][1])
    for name, boxes in (("nan.gzb", nan), ("turned.gzb", turned), ("twice.gzb", twice)):
        write_boxes(name, boxes)
    open("short.gzb", "wb").write(open("uniform0.gzb", "rb").read()[:-9])
    open("rows.csv", "w").write("1,0,0,0,1,1,1\n2,0,0,0,1,1\n")
    for name in ["nan.gzb", "twice.gzb"] + ["turned.gzb", "short.gzb", "rows.csv", "nothing.gzb"] * asked.long:
        want = run([graze, "pairs", name])
        got = ranks(3, "pairs", "-o", "answer.txt", name)
        words = want.stderr.replace("graze pairs", "graze-mpi pairs")
        check(got.returncode == 3 == want.returncode and got.stderr == words, f"{name}: {got.stderr!r}, not {words!r}")
        check(not os.path.exists("answer.txt"), f"{name}: an answer")


def other_files():
    """Ranks that see different files, or none."""
    for folder in ("here", "there", "nowhere"):
        os.mkdir(folder)
    os.rename(make("uniform", 400), "here/boxes.gzb")
    os.rename(make("uniform", 500), "there/boxes.gzb")
    for first, second, words in (("here", "there", "rank 1: boxes.gzb: is another file than that of rank 0"),
                                 ("here", "nowhere", "rank 1: boxes.gzb: cannot open: No such file or directory"),
                                 ("nowhere", "here", "rank 0: boxes.gzb: cannot open: No such file or directory")):
        got = run([asked.mpiexec, "--quiet", "-n", "1", "-wdir", os.path.abspath(first), graze_mpi, "pairs", "boxes.gzb", ":",
                   "-n", "1", "-wdir", os.path.abspath(second), graze_mpi, "pairs", "boxes.gzb"])
        check(got.returncode == 3 and got.stderr == f"graze-mpi pairs: {words}\n", got.stderr)


def usage():
    for arguments, words in ([(["--placement", "heap", "x"], "--placement: 'heap' is none of curve, directory")] + [
                             (["--patience", "0", "x"], "--patience: 0 is out of range"),
                             (["--predict", "x"], "unrecognized option '--predict'"),
                             ([], "a file of boxes is needed"),
                             (["--make", "cheese:7"], "no boxes of the kind 'cheese'")] * asked.long):
        got = run([graze_mpi, "pairs", *arguments]) if "heap" not in arguments else ranks(2, "pairs", *arguments)
        check(got.returncode == 2 and got.stderr.count(words) == 1, f"{arguments}: {got.stderr}")
    got = run([graze_mpi, "fly", "mesh.obj"])
    check(got.returncode == 2 and got.stderr == "graze-mpi: no such verb: fly; `graze-mpi --help' lists the verbs\n", "verb")
    check(run([graze_mpi, "--version"]).stdout.startswith("graze-mpi "), "--version")
    check(run([graze_mpi, "pairs", "--help"]).stdout.count("Usage:") == 1, "--help")
    got = run([graze, "pairs", "--engine", "mpi", "x"])
    check(got.returncode == 3 and "mpiexec -n P graze-mpi pairs" in got.stderr, "graze --engine mpi")


def traced():
    """Every message is in the trace, one a round and pair of ranks; and an example on several ranks says what it says alone."""
    got = ranks(4, "pairs", "--format", "json", "--trace", "trace.csv", "--repeat", "3", "--make", "uniform:5000")
    lines = [tuple(map(int, line.split(","))) for line in open("trace.csv").read().splitlines()[1:]]
    mpi = json.loads(got.stdout)["mpi"]
    last = [line for line in lines if line[0] == 2]
    check(lines == sorted(set(lines)) and len({line[:3] for line in lines}) == len(lines), "a trace in order")
    check(len(last) == mpi["messages"] and sum(line[3] for line in last) == mpi["bytes_sent"], "the traffic of a trace")
    predicted = run([graze_mpi, "predict", "--ranks", "4", "--format", "json", "--trace", "predicted.csv", "--repeat", "3", "--make", "uniform:5000"])
    said = json.loads(predicted.stdout)
    check(open("predicted.csv").read() == open("trace.csv").read(), "a prediction sends other messages than ranks do")
    check(predicted.returncode == 1 and said["hash"] == json.loads(got.stdout)["hash"] and said["status"] == "simulated", "a prediction's answer")
    check(said["ranks"] == said["sampled_ranks"] == 4 and said["baseline_ranks"] == 1 and said["efficiency"] > 0, "keys of a prediction")
    check(0 < said["step_seconds"]["min"] <= said["step_seconds"]["median"] and {"travel", "search", "network"} <= set(said["critical_path"]), "times of a prediction")
    for kind in ("wave:20000", "clusters:5000"):
        got = {how: json.loads(run([graze_mpi, "predict", "--ranks", "7", "--format", "json", "--repeat", "3", "--deal", how, "--make", kind, *more]).stdout)
               for how, more in (("order", []), ("place", ["--weak", "--steady"]))}
        order, place = got["order"], got["place"]
        check(all(order[key] == place[key] for key in ("n", "pairs", "hash")), f"{kind} dealt by place: another answer")
        check(place["sent_objects"] < order["sent_objects"] and (place["deal"], order["deal"]) == ("place", "order"), f"{kind} dealt by place: travel")
        check(place["baseline_n"] < order["baseline_n"] == order["n"] and place["parts"]["ranks"] == 7 and "parts" not in order, f"{kind}: baselines")
        check(place["parts"]["mean_seconds"] <= place["parts"]["most_seconds"] and place["steady"] and place["per_rank"]["objects"][0] > 0, f"{kind}: parts")
    for words in (["--weak", "few.gzb"], ["--deal", "heap", "--make", "wave:8"]):
        check(run([graze_mpi, "predict", "--ranks", "2", *words]).returncode == 2, f"{words}")
    open("slow.txt", "w").write("name slow  # but sure\nlatency 1\noverhead 0x1p-2\n")
    open("bad.txt", "w").write("latency 1\n\nspeed 3\n")
    for name, code, words in (("slow.txt", 1, ""), ("bad.txt", 3, "bad.txt:3: unknown key 'speed'"), ("no.txt", 3, "no.txt: cannot open")) if asked.long else ():
        run([graze, "make", "boxes", "--kind", "uniform", "--size", "200", "-o", "few.gzb"])
        slow = run([graze_mpi, "predict", "--ranks", "3", "--repeat", "2", "--network", name, "few.gzb"])
        check(slow.returncode == code and words in slow.stderr and (code != 1 or ", network slow, " in slow.stdout.replace("; ", ", ")), f"{name}: {slow.stderr}")
    example = os.path.join(os.path.dirname(graze), "solver_ranks")
    if os.path.exists(example):
        several = run([asked.mpiexec, "-n", "3", example])
        check(several.stdout == run([example]).stdout != "" and several.returncode == 0, "the example")


def children(process):
    return [int(n) for n in os.listdir("/proc") if n.isdigit() and parent_of(n) == process.pid]


def parent_of(number):
    try:
        return int(open(f"/proc/{number}/stat").read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def killed():
    """A rank that dies ends the job, which leaves no answer."""
    job = subprocess.Popen([asked.mpiexec, "-n", "3", graze_mpi, "pairs", "--make", "uniform:30000", "--repeat", "1000000",
                            "-o", "answer.txt"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.time() + 20
    while len(children(job)) < 3 and time.time() < until:
        time.sleep(0.05)
    time.sleep(1)
    victims = children(job)
    check(len(victims) >= 3, "the ranks do not run")
    os.kill(victims[-1], signal.SIGKILL)
    try:
        check(job.wait(20) != 0, "a dead rank, and exit 0")
    except subprocess.TimeoutExpired:
        job.kill()
        fail("a dead rank, and the others go on")
    check(not os.path.exists("answer.txt"), "a dead rank, and an answer")


def stopped():
    """A rank that stands still is named."""
    job = subprocess.Popen([asked.mpiexec, "--quiet", "-n", "3", graze_mpi, "pairs", "--make", "uniform:3000", "--repeat",
                            "1000000", "--patience", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.time() + 20
    while len(children(job)) < 3 and time.time() < until:
        time.sleep(0.05)
    time.sleep(1)
    victim = children(job)[-1]
    rank = open(f"/proc/{victim}/environ").read().split("OMPI_COMM_WORLD_RANK=")[1].split("\0")[0]
    os.kill(victim, signal.SIGSTOP)
    try:
        words = job.communicate(timeout=20)[1]
        check(job.returncode == 3 and f"graze-mpi pairs: rank {rank} has been silent for 1 seconds\n" in words, words)
    except subprocess.TimeoutExpired:
        job.kill()
        fail("a rank stands still, and the others wait")


def starved():
    """A rank that gets less memory than it needs is named, in one line, and there is no answer."""
    work, hungry = ["pairs", "-o", "answer.txt", "--make", "uniform:4000000"], 0
    for limit in (300000, 400000, 500000):
        got = run([asked.mpiexec, "--quiet", "-n", "1", graze_mpi, *work, ":",
                   "-n", "1", "sh", "-c", f'ulimit -v {limit}; exec "$0" "$@"', graze_mpi, *work])
        if got.returncode == 1:
            os.remove("answer.txt")
            continue
        hungry += 1
        check(got.returncode == 3 and got.stderr.startswith("graze-mpi pairs: rank 1: ") and got.stderr.count("\n") == 1, got.stderr)
        check(not os.path.exists("answer.txt"), "a starved rank, and an answer")
    check(hungry > 0, "no rank has starved")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    answers([1, 2, 3, 4, 7, 16, 64] if asked.long else [7])
    for part in [facts, groups, steps, selves, sliced, checks, bad_files, usage, traced, killed, stopped] + [wide_ids, other_files, parts, starved] * asked.long:
        part()
    os.chdir("/")
sys.exit(failures > 0)
