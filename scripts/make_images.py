#!/usr/bin/env python3
"""Makes the pictures of docs/images that show reports, from the models that the documents make.

Programs are by default build/release/bin/graze, and chromium, for pages. NAMES say which to make, by default all: plant (also
clash.png), cull (cull-pass.png, cull-scene.png, cull-close.png), film, bed (also balls.png), gas, cradle, gems, hourglass, heap, drum, debris, hits,
dominoes, pile, cards, wrecking, rubble, rings, nut.

clash.png and plant.png are pictures out of the report of docs/clash.md, film.png is the page of docs/watch.md. Those of
docs/simulate.md are pictures of films, most of them at half their size, and three pages, balls.png, gems.png and hits.png.
All take ten minutes of one core, of which bed, drum and hits take eight.
"""
import argparse
import itertools
import json
import math
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
IMAGES = SOURCE / "docs/images"
CLASH = "c-e1gnd9evvdsy"  # the pipe in the first of the two beams
STEP = 310                # the part and a finger in the post

sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests/page"))
import browser  # noqa: E402

browser.FLAGS = [flag for flag in browser.FLAGS if "antialiasing" not in flag]  # which the tests do without


def run(graze, *arguments):
    """Found clashes are no failure."""
    code = subprocess.run([graze, *map(str, arguments)], stdout=subprocess.DEVNULL).returncode
    if code > 1:
        sys.exit(f"make_images.py: graze {arguments[0]} ended with {code}")


def paint_plant(graze, chromium, work):
    plant, report = work / "plant", work / "first"
    run(graze, "make", "plant", "--clashes", 0, "-o", plant)
    lines = (plant / "scene.json").read_text().splitlines(keepends=True)
    lowered = [line.replace("4.25]", "4]") if '"pipe 3/straight 3"' in line else line for line in lines]
    (plant / "lowered.json").write_text("".join(lowered))
    run(graze, "check", plant / "lowered.json", "--report", report, "-q")
    shutil.copyfile(report / "overview.png", IMAGES / "plant.png")
    shutil.copyfile(report / "pictures" / (CLASH + ".png"), IMAGES / "clash.png")


def cube(name, place):
    """Of the scene of docs/visibility.md."""
    turn = (0.6, -0.8, 0), (0.64, 0.48, -0.6), (0.48, 0.36, 0.8)
    return {"name": name, "mesh": "plant/box_1024_1024_1024.obj", "pose": [x for row, at in zip(turn, place) for x in (*row, at)]}


def paint_cull(graze, chromium, work):
    """One pass of four cubes, owners and depth side by side, and what is left of them; close views of the plant."""
    places = (0, 0, 0), (0.7, 0.5, 0.3), (0.9, 1.7, -0.4), (-0.9, 1.0, 0.9)
    four, close = work / "four", work / "close"
    run(graze, "make", "plant", "-o", work / "plant")
    (work / "four.json").write_text(json.dumps({"graze": 1, "objects": [cube(str(i + 1), p) for i, p in enumerate(places)]}))
    run(graze, "cull", work / "four.json", "--device", "reference", "--mode", "rcullide", "--pictures", four)
    run(graze, "cull", work / "plant/scene.json", "--device", "reference", "--resolution", 32, "--pictures", close)
    sides = [browser.pixels((four / f"001-objects-x-forward-128-{what}.png").read_bytes())[2] for what in ("owners", "depth")]
    write_png(IMAGES / "cull-pass.png", [[*left, *[(255, 255, 255)] * 32, *right] for left, right in zip(*sides)])
    halve(four / "scene.png", IMAGES / "cull-scene.png")
    _, _, rows = browser.pixels((close / "007-triangles-x-forward-32-owners.png").read_bytes())
    write_png(IMAGES / "cull-close.png", [[pixel for pixel in row for _ in "12"] for row in rows for _ in "12"])


def show_page(chromium, page, fragment, path, *scripts):
    """A page that shows balls, without an alpha channel."""
    with browser.Browser(chromium, 1180, 700) as tab:
        tab.open(page, fragment)
        tab.wait(f"document.getElementById('canvas').dataset.frame === '{fragment.split('=')[1]}'", 60)
        for script in scripts:
            tab.run(script)
            tab.settle()
        tab.screenshot(path=path)
    _, _, rows = browser.pixels(path.read_bytes())
    write_png(path, rows)


def show_film(graze, chromium, work):
    cell, film = work / "cell", work / "film"
    run(graze, "make", "robot", "-o", cell)
    run(graze, "watch", cell / "scene.json", "--motion", cell / "motion.csv", "--report", film, "--title", "Robot cell", "-q")
    with browser.Browser(chromium, 1180, 700) as page:
        page.open(film / "index.html", f"#step={STEP}")
        page.screenshot(path=IMAGES / "film.png")


