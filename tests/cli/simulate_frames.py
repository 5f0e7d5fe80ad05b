#!/usr/bin/env python3
"""Decodes what `graze simulate` writes of every ball at every frame, as docs/files.md describes it, and compares it with
the tables of runs that end there. It shares no code.

    simulate_frames.py --bin FOLDER
"""
import argparse
import csv
import math
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
from pathlib import Path
from struct import calcsize, unpack_from

EVERY, STEPS, DT = 30, 100, 1e-4
COLUMNS = ("x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz")


class Bench:
    """Two sets, an object of each type, and walls; what was checked, and what was not as it should be."""

    def __init__(self, tool, folder):
        self.tool, self.folder, self.checked, self.bad = tool, folder, 0, 0
        (folder / "p.csv").write_text("x,y,z,r,vx,wz\n" + "".join(
            f"{i % 4},{i // 4 % 4},{1 + i // 16},{0.4 + 0.01 * i},{0.5 * i},{i}\n" for i in range(40)))
        (folder / "q.csv").write_text("x,y,z,vz\n9,0,5,-3\n9,1,5,-3\n9,2,5,-3\n")
        ball = '{"name":"%s","shape":{"sphere":%g},"pose":[1,0,0,%g,0,1,0,%g,0,0,1,%g],"body":{%s}}'
        (folder / "scene.json").write_text('{"graze":1,"objects":[' + ",".join([
            ball % ("one, two", 0.5, -3, 0, 2, '"mass":1,"velocity":[7,0,0]'),
            ball % ("st\u00f6pfel", 0.25, 0, -4, 1, '"type":"static"'),
            ball % ("c", 0.75, 0, -8, 1, '"type":"kinematic","velocity":[0,4,0],"spin":[0,0,1]')]) + """],
            "particles":[{"name":"p","file":"p.csv","mass":1},{"name":"q/x","file":"q.csv","mass":2,"radius":0.125}],
            "simulation":{"model":"dem","materials":{"m":{"k_n":1e5,"restitution":0.5}},
             "walls":[{"point":[0,0,0],"normal":[0,0,1]},{"point":[-4,0,0],"normal":[1,0,1]}]}}""", encoding="utf-8")

    def run(self, steps, *options):
        subprocess.run([self.tool, "simulate", self.folder / "scene.json", "--steps", str(steps), "--dt", repr(DT), "-q",
                        *options], check=True, stdout=subprocess.DEVNULL)

    def states(self, steps):
        """The last state of a run, by name."""
        path = self.folder / "final.csv"
        self.run(steps, "--final", path)
        with open(path, newline="", encoding="utf-8") as file:
            return {row["name"]: [float(row[k]) for k in COLUMNS] for row in csv.DictReader(file)}

    def same(self, what, got, wanted):
        self.checked += 1
        if got == wanted:
            return
        self.bad += 1
        print(f"{what}: {got!r} instead of {wanted!r}")


def read_track(path):
    """Names, radii, and (step, time, states) of each frame of a .gzt file."""
    data, at = path.read_bytes(), 0

    def take(form):
        nonlocal at
        values = unpack_from("<" + form, data, at)
        at += calcsize("<" + form)
        return values

    (magic,), (balls, frames, sets), names = take("8s"), take("3Q"), []
    assert magic == b"GRZTRACK"
    for number in range(sets):
        count, length = take("2Q")
        name = take(f"{-(-length // 8) * 8}s")[0][:length].decode()
        names += [name] if number < 3 else [f"{name}/{i}" for i in range(count)]
    radii, read = take(f"{balls}d"), []
    for _ in range(frames):
        (step,), (time,), numbers = take("Q"), take("d"), take(f"{9 * balls}d")
        read.append((step, time, [list(numbers[9 * i:9 * i + 9]) for i in range(balls)]))
    assert at == len(data) and len(names) == balls
    return names, radii, read


