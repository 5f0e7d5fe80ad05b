#!/usr/bin/env python3
"""The page of a film of balls in a browser, used as a reader uses it. The film is of a row of balls of which each pushes
the next, before a wall, and the tables of the same run say what it has to show.

balls_test.py GRAZE CHROMIUM WORK_FOLDER [TEST ...]

Exit code 77: the browser does not start here, which is said in a line that begins with SKIPPED.
"""
import csv
import json
import os
import shutil
import subprocess
import sys

from film_test import at, slide, text
from page_test import BLUE, ORANGE, difference, picture, share_of_hue
from suite import HEIGHT, WIDTH, check, run_suite

STEPS, EVERY = 12000, 100
FAST = (5, 45)  # hues of what is fastest, degrees


def film_of_rods(graze, folder):
    """The page of a large ball drawn as a rod that turns by a quarter in ten frames, and two small particles."""
    with open(folder + "/rod.obj", "w") as file:
        for i in range(8):
            file.write(f"v {8 * (i & 1)} {i >> 1 & 1} {i >> 2 & 1}\n")
        file.write("f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
    with open(folder + "/two.csv", "w") as file:
        file.write("x,y,z,wz\n-8,0,0,0\n8,0,0,9\n")
    with open(folder + "/rods.json", "w") as file:
        json.dump({"graze": 1, "simulation": {"model": "dem", "gravity": [0, 0, 0], "materials": {"m": {"k_n": 1e5}}},
                   "objects": [{"name": "rod", "shape": {"sphere": 5}, "draw": "rod.obj",
                                "body": {"mass": 1, "spin": [0, 15.70796, 0]}}],
                   "particles": [{"name": "two", "file": "two.csv", "radius": 0.5, "mass": 1, "draw": "rod.obj"}]}, file)
    subprocess.run([graze, "simulate", folder + "/rods.json", "--steps", "100", "--dt", "1e-3", "--every", "10",
                    "--report", folder + "/rods", "--colour", "set", "-q"], check=True, stdout=subprocess.DEVNULL)
    return folder + "/rods/index.html"


def film_of_a_blast(graze, folder):
    """The page of forty blasts around a post, a box and what nothing can hit, and the table of hits."""
    with open(folder + "/debris.csv", "w") as file:
        file.write("x,y,z\n0,0,2.5\n1,0,2\n-1,0,2\n0,1,2\n")
    box, at = {"box": [1, 2, 3]}, lambda x, z: [1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, z]
    with open(folder + "/blast.json", "w") as file:
        json.dump({"graze": 1, "simulation": {"model": "dem", "materials": {"m": {"k_n": 2e4, "restitution": 0.5}},
                                              "walls": [{"point": [0, 0, 0], "normal": [0, 0, 1]}]},
                   "objects": [{"name": "post", "shape": {"sphere": 0.5}, "pose": at(4, 1)},
                               {"name": "box", "shape": box, "pose": at(-7, 1.5)},
                               {"name": "never", "shape": box, "pose": at(9, -2)}],
                   "particles": [{"name": "debris", "file": "debris.csv", "radius": 0.05, "mass": 0.1,
                                  "blast": {"center": [0, 0, 2], "speed": [2, 10], "spin": 30}}]}, file)
    subprocess.run([graze, "simulate", folder + "/blast.json", "--steps", "5000", "--dt", "1.5e-4", "--every", "500",
                    "--seeds", "40", "--hits", folder + "/hits.csv", "--report", folder + "/blast", "-q"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(folder + "/hits.csv") as file:
        return folder + "/blast/index.html", {row["object"]: row for row in csv.DictReader(file)}


class Row:
    """The film, its events and its energies."""

    def __init__(self, graze, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        subprocess.run([graze, "make", "cradle", "-o", folder + "/cradle"], check=True, stdout=subprocess.DEVNULL)
        with open(folder + "/cradle/scene.json") as file:
            scene = json.load(file)
        scene["objects"].append({"name": "lift", "shape": {"box": [1, 1, 1]}, "pose": [1, 0, 0, 2, 0, 1, 0, 3, 0, 0, 1, 1],
                                 "body": {"type": "kinematic", "velocity": [0, 0, 1]}})
        scene["simulation"]["walls"] = [{"point": [0, 0, -0.51], "normal": [0, 0, 1]}]
        with open(folder + "/row.json", "w") as file:
            json.dump(scene, file)
        subprocess.run([graze, "simulate", folder + "/row.json", "--steps", str(STEPS), "--dt", "1.4e-4", "--every",
                        str(EVERY), "--report", folder + "/film", "--title", "Row <5>", "--events",
                        folder + "/events.csv", "--energy", folder + "/energy.csv", "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        self.page = folder + "/film/index.html"
        self.rods = film_of_rods(graze, folder)
        self.blast, self.hits = film_of_a_blast(graze, folder)
        self.last = STEPS // EVERY
        with open(folder + "/events.csv") as file:
            self.events = list(csv.DictReader(file))
        with open(folder + "/energy.csv") as file:
            self.energies = list(csv.DictReader(file))
        self.first = -(-int(self.events[0]["step"]) // EVERY)  # the frame that shows the first event


def shown(browser, frame):
    """Waits until the frame is unpacked and drawn."""
    browser.wait(f"document.getElementById('canvas').dataset.frame === '{frame}'", 30)
    browser.settle()


def go(browser, frame):
    slide(browser, frame)
    shown(browser, frame)


def test_loads(browser, row):
    browser.open(row.page)
    check(browser.run("document.title") == "Row <5>" and text(browser, "#title") == "Row <5>", "the title is wrong")
    facts = text(browser, "#facts")
    check(all(part in facts for part in ("5 balls", f"{row.last + 1} frames", f"{len(row.events)} events", "engine cpu")),
          f"the facts say {facts}")
    check("rounded to 0.00390625 m" in text(browser, "#view-note"), "the resolution is not said")
    check(browser.run("document.getElementById('no-view').hidden"), "there is no 3D view")
    check(at_frame(browser) == 0, "a film does not begin at its beginning")
    shown(browser, 0)
    check(len({p for line in picture(browser)[2][::2] for p in line[::2]}) > 100, "the view is empty")


def at_frame(browser):
    return at(browser, "frame")


def test_moves(browser, row):
    """The first ball moves and is orange for its speed; in the end the last one does; going back shows the same."""
    browser.open(row.page)
    shown(browser, 0)
    begin = picture(browser)
    check(share_of_hue(begin[2], FAST) > 0.002, "the ball that moves is not coloured by its speed")
    go(browser, row.last)
    check(difference(begin, picture(browser)) > 0.02, "nothing moves")
    go(browser, 0)
    check(difference(begin, picture(browser)) < 0.0005, "a frame does not look the same again")


def test_curves(browser, row):
    """The values at a frame are those of the table."""
    browser.open(row.page)
    for frame in (0, row.first, row.last):
        go(browser, frame)
        got = browser.run("Object.fromEntries([...document.querySelectorAll('.curve')].map((e) => "
                          "[e.querySelector('.name').textContent, Number(e.querySelector('.value').textContent)]))")
        wanted = row.energies[frame]
        for name in ("kinetic", "elastic", "dissipated", "contacts"):
            check(abs(got[name] - float(wanted[name])) <= 1e-3 * abs(float(wanted[name])), f"{name} is {got[name]}")
        check(text(browser, "#now-title").endswith(f"step {frame * EVERY:,}"), "the step is not that of the frame")
    before = browser.screenshot(".plot")
    browser.click(".curve")
    check(browser.run("document.querySelector('.curve').getAttribute('aria-pressed')") == "false", "no curve goes")
    check(browser.screenshot(".plot") != before, "a curve that is left out is still drawn")
    browser.click(".plot")
    check(abs(at_frame(browser) - row.last / 2) < 3, f"a click in the plot goes to {at_frame(browser)}")


def test_events(browser, row):
    browser.open(row.page)
    check(text(browser, "#shown") == f"{len(row.events)} events", f"the list says {text(browser, '#shown')}")
    got = browser.run("[...document.querySelectorAll('.event')].map((e) => [e.querySelector('.what').textContent, "
                      "e.querySelector('.two').textContent])")
    check(got == [[e["event"], f"{e['a']} / {e['b']}"] for e in row.events[:len(got)]] and len(got) > 4, f"{got}")
    browser.click(".event:nth-child(1)")
    shown(browser, row.first)
    check(at_frame(browser) == row.first, "an event does not lead to its frame")
    rows = picture(browser)[2]
    orange, blue = share_of_hue(rows, ORANGE), share_of_hue(rows, BLUE)
    check(orange > 0.01 and blue > 0.01, f"orange {orange:.4f}, blue {blue:.4f} of the picture")
    check("ball_1" in text(browser, "#legend") and "ball_2" in text(browser, "#legend"), "the two are not named")
    browser.key("n", "n")
    check(browser.run("document.querySelector('.event.chosen').dataset.number") == "1", "n goes elsewhere")
    browser.key("Escape")
    browser.click("#search")
    browser.call("Input.insertText", text="ball_5 hit")
    check(text(browser, "#shown") == f"1 of {len(row.events)} events", f"the filter says {text(browser, '#shown')}")


def test_show(browser, row):
    """What touches: nothing at the beginning, two balls while they do."""
    browser.open(row.page)
    shown(browser, 0)
    browser.choose("#paint", "contact")
    browser.settle()
    check(share_of_hue(picture(browser)[2], ORANGE) < 0.001, "orange where nothing touches")
    browser.choose("#show", "colliding")
    browser.settle()
    empty = picture(browser)
    busy = next(i for i, e in enumerate(row.energies) if int(e["contacts"]) > 0)
    go(browser, busy)
    check(share_of_hue(picture(browser)[2], ORANGE) > 0.01, "what touches is not orange")
    check(difference(empty, picture(browser)) > 0.01, "balls that touch nothing are shown")


def test_pick(browser, row):
    """What is clicked is named, with what is known of it."""
    browser.open(row.page)
    browser.click("#search")
    browser.call("Input.insertText", text="ball_3")
    browser.click(".event:nth-child(1)")
    shown(browser, next(-(-int(e["step"]) // EVERY) for e in row.events if "ball_3" in (e["a"], e["b"])))
    browser.key("Escape")
    browser.key("Escape")
    browser.settle()
    x, y = browser.place("#canvas")
    browser.click_at(x + 60, y)
    card = text(browser, "#picked")
    check("ball_" in card and "radius 0.5 m" in card and "speed" in card, f"the card says: {card}")


def test_play(browser, row):
    browser.open(row.page)
    browser.choose("#speed", "100")
    browser.run("document.activeElement.blur()")
    browser.key(" ", " ")
    browser.wait(f"Number(document.getElementById('slider').value) === {row.last}", 60)
    shown(browser, row.last)
    check(text(browser, "#play") == "Play", "it does not end at the end")


def test_objects(browser, row):
    """A mesh is seen through at first, and moves."""
    browser.open(row.page)
    check("1 object" in text(browser, "#facts"), f"the facts say {text(browser, '#facts')}")
    shown(browser, 0)
    before = picture(browser)
    browser.click("#ghosts")
    browser.settle()
    solid = picture(browser)
    check(difference(before, solid) > 0.005, "the box is not drawn, or not seen through")
    go(browser, 1)
    check(difference(solid, picture(browser)) > 0.001, "the box does not move")


def highest(browser, background):
    """The most pixels that differ from an empty view in a column."""
    rows = picture(browser)[2]
    return max(sum(a != b for a, b in zip(*columns)) for columns in zip(zip(*rows), zip(*background)))


def test_meshes(browser, row):
    """A mesh in place of a ball fills it, has flat faces, and turns with it; it is clicked, cut and left out as balls are."""
    browser.open(row.rods)
    shown(browser, 0)
    check("Meshes stand for balls" in text(browser, "#view-note"), "it is not said what stands for balls")
    check(browser.run("document.getElementById('paint').value") == "set", "the colours are not those that were asked for")
    check("two" in text(browser, "#legend"), "the legend does not tell the sets")
    check("mean of the spins" in text(browser, "#view-note"), "it is not said how particles turn")
    browser.choose("#show", "colliding")  # nothing touches
    browser.settle()
    empty = picture(browser)[2]
    browser.choose("#show", "all")
    browser.settle()
    high = highest(browser, empty)
    go(browser, 10)
    turned = highest(browser, empty)
    check(high > 10 and turned > 3 * high, f"{high} pixels high, after a quarter of a turn {turned}")
    before = picture(browser)
    browser.choose("#section-axis", "2")
    browser.settle()
    check(difference(before, picture(browser)) > 0.002, "a mesh is not cut")
    browser.choose("#section-axis", "")
    browser.settle()
    at = [(x, y) for y, (line, background) in enumerate(zip(picture(browser)[2], empty))
          for x, (a, b) in enumerate(zip(line, background)) if a != b]
    x, y = sorted(at)[len(at) // 2]  # most of it is the rod, upright
    left, top = browser.run("(() => { const b = document.getElementById('canvas').getBoundingClientRect(); return [b.left, b.top]; })()")
    browser.click_at(left + 2 * x, top + 2 * y)
    check("rod" in text(browser, "#picked"), f"a click on the rod says: {text(browser, '#picked')}")
    browser.click_at(left + 2 * x + 60, top + 2 * y)
    check(browser.run("document.getElementById('picked').hidden"), "a click beside the rod, in its ball, is one on it")


def test_chances(browser, row):
    """The table is that of --hits; objects have the colours of the legend; a row leads to its object."""
    browser.open(row.blast)
    shown(browser, 0)
    check(text(browser, "#chance-title") == "Hit in 40 runs" and "seed 1" in text(browser, "#chance-note"), "what is it of?")
    got = browser.run("[...document.querySelectorAll('#chance-rows tr')].map((r) => [...r.cells].map((c) => c.textContent))")
    hit = sorted((r for r in row.hits.values() if int(r["runs"])), key=lambda r: -int(r["runs"]))
    check([r[1] for r in got] == [r["object"].replace("/", " ") for r in hit] and len(hit) == 3, f"{got}")
    for cells, wanted in zip(got, hit):
        shares = [float(x) for x in (cells[2] + " " + cells[3]).replace("%", "").replace("to", "").split()]
        for share, key in zip(shares, ("probability", "low", "high")):
            check(abs(share - 100 * float(wanted[key])) <= 6e-4 * 100 * float(wanted[key]), f"{key} of {cells}")
        check(abs(float(cells[4]) / float(wanted["energy"]) - 1) < 1e-3, f"the energy of {cells}")
    check("1 other was never hit" in text(browser, "#chance-never"), f"it says {text(browser, '#chance-never')}")
    check("never hit" in text(browser, "#legend") and "100 %" in text(browser, "#legend"), "the legend is another one")
    swatches = browser.run("[...document.querySelectorAll('#chance-rows .swatch')].map((s) => s.style.background)")
    check(swatches[0] == "rgb(216, 64, 31)" and len(set(swatches)) == 3, f"the colours are {swatches}")
    coloured = picture(browser)
    browser.choose("#paint", "speed")
    browser.settle()
    check(difference(coloured, picture(browser)) > 0.01, "speeds have the colours of chances")
    browser.choose("#paint", "chance")
    browser.settle()
    check(difference(coloured, picture(browser)) < 0.0005, "chances have other colours than before")
    for number, wanted in enumerate(hit, 1):
        browser.click(f"#chance-rows tr:nth-child({number}) button")
        browser.settle()
        check(f"hit in {wanted['runs']} of 40 runs" in text(browser, "#picked"), f"the card: {text(browser, '#picked')}")
        check(difference(coloured, picture(browser)) > 0.0005, f"{wanted['object']} is not marked")
        before = picture(browser)
        browser.key("f", "f")
        browser.settle()
        check(difference(before, picture(browser)) > 0.01, "f does not lead there")
        browser.run("document.getElementById('fit').click()")  # the pointer would leave a mark on it
        browser.settle()
    browser.key("Escape")
    browser.settle()
    check(difference(coloured, picture(browser)) < 0.0005, "something stays marked")


def test_section(browser, row):
    """Balls are cut open, and hatched."""
    browser.open(row.page)
    shown(browser, 0)
    before = picture(browser)
    browser.choose("#section-axis", "1")
    browser.settle()
    check(difference(before, picture(browser)) > 0.02, "nothing is cut")


def test_dark_and_narrow(browser, row):
    browser.look(dark=True)
    browser.open(row.page)
    browser.resize(390, 844, True)
    browser.settle()
    check(browser.run("document.documentElement.scrollWidth") <= 390, "a telephone has to scroll sideways")
    check(browser.run("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)", "dark is light")
    browser.resize(WIDTH, HEIGHT)
    browser.look()


TESTS = [value for name, value in list(globals().items()) if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, Row))
