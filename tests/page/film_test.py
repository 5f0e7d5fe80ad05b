#!/usr/bin/env python3
"""The film page in a browser, used as a reader uses it. The film is of the robot cell, whose truth.json says which
steps collide.

film_test.py GRAZE CHROMIUM WORK_FOLDER [TEST ...]

Exit code 77: the browser does not start here, which is said in a line that begins with SKIPPED.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

from browser import pixels
from page_test import BLUE, ORANGE, difference, picture, share_of_hue
from suite import HEIGHT, WIDTH, check, run_suite


class Cell:
    """The film, and what the plan of the cell says."""

    def __init__(self, graze, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        made = os.path.join(folder, "cell")
        subprocess.run([graze, "make", "robot", "-o", made], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([graze, "watch", made + "/scene.json", "--motion", made + "/motion.csv", "--report",
                        folder + "/film", "--title", "Cell <7>", "-q"], stdout=subprocess.DEVNULL)
        self.page = folder + "/film/index.html"
        with open(made + "/truth.json") as file:
            truth = json.load(file)
        self.last, self.busy = truth["last_step"], {}
        for meeting in truth["meetings"]:
            self.busy.setdefault(meeting["step"], []).append(f"{meeting['a']} / {meeting['b']}")
        self.free = next(s for s in range(1, self.last) if s not in self.busy and s - 1 not in self.busy)


def text(browser, selector):
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def pairs(browser):
    return browser.run("[...document.querySelectorAll('#now-pairs .two')].map((e) => e.textContent)")


def at(browser, unit="step"):
    """The step that is shown, by the word and by the slider, which must agree."""
    word = int(re.match(unit + r" ([\d,]+) of", text(browser, "#step-word"))[1].replace(",", ""))
    check(word == browser.run("Number(document.getElementById('slider').value)"), "word and slider differ")
    return word


def slide(browser, step):
    browser.run(f"""(() => {{ const s = document.getElementById('slider'); s.value = {step};
        s.dispatchEvent(new Event('input', {{bubbles: true}})); }})()""")
    browser.settle()


def test_loads(browser, cell):
    browser.open(cell.page)
    check(browser.run("document.title") == "Cell <7>" and text(browser, "#title") == "Cell <7>", "the title is wrong")
    facts = text(browser, "#facts")
    check(f"collisions in {len(cell.busy)} of {cell.last + 1} steps" in facts, f"the facts say {facts}")
    check("engine cpu" in facts, f"the facts say {facts}")
    check(browser.run("document.getElementById('incomplete').hidden"), "a complete run is called incomplete")
    check(browser.run("document.getElementById('no-view').hidden"), "there is no 3D view")
    check("for view only" in text(browser, "#view-note"), "that poses are for view only is not said")
    check(at(browser) == 0, "a film does not begin at its beginning")
    check(len({p for row in picture(browser)[2][::2] for p in row[::2]}) > 100, "the view is empty")


def test_every_step(browser, cell):
    """The list of each step is that of the plan."""
    browser.open(cell.page)
    for step in sorted({0, cell.free, cell.last, *cell.busy, *(s + 1 for s in cell.busy), *(s - 1 for s in cell.busy)}):
        browser.run(f"""(() => {{ const s = document.getElementById('slider'); s.value = {step};
            s.dispatchEvent(new Event('input')); }})()""")
        check(sorted(pairs(browser)) == sorted(cell.busy.get(step, [])), f"step {step}: {pairs(browser)}")


def test_colours(browser, cell):
    """Orange at a step that collides, and not at one that does not; going back shows the same again."""
    browser.open(cell.page)
    slide(browser, cell.free)
    free = picture(browser)
    check(share_of_hue(free[2], ORANGE) < 0.0005, "orange at a step that is free")
    for step in (min(cell.busy), max(cell.busy)):
        slide(browser, step)
        orange = share_of_hue(picture(browser)[2], ORANGE)
        check(orange > 0.0008, f"step {step}: orange is {orange:.5f} of the picture")
    slide(browser, cell.free)
    check(difference(free, picture(browser)) < 0.0005, "a step does not look the same again")
    slide(browser, cell.free + 40)
    check(difference(free, picture(browser)) > 0.003, "nothing moves")


def test_buttons(browser, cell):
    browser.open(cell.page)
    browser.click("#step-on")
    browser.click("#step-on")
    browser.click("#step-back")
    check(at(browser) == 1, "the buttons do not step")
    browser.key(".", ".")
    browser.key(".", ".")
    browser.key(",", ",")
    check(at(browser) == 2, "the keys do not step")
    browser.click("#event-after")
    browser.settle()
    check(at(browser) == min(cell.busy), "the next event is another one")
    browser.key("n", "n")
    browser.key("n", "n")
    browser.key("p", "p")
    browser.settle()
    check(browser.run("[...document.querySelectorAll('.event')].findIndex((e) => e.classList.contains('chosen'))") == 1,
          "n and p do not go from event to event")


def test_play(browser, cell):
    browser.open(cell.page)
    browser.choose("#speed", "10")
    browser.run("document.activeElement.blur()")
    browser.key(" ", " ")
    check(text(browser, "#play") == "Pause", "Space does not play")
    browser.wait("Number(document.getElementById('slider').value) > 20", 60)
    browser.click("#play")
    here = at(browser)
    time.sleep(0.2)
    check(at(browser) == here and text(browser, "#play") == "Play", "it does not pause")
    check(browser.run("location.hash") == f"#step={here}", "the address does not name the step")
    slide(browser, cell.last - 3)
    browser.click("#play")
    browser.wait("document.getElementById('play').textContent === 'Play'", 60)
    check(at(browser) == cell.last, "it does not end at the end")


def test_event_click(browser, cell):
    browser.open(cell.page)
    check(browser.run("document.querySelectorAll('.event').length") > 5, "events are missing")
    before = picture(browser)
    browser.click(".event:nth-child(2)")
    browser.settle()
    step = int(text(browser, ".event.chosen .when"))
    name = text(browser, ".event.chosen .two")
    check(at(browser) == step and name in cell.busy[step], f"{name} at step {step} is not on the plan")
    rows = picture(browser)
    check(difference(before, rows) > 0.05, "the pair is not framed")
    orange, blue = share_of_hue(rows[2], ORANGE), share_of_hue(rows[2], BLUE)
    check(orange > 0.01 and blue > 0.01, f"orange {orange:.4f}, blue {blue:.4f} of the picture")
    legend = text(browser, "#legend")
    check(all(part in legend for part in name.split(" / ")), f"the legend says {legend}")
    browser.key("Escape")
    browser.settle()
    check(browser.run("document.querySelector('.event.chosen') === null"), "Escape does not let go")


def test_filter(browser, cell):
    browser.open(cell.page)
    browser.click("#search")
    browser.call("Input.insertText", text="gate ended")
    check(text(browser, "#shown").startswith("1 of "), f"the filter says {text(browser, '#shown')}")
    check("conveyor/gate" in text(browser, ".event .two"), "another event is listed")
    browser.key("Escape")
    check("of" not in text(browser, "#shown"), "Escape does not clear the filter")


def test_marks(browser, cell):
    """Where something collides the time line is marked, and a click there goes there."""
    browser.open(cell.page)
    width, _, rows = pixels(browser.screenshot("#marks"))
    place = lambda step: round(8 + (width - 16) * step / cell.last)
    plain = rows[len(rows) // 2][place(cell.free)]
    check(rows[len(rows) // 2][place(min(cell.busy) + 2)] != plain, "a collision is not marked")
    left, top = browser.run("(() => { const b = document.getElementById('marks').getBoundingClientRect();"
                            " return [b.left, b.top + b.height / 2]; })()")
    browser.click_at(left + place(200), top)
    check(abs(at(browser) - 200) <= 1, f"a click on the time line goes to {at(browser)}")


def test_pick(browser, cell):
    """What is clicked is named: the floor is where nothing stands on it."""
    browser.open(cell.page)
    x, y = browser.place("#canvas")
    browser.click_at(x, y + 150)
    card = text(browser, "#picked")
    check("cell/floor" in card and "stands still" in card, f"the card says: {card}")


def test_link(browser, cell):
    browser.open(cell.page, f"#step={min(cell.busy)}")
    check(at(browser) == min(cell.busy) and len(pairs(browser)) > 0, "the address does not lead to the step")


def test_dark(browser, cell):
    def brightness():
        _, _, rows = pixels(browser.screenshot("body", scale=0.5))
        return sum(sum(p) for row in rows[::7] for p in row[::7]) / sum(3 * len(row[::7]) for row in rows[::7])

    browser.look()
    browser.open(cell.page)
    light = brightness()
    browser.look(dark=True)
    browser.settle()
    dark = brightness()
    check(light > 190 and dark < 70, f"brightness {light:.0f} light, {dark:.0f} dark")
    browser.look()


def test_narrow(browser, cell):
    browser.open(cell.page)
    browser.resize(390, 844, True)
    browser.settle()
    check(browser.run("document.documentElement.scrollWidth") <= 390, "a telephone has to scroll sideways")
    browser.resize(WIDTH, HEIGHT)


TESTS = [value for name, value in list(globals().items()) if name.startswith("test_")]


if __name__ == "__main__":
    sys.exit(run_suite(TESTS, Cell))
