"""Runs the tests of a page, each with a browser and what they are about.

On a busy machine a browser may drop a click or show a frame late. So a test that fails is run once more, in a browser
of its own, which is said; what fails twice has failed.
"""
import os
import sys
import time
import traceback

from browser import Browser, Failure

WIDTH, HEIGHT = 1000, 625


def check(condition, words):
    if not condition:
        raise Failure(words)


def attempt(test, browser, subject, folder, expected):
    browser.problems.clear()
    try:
        test(browser, subject)
        problems = [p for p in browser.problems if not expected(p)]
        check(not problems, f"the console says: {problems}")
    except Exception:  # a test may trip over an answer that is missing
        traceback.print_exc()
        try:
            browser.screenshot(path=os.path.join(folder, test.__name__ + ".png"))
        except (Failure, OSError) as failure:
            print(f"and there is no screenshot: {failure}", file=sys.stderr)
        return False
    return True


def attempt_again(test, chromium, subject, folder, expected):
    print(f"again  {test.__name__}", flush=True)
    with Browser(chromium, WIDTH, HEIGHT) as browser:
        return attempt(test, browser, subject, folder, expected)


def run_suite(tests, make, expected=lambda problem: False):
    """The exit code. `make` makes what the tests are about of the program and the folder; what the console may complain
    about is expected."""
    program, chromium, folder, wanted = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    subject = make(program, folder)
    try:
        browser = Browser(chromium, WIDTH, HEIGHT)
    except (Failure, OSError) as failure:
        print(f"SKIPPED: {chromium} does not start: {failure}")
        return 77
    failed = 0
    with browser:
        for test in tests:
            if wanted and test.__name__ not in wanted:
                continue
            began = time.monotonic()
            good = attempt(test, browser, subject, folder, expected) or attempt_again(test, chromium, subject, folder, expected)
            failed += not good
            print(f"{'ok' if good else 'FAILED':6} {test.__name__} {time.monotonic() - began:.1f} s", flush=True)
    return failed > 0
