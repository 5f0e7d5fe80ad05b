#!/usr/bin/env python3
"""How two closed meshes relate, by `graze check` and by the Boolean of Manifold (PyPI: manifold3d, with numpy; trimesh
reads the files). Without these modules it says so and ends with 0.

usage: manifold.py GRAZE DATA [--rounds N] [--only PATTERN] [--out FILE.csv]

DATA has truth/mesh_pairs_poses.csv (name, two mesh files, two poses of 12 numbers) and the meshes. Pairs of which
Manifold takes both meshes as solids are run, the two programs in turns. A row, processor time in milliseconds, least over
the rounds:

  graze              a whole `graze check` of the two, reading the files included, on one thread, without curves
  manifold_build     both solids from arrays, the second one posed; reading is not counted
  manifold_query     their intersection and its volume
  relation, overlap  the answers; `agree` unless one says that they have volume in common and the other does not.
                     Manifold rounds coordinates and drops what is thinner than its precision."""
import argparse
import csv
import fnmatch
import json
import lzma
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import manifold3d
    import numpy
    import trimesh
except ImportError as missing:
    print(f"manifold: left out, for {missing.name} is not installed")
    sys.exit(0)

COMMON = {"cross": True, "a_in_b": True, "b_in_a": True, "duplicate": True, "separate": False, "touch": False}


def unpacked(data, name, folder):
    """The mesh file as a path that both can read."""
    source = data / name
    target = folder / name.replace("/", "_").removesuffix(".xz")
    if not target.exists():
        target.write_bytes(lzma.open(source).read() if name.endswith(".xz") else source.read_bytes())
    return target


def solid(path, pose):
    """Manifold's solid of the posed mesh, and the seconds that making it took; None if it takes it for none."""
    mesh = trimesh.load(path, process=False, force="mesh")
    vertices, faces = numpy.unique(numpy.asarray(mesh.vertices) + 0.0, axis=0, return_inverse=True)  # no -0
    triangles = faces.reshape(-1)[numpy.asarray(mesh.faces)]
    matrix = numpy.array(pose).reshape(3, 4)
    if numpy.linalg.det(matrix[:, :3]) < 0:  # a mirror turns what is outside in
        triangles = triangles[:, ::-1]
    points = numpy.ascontiguousarray(vertices @ matrix[:, :3].T + matrix[:, 3])
    start = time.process_time()
    made = manifold3d.Manifold(manifold3d.Mesh64(points, triangles.astype(numpy.uint64)))
    closed = made.status() == manifold3d.Error.NoError
    return (made if closed else None), time.process_time() - start


def ask_manifold(paths, poses):
    solids, seconds = zip(*(solid(path, pose) for path, pose in zip(paths, poses)))
    if None in solids:
        return None
    start = time.process_time()
    volume = (solids[0] ^ solids[1]).volume()
    return volume > 0, [sum(seconds), time.process_time() - start]


def ask_graze(graze, paths, poses, folder):
    objects = [{"name": name, "mesh": str(path), "pose": pose} for name, path, pose in zip("ab", paths, poses)]
    (folder / "scene.json").write_text(json.dumps({"graze": 1, "objects": objects}))
    command = [graze, "check", "scene.json", "-q", "--threads", "1", "--format", "json", "-o", "out.json"]
    running = subprocess.Popen(command, cwd=folder)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (0, 1, 3):
        sys.exit(f"{paths}: exit {running.returncode}")
    told = json.loads((folder / "out.json").read_text())
    relation = told["pairs"][0]["relation"] if told["pairs"] else "separate"
    return relation, [used.ru_utime + used.ru_stime]


def pairs(data):
    for row in csv.DictReader((data / "truth/mesh_pairs_poses.csv").open()):
        poses = [[float(row[f"{side}{i}{j}"]) for i in range(3) for j in range(4)] for side in "ab"]
        yield row["name"], [row["meshA"], row["meshB"]], poses


def measure(arguments, name, files, poses, folder):
    """One row, or None where Manifold sees no two solids."""
    paths = [unpacked(arguments.data, file, folder) for file in files]
    ours, theirs = [], []
    for _ in range(arguments.rounds):
        ours.append(ask_graze(arguments.graze.resolve(), paths, poses, folder))
        theirs.append(ask_manifold(paths, poses))
        if theirs[0] is None:
            return None
    least = [1e3 * min(times) for run in (ours, theirs) for times in zip(*(seconds for _, seconds in run))]
    relation, overlap = ours[0][0], theirs[0][0]
    agree = "agree" if COMMON.get(relation) == overlap else "differ"
    return [name, *(f"{x:.2f}" for x in least), relation, "overlap" if overlap else "none", agree]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("graze", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="*")
    parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
    arguments = parser.parse_args()
    writer = csv.writer(arguments.out, lineterminator="\n")
    writer.writerow("name graze manifold_build manifold_query relation overlap agree".split())
    ratios, behind, left = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, files, poses in pairs(arguments.data):
            if not fnmatch.fnmatch(name, arguments.only):
                continue
            row = measure(arguments, name, files, poses, pathlib.Path(folder))
            if row is None:
                left += 1
                continue
            writer.writerow(row)
            arguments.out.flush()
            ours, theirs = float(row[1]), float(row[2]) + float(row[3])
            ratios.append(math.log(theirs / ours))
            behind += theirs < ours
    mean = math.exp(sum(ratios) / len(ratios)) if ratios else float("nan")
    print(f"{len(ratios)} pairs, everything together: Manifold takes {mean:.2f} times ours (geometric mean), and is "
          f"ahead in {behind}; {left} pairs left out, for Manifold sees no solid", file=sys.stderr)


if __name__ == "__main__":
    main()