def read_vtk(path):
    """The arrays of a .vtp file by name."""
    data = path.read_bytes()
    begin = data.index(b"<AppendedData")
    appended = data.index(b"_", begin) + 1
    end = data.rindex(b"\n</AppendedData>")
    root = tree.fromstring(data[:begin] + b"</VTKFile>")
    piece, arrays, used = root.find("PolyData/Piece"), {}, 0
    for array in piece.iter("DataArray"):
        at = appended + int(array.get("offset"))
        size, = unpack_from("<Q", data, at)
        form = {"Float64": "d", "Int32": "i", "Int64": "q"}[array.get("type")]
        values = unpack_from(f"<{size // calcsize(form)}{form}", data, at + 8)
        width = int(array.get("NumberOfComponents"))
        arrays[array.get("Name")] = [values[i:i + width] for i in range(0, len(values), width)]
        used = max(used, at + 8 + size)
    assert used == end and int(piece.get("NumberOfPoints")) == len(arrays["position"])
    time = float(root.find("PolyData/FieldData/DataArray").text)
    return time, arrays


def check_track(bench):
    bench.run(STEPS, "--every", str(EVERY), "--frames", bench.folder / "film.gzt")
    names, radii, frames = read_track(bench.folder / "film.gzt")
    bench.same("steps", [step for step, _, _ in frames], [0, 30, 60, 90, 100])
    bench.same("radii", list(radii[:4]) + [radii[-1]], [0.5, 0.25, 0.75, 0.4, 0.125])
    for step, time, states in frames:
        bench.same(f"the time of step {step}", math.isclose(time, step * DT, rel_tol=1e-12), True)
        bench.same(f"the balls at step {step}", dict(zip(names, states)), bench.states(step))
    return names, radii, frames


def check_vtk(bench, names, radii, frames):
    folder = bench.folder / "series"
    bench.run(STEPS, "--every", "10", "--frames", folder)  # longer, so that files of it must go
    bench.run(STEPS, "--every", str(EVERY), "--frames", folder)
    bench.same("files", sorted(f.name for f in folder.iterdir()),
               [f"frame_{i:06}.vtp" for i in range(len(frames))] + ["frames.pvd"])
    listed = [(float(d.get("timestep")), d.get("file")) for d in tree.parse(folder / "frames.pvd").iter("DataSet")]
    bench.same("the series", listed, [(time, f"frame_{i:06}.vtp") for i, (_, time, _) in enumerate(frames)])
    for i, (step, time, states) in enumerate(frames):
        at, arrays = read_vtk(folder / f"frame_{i:06}.vtp")
        bench.same(f"the time of step {step}", at, time)
        bench.same(f"radii of step {step}", [r for r, in arrays["radius"]], list(radii))
        joined = zip(arrays["position"], arrays["velocity"], arrays["spin"])
        bench.same(f"the states of step {step}", [[*x, *v, *w] for x, v, w in joined], states)
        speeds = [math.sqrt(s[3] * s[3] + s[4] * s[4] + s[5] * s[5]) for s in states]
        bench.same(f"speeds of step {step}", [s for s, in arrays["speed"]], speeds)
        bench.same("sets", [s for s, in arrays["set"]], [0, 1, 2] + 40 * [3] + 3 * [4])
        bench.same("points", [c for c, in arrays["connectivity"]], list(range(len(names))))
        bench.same("cells", [c for c, in arrays["offsets"]], list(range(1, len(names) + 1)))


def check_restored(bench, frames):
    """A run that goes on begins with the state that it was given, and its frames are those of one long run."""
    bench.run(45, "--save", bench.folder / "state")
    bench.run(STEPS - 45, "--restore", bench.folder / "state", "--every", str(EVERY), "--frames", bench.folder / "on.gzt")
    _, _, later = read_track(bench.folder / "on.gzt")
    bench.same("steps of a restored run", [step for step, _, _ in later], [45, 60, 90, 100])
    bench.same("frames of a restored run", later[1:], frames[2:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin / "graze"
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(tool, Path(folder))
        names, radii, frames = check_track(bench)
        check_vtk(bench, names, radii, frames)
        check_restored(bench, frames)
    print(f"{bench.checked} comparisons, {bench.bad} failed")
    return bench.bad > 0


if __name__ == "__main__":
    sys.exit(main())
