#!/usr/bin/env python3
"""Marks and comments made in the page of a report, saved as a table, and read by the next check.

review_test.py GRAZE CHROMIUM WORK_FOLDER

Exit code 77: the browser does not start here, which is said in a line that begins with SKIPPED.
"""
import csv
import json
import os
import shutil
import subprocess
import sys

from browser import Browser, Failure
from page_test import texts
from suite import HEIGHT, WIDTH, check

COMMENT = 'moved, "as agreed";\nsee <b>sheet</b> 7 \u2013 Zo\u00eb'


def graze(program, folder, *arguments):
    subprocess.run([program, *arguments], cwd=folder, check=False, capture_output=True)


def pairs(path):
    with open(path, encoding="utf-8") as file:
        return {pair["id"]: pair for pair in json.load(file)["pairs"]}


def choose(browser, clash):
    browser.run(f"location.hash = '#clash={clash}'")
    browser.wait(f"document.getElementById('details').textContent.includes('{clash}')")
    browser.settle()


def write_review(browser, page, ids):
    """Approves the first clash, comments on the second, and takes back what it did to the third."""
    browser.open(page)
    check(browser.run("document.getElementById('save').hidden"), "there is something to save at first")
    choose(browser, ids[0])
    browser.choose("#mark-of", "approved")
    choose(browser, ids[1])
    browser.click("#comment-of")
    browser.call("Input.insertText", text=COMMENT)
    choose(browser, ids[2])
    browser.choose("#mark-of", "reviewed")
    browser.choose("#mark-of", "")
    check(browser.run("document.getElementById('save').textContent") == "Save 3 marks", "not 3 marks to save")
    browser.choose("#mark", "approved")
    check(texts(browser, "mark") == ["approved"], f"the list says {texts(browser, 'mark')}")
    browser.open(page)  # what was not saved is not lost
    browser.choose("#mark", "approved")
    check(texts(browser, "mark") == ["approved"], "a reload loses a mark")
    choose(browser, ids[1])
    check(browser.run("document.getElementById('comment-of').value") == COMMENT, "a reload loses a comment")


def save(browser, folder):
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=folder)
    browser.click("#save")
    path = os.path.join(folder, "marks.csv")
    for _ in range(50):
        if os.path.exists(path):
            break
        browser.run("new Promise((done) => setTimeout(done, 100))")
    check(browser.run("document.getElementById('save').hidden"), "what is saved is still offered")
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test(browser, program, folder):
    with open(folder + "/blades.obj", "w", encoding="utf-8") as file:  # two triangles across each other
        file.write("v 0 0 0\nv 4 0 0\nv 0 4 0\nv 1 1 -1\nv 1 1 1\nv 3 3 1\nf 1 2 3\nf 4 5 6\n")
    graze(program, folder, "make", "plant", "--size", "2", "--clashes", "4", "-o", "plant")
    graze(program, folder, "check", "plant/scene.json", "--report", "first", "--pictures", "0")
    ids = list(pairs(folder + "/first/clashes.json"))
    check(len(ids) > 3, f"{len(ids)} clashes")
    write_review(browser, folder + "/first/index.html", ids)
    rows = save(browser, folder)
    check({row["id"]: (row["mark"], row["comment"].replace("\r", "")) for row in rows} ==
          {ids[0]: ("approved", ""), ids[1]: ("", COMMENT), ids[2]: ("", "")}, f"the table says {rows}")
    graze(program, folder, "check", "plant/scene.json", "--previous", "first/clashes.json", "--marks", "marks.csv",
          "--report", "second", "--pictures", "0")
    then = pairs(folder + "/second/clashes.json")
    check([(then[i]["mark"], then[i]["comment"]) for i in ids[:4]] == [("approved", ""), ("", COMMENT), ("", ""), ("", "")],
          "the next check does not have them")
    browser.open(folder + "/second/index.html")
    choose(browser, ids[1])
    check(browser.run("document.getElementById('comment-of').value") == COMMENT, "its page does not show the comment")
    check(browser.run("document.getElementById('save').hidden"), "what came from the report is to be saved")
    graze(program, folder, "self", "blades.obj", "--report", "blades", "--pictures", "0")
    browser.open(folder + "/blades/index.html")
    check(browser.run("document.querySelector('td.column-a') && !document.querySelector('.column-depth')"),
          "places where a mesh meets itself have no depth, but a column for it")
    check(not browser.problems, f"the console says: {browser.problems}")


def main():
    program, chromium, folder = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        browser = Browser(chromium, WIDTH, HEIGHT)
    except (Failure, OSError) as failure:
        print(f"SKIPPED: {chromium} does not start: {failure}")
        return 77
    with browser:
        test(browser, program, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
