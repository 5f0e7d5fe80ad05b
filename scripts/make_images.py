#!/usr/bin/env python3
"""Makes the pictures of docs/images that show reports, from the models that the documents make.

make_images.py [GRAZE [CHROMIUM]]     by default build/release/bin/graze, and chromium, for the film's page

clash.png and plant.png are pictures out of the report of docs/clash.md, film.png is the page of docs/watch.md. Those of
docs/simulate.md are last pictures of films at half their size, bed.png, gas.png, cradle.png, hourglass.png, heap.png and drum.png,
one at its whole size, debris.png, and a page, balls.png. The bed has 65,536 balls and takes some minutes.
"""
import json
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


def paint_plant(graze, work):
    plant, report = work / "plant", work / "first"
    run(graze, "make", "plant", "--clashes", 0, "-o", plant)
    lines = (plant / "scene.json").read_text().splitlines(keepends=True)
    lowered = [line.replace("4.25]", "4]") if '"pipe 3/straight 3"' in line else line for line in lines]
    (plant / "lowered.json").write_text("".join(lowered))
    run(graze, "check", plant / "lowered.json", "--report", report, "-q")
    shutil.copyfile(report / "overview.png", IMAGES / "plant.png")
    shutil.copyfile(report / "pictures" / (CLASH + ".png"), IMAGES / "clash.png")


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


def halve(picture, path):
    """Each pixel is the mean of four."""
    _, _, rows = browser.pixels(picture.read_bytes())
    write_png(path, [[tuple((a[k] + b[k] + c[k] + d[k] + 2) // 4 for k in range(3))
                      for a, b, c, d in zip(above[::2], above[1::2], below[::2], below[1::2])]
                     for above, below in zip(rows[::2], rows[1::2])])


def paint_balls(graze, work):
    """The films; the bed's page is shown where half of it has fallen."""
    for kind, size, steps, dt, frames in (("bed", 65536, 12000, "2e-4", 100), ("gas", 1000, 8000, "1e-4", 2),
                                          ("cradle", 5, 9000, "1.4e-4", 2)):
        run(graze, "make", kind, "--size", size, "-o", work / kind)
        run(graze, "simulate", work / kind / "scene.json", "--steps", steps, "--dt", dt, "--every", steps // frames, "--report",
            work / (kind + "-film"), "--title", f"{size:,} balls", "--pictures", 2, "-q")
        halve(work / (kind + "-film") / "frames/0002.png", IMAGES / (kind + ".png"))


def paint_grains(graze, work):
    """Grains on meshes, and what a blast throws at the rack of a plant."""
    for kind, size, steps, dt in (("hourglass", 2000, 40000, "1.4e-4"), ("heap", 4000, 60000, "1.4e-4"),
                                  ("drum", 2000, 200000, "5e-5")):
        run(graze, "make", kind, "--size", size, "-o", work / kind)
        run(graze, "simulate", work / kind / "scene.json", "--steps", steps, "--dt", dt, "--every", steps // 4, "--report",
            work / (kind + "-film"), "--pictures", 2, "-q")
        halve(work / (kind + "-film") / "frames/0002.png", IMAGES / (kind + ".png"))
    run(graze, "make", "plant", "--size", 40, "--clashes", 0, "-o", work / "plant")
    run(graze, "make", "explosion", "--bodies", "-o", work / "debris")
    plant, scene = (json.loads((work / name / "scene.json").read_text()) for name in ("plant", "debris"))
    scene["objects"] = [{"name": o["name"], "mesh": str(work / "plant" / o["mesh"]), "pose": o["pose"]}
                        for o in plant["objects"]]
    for o in scene["objects"]:  # so that the blast is within the rack
        o["pose"][3] -= 3
        o["pose"][7] -= 2.5
    (work / "debris/scene.json").write_text(json.dumps(scene))
    run(graze, "simulate", work / "debris/scene.json", "--steps", 2500, "--dt", "1e-4", "--every", 500, "--report",
        work / "debris-film", "--pictures", 2, "-q")
    shutil.copy(work / "debris-film/frames/0002.png", IMAGES / "debris.png")


def show_balls(chromium, work):
    with browser.Browser(chromium, 1180, 700) as page:
        page.open(work / "bed-film/index.html", "#step=50")
        page.wait("document.getElementById('canvas').dataset.frame === '50'", 60)
        page.settle()
        page.screenshot(path=work / "page.png")
    _, _, rows = browser.pixels((work / "page.png").read_bytes())
    write_png(IMAGES / "balls.png", rows)


def main():
    graze = sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build/release/bin/graze"
    chromium = shutil.which(sys.argv[2] if len(sys.argv) > 2 else "chromium")
    with tempfile.TemporaryDirectory() as work:
        paint_plant(graze, Path(work))
        paint_balls(graze, Path(work))
        paint_grains(graze, Path(work))
        if chromium is None:
            sys.exit("make_images.py: no chromium, so film.png and balls.png are as they were")
        show_film(graze, chromium, Path(work))
        show_balls(chromium, Path(work))


if __name__ == "__main__":
    main()