def write_png(path, rows):
    """Rows of (r, g, b), each stored as differences to the left."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = [bytes([1]) + bytes((p[k] - q[k]) % 256 for q, p in zip([(0, 0, 0), *row], row) for k in range(3)) for row in rows]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(b"".join(lines), 9)) + chunk(b"IEND", b""))


def cross(a, b, c):
    """Across the triangle, by its corners."""
    u, v = [y - x for x, y in zip(a, b)], [y - x for x, y in zip(a, c)]
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def halve(picture, path):
    """Each pixel is the mean of four."""
    _, _, rows = browser.pixels(picture.read_bytes())
    write_png(path, [[tuple((a[k] + b[k] + c[k] + d[k] + 2) // 4 for k in range(3))
                      for a, b, c, d in zip(above[::2], above[1::2], below[::2], below[1::2])]
                     for above, below in zip(rows[::2], rows[1::2])])


def film(graze, work, name, scene, steps, dt, frames, *options):
    """The folder of the film."""
    folder = work / (name + "-film")
    run(graze, "simulate", scene, "--steps", steps, "--dt", dt, "--every", steps // frames, "--report", folder, "--pictures", 2,
        "-q", *options)
    return folder


def paint_model(graze, work, name, size, steps, dt, frames):
    """The last picture of a model of `graze make`, at half its size."""
    run(graze, "make", name, "--size", size, "-o", work / name)
    folder = film(graze, work, name, work / name / "scene.json", steps, dt, frames, "--title", f"{size:,} balls")
    halve(folder / "frames/0002.png", IMAGES / (name + ".png"))
    return folder


def paint_bed(graze, chromium, work):
    """Also its page, where half of it has fallen."""
    folder = paint_model(graze, work, "bed", 65536, 12000, "2e-4", 100)
    show_page(chromium, folder / "index.html", "#step=50", IMAGES / "balls.png")


def write_gem(path):
    """An icosahedron."""
    golden = (1 + math.sqrt(5)) / 2
    corners = [c[k:] + c[:k] for c in itertools.product((0,), (-1, 1), (-golden, golden)) for k in range(3)]
    faces = [f for f in itertools.combinations(range(12), 3)
             if all(math.isclose(math.dist(corners[a], corners[b]), 2) for a, b in itertools.combinations(f, 2))]
    outward = [f if sum(x * y for x, y in zip(corners[f[0]], cross(*(corners[i] for i in f)))) > 0 else f[::-1] for f in faces]
    path.write_text("".join("v {} {} {}\n".format(*c) for c in corners) +
                    "".join("f {} {} {}\n".format(*(i + 1 for i in f)) for f in outward))


def paint_gems(graze, chromium, work):
    """A bed of icosahedra into which a large block has fallen."""
    run(graze, "make", "bed", "--size", 600, "-o", work / "gems")
    write_gem(work / "gem.obj")
    (work / "block.obj").write_text("".join(f"v {3 * (i & 1)} {2 * (i >> 1 & 1)} {i >> 2}\n" for i in range(8)) +
                                    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
    scene = json.loads((work / "gems/scene.json").read_text())
    scene["particles"][0]["draw"] = str(work / "gem.obj")
    scene["objects"] = [{"name": "block", "shape": {"sphere": 2}, "draw": str(work / "block.obj"),
                         "pose": [1, 0, 0, 4.5, 0, 1, 0, 4.5, 0, 0, 1, 20],
                         "body": {"mass": 20, "velocity": [0, 0, -6], "spin": [1, 3, 0], "material": "ball"}}]
    (work / "gems/scene.json").write_text(json.dumps(scene))
    folder = film(graze, work, "gems", work / "gems/scene.json", 9000, "2e-4", 90)
    choose = "const s = document.getElementById('{}'); s.value = '{}'; s.dispatchEvent(new Event('input', {{bubbles: true}}))"
    escape = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
    show_page(chromium, folder / "index.html", "#step=0", IMAGES / "gems.png", "{%s}" % choose.format("search", "block began"),
              "document.querySelector('.event').click()", escape, "{%s}" % choose.format("search", ""),
              "{%s}" % choose.format("slider", 56))


def make_debris(graze, work):
    """What a blast throws at the rack of a plant: the scene."""
    run(graze, "make", "plant", "--size", 40, "--clashes", 0, "-o", work / "rack")
    run(graze, "make", "explosion", "--bodies", "-o", work / "debris")
    plant, scene = (json.loads((work / name / "scene.json").read_text()) for name in ("rack", "debris"))
    scene["objects"] = [{"name": o["name"], "mesh": str(work / "rack" / o["mesh"]), "pose": o["pose"]}
                        for o in plant["objects"]]
    for o in scene["objects"]:  # so that the blast is within the rack
        o["pose"][3] -= 3
        o["pose"][7] -= 2.5
    (work / "debris/scene.json").write_text(json.dumps(scene))
    return work / "debris/scene.json"


def make_drum(work):
    """Two sizes of grains in a drum about y, of the same volume, mixed: the scene."""
    stream, grains, edges = random.Random(5), {"large": [], "small": []}, 48
    ring = [(math.cos(2 * math.pi * s / edges), math.sin(2 * math.pi * s / edges)) for s in range(edges)]
    lines = [f"v {r * x!r} {y} {r * z!r}" for r, y in ((0, -1.65), (7, -1.65), (7, 1.65), (0, 1.65)) for x, z in ring]
    for k, s in itertools.product(range(3), range(edges)):
        a, b = k * edges + s + 1, k * edges + (s + 1) % edges + 1
        lines += [f"f {a} {b} {b + edges}", f"f {a} {b + edges} {a + edges}"]
    (work / "drum.obj").write_text("\n".join(lines) + "\n")
    for c, a, b in itertools.product(range(-7, 2), range(-7, 8), range(-1, 2)):
        if 1.06 * math.hypot(a, c) + 0.75 > 7:
            continue
        size = stream.choice(("large", "small"))
        corners = [(0, 0, 0)] if size == "large" else itertools.product((-0.265, 0.265), repeat=3)
        grains[size] += [[1.06 * m + d + stream.uniform(-0.01, 0.01) for m, d in zip((a, b, c), corner)] for corner in corners]
    for size, places in grains.items():
        (work / f"{size}.csv").write_text("x,y,z\n" + "".join(",".join(map(repr, p)) + "\n" for p in places))
    material = {"k_n": 1e4, "restitution": 0.3, "friction": 0.5, "tangential": "spring", "rolling": 0.05}
    (work / "drum.json").write_text(json.dumps({
        "graze": 1, "simulation": {"model": "dem", "materials": {"grain": material}},
        "objects": [{"name": "drum", "mesh": "drum.obj", "body": {"type": "kinematic", "spin": [0, 0.4, 0]}}],
        "particles": [{"name": size, "file": f"{size}.csv", "radius": radius, "density": 1.91}
                      for size, radius in (("large", 0.5), ("small", 0.25))]}))
    return work / "drum.json"


def paint_drum(graze, chromium, work):
    """After three turns, by set."""
    folder = film(graze, work, "drum", make_drum(work), 160000, "3e-4", 2, "--colour", "set")
    halve(folder / "frames/0002.png", IMAGES / "drum.png")


def paint_debris(graze, chromium, work):
    folder = film(graze, work, "debris", make_debris(graze, work), 2500, "1e-4", 5)
    shutil.copy(folder / "frames/0002.png", IMAGES / "debris.png")


def paint_hits(graze, chromium, work):
    folder = film(graze, work, "hits", make_debris(graze, work), 2500, "1e-4", 25, "--seeds", 20, "--title", "Rack")
    show_page(chromium, folder / "index.html", "#step=12", IMAGES / "hits.png",
              "document.getElementById('chances').scrollTop = 220")


def paint_fragments(graze, chromium, work):
    """A block flies to pieces before the rack of a plant, which is coloured by how probably it is hit."""
    run(graze, "make", "rubble", "--size", 40, "--plant", "-o", work / "bay")
    folder = film(graze, work, "bay", work / "bay/scene.json", 240, "auto", 2, "--seeds", 20, "--title", "A block before a rack")
    shutil.copy(folder / "frames/0002.png", IMAGES / "fragments.png")


def paint_meshes(graze, work, kind, name, steps, dt):
    """Meshes that are rigid bodies."""
    made = work / kind
    run(graze, "make", kind, "--bodies", "-o", made)
    folder = film(graze, work, kind, made / "scene.json", steps, dt, 2)
    halve(folder / "frames/0002.png", IMAGES / name)


def paint_rings(graze, chromium, work):
    paint_meshes(graze, work, "rings", "rings.png", 240, "auto")


def paint_nut(graze, chromium, work):
    paint_meshes(graze, work, "bolt", "nut.png", 200, "0.001")


PARTS = {"plant": paint_plant, "cull": paint_cull, "film": show_film, "bed": paint_bed, "gems": paint_gems, "drum": paint_drum,
         "debris": paint_debris, "hits": paint_hits, "fragments": paint_fragments, "rings": paint_rings, "nut": paint_nut}
MODELS = {"gas": (1000, 8000, "1e-4", 2), "cradle": (5, 9000, "1.4e-4", 2), "hourglass": (2000, 40000, "1.4e-4", 4),
          "heap": (4000, 60000, "1.4e-4", 4), "dominoes": (40, 240, "auto", 2), "pile": (256, 240, "auto", 2),
          "cards": (4, 60, "auto", 2), "wrecking": (6, 110, "auto", 2), "rubble": (300, 40, "auto", 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graze", default=SOURCE / "build/release/bin/graze")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    chromium = shutil.which(options.chromium) or sys.exit("make_images.py: there is no chromium")
    for name in options.names or [*PARTS, *MODELS]:
        if name not in PARTS and name not in MODELS:
            sys.exit(f"make_images.py: no picture has the name {name}")
        with tempfile.TemporaryDirectory() as work:
            if name in PARTS:
                PARTS[name](options.graze, chromium, Path(work))
            else:
                paint_model(options.graze, Path(work), name, *MODELS[name])
        print(name, flush=True)


if __name__ == "__main__":
    main()
