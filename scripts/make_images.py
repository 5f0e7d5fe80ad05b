#!/usr/bin/env python3
"""Makes the pictures of docs/images that show reports, from the models that the documents make.

make_images.py [GRAZE [CHROMIUM]]     by default build/release/bin/graze, and chromium, for the film's page

clash.png and plant.png are pictures out of the report of docs/clash.md, film.png is the page of docs/watch.md.
"""
import shutil
import subprocess
import sys
import tempfile
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


def main():
    graze = sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build/release/bin/graze"
    chromium = shutil.which(sys.argv[2] if len(sys.argv) > 2 else "chromium")
    with tempfile.TemporaryDirectory() as work:
        paint_plant(graze, Path(work))
        if chromium is None:
            sys.exit("make_images.py: no chromium, so film.png is as it was")
        show_film(graze, chromium, Path(work))


if __name__ == "__main__":
    main()
