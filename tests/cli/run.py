#!/usr/bin/env python3
"""Runs the command line and compares exit code, stdout and stderr with what a .test file says.

    run.py --bin FOLDER FILE.test             compare
    run.py --bin FOLDER --update FILE.test    write what is printed now into the file; read it before you keep it
    run.py --without zlib ...                 of a build without it; --update then leaves the file alone

A case in a .test file:

    # words for the reader
    ? zlib                                    compared only with builds that have it; "? no zlib": that have it not
    $ graze check cube.obj tetra.obj          run by sh in a fresh copy of data/, one file's cases one after another
      a line of stdout                        two blanks, then the line
    ! a line of stderr
    = 1                                       the exit code

Seconds are shown as T, bytes of baked meshes as B and the version as VERSION, in the goldens as well.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSION = (HERE.parent.parent / "VERSION").read_text().strip()
MASKS = [
    (re.compile(r'("(?:load|build|query|seconds)":)[0-9][0-9.e+-]*'), r"\1T"),
    (re.compile(r"\b[0-9]+\.[0-9]{3} s\)"), "T s)"),
    (re.compile(r"(written in )[0-9.]+ s"), r"\1T s"),
    (re.compile(r'("bytes":)[0-9]+'), r"\1B"),
    (re.compile(r"(volumes, )[0-9]+ bytes"), r"\1B bytes"),
    (re.compile(r'("graze":)"' + re.escape(VERSION) + '"'), r'\1"VERSION"'),
]


def parse(text):
    """The cases of a file: dicts with head (comments and the like), command, out, err, code."""
    cases, head, case = [], [], None
    for line in text.splitlines():
        if line.startswith("$ "):
            case = {"head": head, "command": line[2:], "out": [], "err": [], "code": None}
            cases.append(case)
            head = []
        elif case and line.startswith("  "):
            case["out"].append(line[2:])
        elif case and line.startswith("!"):
            case["err"].append(line[2:])
        elif case and line.startswith("= "):
            case["code"] = int(line[2:])
            case = None
        else:
            head.append(line)
    return cases, head


def write(cases, tail):
    lines = []
    for case in cases:
        lines += case["head"] + ["$ " + case["command"]]
        lines += ["  " + line for line in case["out"]] + [("! " + line).rstrip() for line in case["err"]]
        lines.append(f"= {case['code']}")
    return "\n".join(lines + tail) + "\n"


def mask(raw):
    text = raw.decode(errors="backslashreplace")
    if text and not text.endswith("\n"):
        text += "(no newline at the end)\n"
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text.splitlines()


def run(command, folder, environment):
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120)
    return {"out": mask(done.stdout), "err": mask(done.stderr), "code": done.returncode}


def is_compared(case, without):
    """Whether the build has what the case needs."""
    needs = [line[2:] for line in case["head"] if line.startswith("? ")]
    return all((need[3:] in without) if need.startswith("no ") else need not in without for need in needs)


def report(file, case, got):
    print(f"{file.name}: $ {case['command']}")
    for key in ("out", "err", "code"):
        if case[key] != got[key]:
            print(f"  {key} should be: {case[key]}\n  {key} is:        {got[key]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "ARGP_", "POSIXLY_"))}
    environment["PATH"] = f"{options.bin.resolve()}:{HERE}:{environment.get('PATH', '/usr/bin:/bin')}"
    environment["VERSION"] = VERSION
    environment["SOURCE_DATE_EPOCH"] = "1700000000"  # reports carry the time
    cases, tail = parse(options.file.read_text())
    failed = left_out = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "data"
        shutil.copytree(HERE / "data", folder)
        for case in cases:
            got = run(case["command"], folder, environment)
            if not is_compared(case, options.without):
                left_out += 1
            elif options.update:
                case.update(got)
            elif any(case[key] != got[key] for key in got):
                failed += 1
                report(options.file, case, got)
    if options.update and not options.without:
        options.file.write_text(write(cases, tail))
    here = f", {left_out} are of other builds" if left_out else ""
    print(f"{options.file.name}: {len(cases)} cases, {failed} failed{here}")
    return 1 if failed or left_out == len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
