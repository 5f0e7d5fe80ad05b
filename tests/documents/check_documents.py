#!/usr/bin/env python3
"""Checks that the documents say what is so.

check_documents.py names SOURCE                every graze_, gz_ and GRAZE_ word exists in the code
check_documents.py links SOURCE                every relative link leads to a file and a heading, every `path/` to a file
check_documents.py examples SOURCE             the documents of EXAMPLES show these files, byte for byte
check_documents.py console SOURCE BIN WORK     every "$ " line of a console block prints what stands below it
check_documents.py update SOURCE BIN WORK      writes what the console lines print now into the documents

In ARCHITECTURE.md and CONTRIBUTING.md every `snake_case` word exists as well, and every path, wherever it begins; a path
with NAME in it stands for a file to come, one before "(planned)" for a folder to come.

In a console block a line "..." stands for any number of lines. Times are not compared.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CODE = ("include", "src", "io", "report", "check", "tool", "tests", "bench", "fuzz", "examples", "scenes", "cmake", "scripts")
EXAMPLES = {"README.md": "examples/two_meshes.c", "docs/broadphase.md": "examples/moving_boxes.c",
            "docs/check.md": "examples/check.c"}
DRAWINGS = ("ARCHITECTURE.md", "CONTRIBUTING.md")
WORD = re.compile(r"\b(?:graze|GRAZE|gz)_[A-Za-z0-9_]+\*?")
SNAKE = re.compile(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]*\.(?:md|sh|py|txt|json|clang-\w+))`(?! \(planned\))")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMES = [
    (re.compile(r'"20[0-9]{2}-[0-9-]{5}T[0-9:]{8}Z"'), '"T"'),
    (re.compile(r'("(?:load|build|query|write|total|seconds)": ?)[0-9][0-9.e+-]*'), r"\g<1>T"),
    (re.compile(r"\b[0-9][0-9.e+-]* (?:s|ms|us|seconds)\b"), "T"),
]


def documents(source):
    return [source / "README.md", source / "CHANGELOG.md", *(source / name for name in DRAWINGS),
            *sorted((source / "docs").glob("*.md"))]


def code_words(source):
    words = set()
    files = [source / "CMakeLists.txt", source / "CMakePresets.json"]
    for folder in CODE:
        files += [f for f in (source / folder).rglob("*") if f.is_file() and "documents" not in f.parts]
    for file in files:
        words.update(IDENTIFIER.findall(file.read_text(errors="replace")))
    return words


def check_names(source):
    known = code_words(source)
    faults = []
    for document in documents(source):
        for number, line in enumerate(document.read_text().splitlines(), 1):
            words = WORD.findall(line) + (SNAKE.findall(line) if document.name in DRAWINGS else [])
            for word in words:
                stem = word.rstrip("*")
                found = any(k.startswith(stem) for k in known) if stem != word or stem.endswith("_") else word in known
                if not found:
                    faults.append(f"{document.relative_to(source)}:{number}: {word} is not in the code")
    return faults


def anchors(document):
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", document.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(source):
    faults = []
    for document in documents(source):
        text = FENCE.sub("", document.read_text())
        targets = [(t, a, document.parent) for t, a in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text)]
        paths = re.findall(r"`((?:%s|docs)/[\w./-]*)`(?! \(planned\))" % "|".join(CODE), text)
        if document.name in DRAWINGS:
            paths += PATH.findall(text)
        targets += [(t, "", source) for t in paths if "NAME" not in t]
        for target, anchor, base in targets:
            if re.match(r"[a-z]+:", target):
                continue
            path = base / target if target else document
            if not path.exists():
                faults.append(f"{document.relative_to(source)}: {target} leads nowhere")
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                faults.append(f"{document.relative_to(source)}: {target} has no heading #{anchor}")
    return sorted(set(faults))


def check_examples(source):
    faults = []
    for document, example in EXAMPLES.items():
        blocks = [body for kind, body in FENCE.findall((source / document).read_text()) if kind == "c"]
        if (source / example).read_text() not in blocks:
            faults.append(f"{document}: no C block is {example}, byte for byte")
    return faults


def plain(line):
    line = line.rstrip()
    for pattern, replacement in TIMES:
        line = pattern.sub(replacement, line)
    return line


def matches(wanted, got):
    """Do the lines match, "..." standing for any run of lines?"""
    if not wanted:
        return not got
    if wanted[0] == "...":
        return any(matches(wanted[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and wanted[0] == got[0] and matches(wanted[1:], got[1:])


def sessions(body):
    """The commands of a console block and the lines below each."""
    result = []
    for line in body.splitlines():
        if line.startswith("$ "):
            result.append((line[2:], []))
        elif result:
            result[-1][1].append(line)
    return result


def run(command, status, binary, folder):
    environment = dict(os.environ, PATH=f"{binary}{os.pathsep}{os.environ['PATH']}", LC_ALL="C", COLUMNS="120")
    environment.pop("GRAZE_DISABLE", None)
    done = subprocess.run(["sh", "-c", f"(exit {status}); {command}"], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout.splitlines()


def console(source, binary, work, update):
    faults = []
    count = 0
    for document in documents(source):
        folder = work / document.stem
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source / "examples", folder / "examples")
        text = document.read_text()
        for kind, body in FENCE.findall(text):
            if kind != "console":
                continue
            status = 0
            written = []
            for command, wanted in sessions(body):
                status, got = run(command, status, binary, folder)
                count += 1
                written += ["$ " + command, *(wanted if "..." in wanted else [g.rstrip() for g in got])]
                if not matches([plain(w) for w in wanted], [plain(g) for g in got]):
                    faults.append(f"{document.relative_to(source)}: $ {command}\n"
                                  + "\n".join(difflib.unified_diff(wanted, got, "document", "now", lineterm="")))
            if update:
                text = text.replace(body, "".join(line + "\n" for line in written), 1)
        if update:
            document.write_text(text)
    print(f"{count} commands run")
    return [] if update else faults


def main():
    check, source = sys.argv[1], Path(sys.argv[2]).resolve()
    if check in ("console", "update"):
        faults = console(source, Path(sys.argv[3]).resolve(), Path(sys.argv[4]).resolve(), check == "update")
    else:
        faults = {"names": check_names, "links": check_links, "examples": check_examples}[check](source)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
