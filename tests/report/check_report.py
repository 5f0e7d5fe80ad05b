#!/usr/bin/env python3
"""Judges the files that make_samples writes, with other parsers than ours.

check_report.py MAKE_SAMPLES WORK

The JSON says what the record was; table, JUnit and BCF must say the same. Of BCF 2.1 the structure of the published schemas
is checked: names, order and number of elements, required attributes, patterns. With GRAZE_BCF_SCHEMAS naming a folder that
has markup.xsd, visinfo.xsd and version.xsd, xmllint validates against them as well.
"""
import csv
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import uuid
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

NAME_SPACE = uuid.UUID("6a37dde1-c2cf-4b0c-9a5e-1f5bd16aeb75")
GUID = re.compile(r"[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}")
BASE_64 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$"
INCOMPLETE = "INCOMPLETE: the check was stopped before every pair of objects was checked"
METRES = {"mm": 0.001, "ft": 0.3048}


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def same(got, want, *where):
    expect(got == want, *where, "is", repr(got), "and not", repr(want))


def guid_of(kind, name):
    return str(uuid.uuid5(NAME_SPACE, f"{kind}:{name}"))


def compressed(name):
    number = uuid.uuid5(NAME_SPACE, f"object:{name}").int
    return "".join(BASE_64[number >> shift & 63] for shift in range(126, -1, -6))


def xml_text(text):
    """What XML cannot carry becomes U+FFFD."""
    return re.sub("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def load(stem):
    report = json.loads(Path(stem + ".json").read_bytes().decode("utf-8"))
    clashes = report["pairs"] + report["resolved"]
    return report, clashes


# ---- JSON ----

def check_json(stem):
    report, clashes = load(stem)
    for key in ("graze", "engine", "exactness", "status", "objects", "pairs", "counts", "seconds", "created", "units"):
        expect(key in report, stem, key, "is missing")
    names = [o["name"] for o in report["objects"]]
    for o in report["objects"]:
        expect({"name", "mesh", "triangles", "degenerate", "closed", "solid", "layer", "file", "mesh_hash", "pose_hash"} == set(o), o)
        same(o["solid"], {"winding": 1, "parity": 0, "surface": 0}, stem, "parts of a tetrahedron")
        expect(re.fullmatch("[0-9a-f]{16}", o["mesh_hash"] or ""), o)
    same(len({o["pose_hash"] for o in report["objects"]}), len(names), stem, "number of pose hashes")
    same(len({o["mesh_hash"] for o in report["objects"]}), 1 if names else 0, stem, "number of mesh hashes")
    same(report["counts"]["objects"], len(names), stem, "objects")
    same(report["counts"]["clashes"], len(report["pairs"]), stem, "clashes")
    for pair in report["pairs"]:
        same(pair["points"] + pair["segments"] + pair["areas"] + pair["degenerate"], pair["triangle_pairs"], pair)
        same("reason" in pair, pair["relation"] == "unknown", stem, "reason")
    for pair in report["resolved"]:
        same(pair["state"], "resolved", pair)
        expect("hash" not in pair and "reason" in pair, pair)
    same(len({c["id"] for c in clashes}), len(clashes), stem, "number of ids")
    for kind in range(len(report["groups"])):
        same(sum(kind in c["groups"] for c in clashes), report["groups"][kind]["clashes"], stem, "group", kind)


# ---- table ----

def check_csv(stem):
    report, clashes = load(stem)
    data = Path(stem + ".csv").read_bytes()
    expect(not re.search(rb"(?<!\r)\n", re.sub(rb'"[^"]*"', b"", data)), "a line of the table ends without CR LF")
    rows = list(csv.DictReader(data.decode("utf-8").splitlines(keepends=True), strict=True))
    if report["status"] == "incomplete":
        first = rows.pop(0)
        same((first["id"], first["state"], first["relation"], first["reason"]), ("", "incomplete", "unknown", INCOMPLETE))
    same(len(rows), len(clashes), stem, "rows")
    layers = {o["name"]: o["layer"] for o in report["objects"]}
    titles = [g["title"] for g in report["groups"]]
    for row, clash in zip(rows, clashes):
        for key in ("id", "state", "relation", "a", "b", "mark", "comment", "hash"):
            same(row[key], clash.get(key, ""), stem, clash["id"], key)
        for key in ("triangle_pairs", "points", "segments", "areas", "coplanar", "degenerate"):
            same(row[key], str(clash.get(key, "")), stem, clash["id"], key)
        same(row["reason"], clash.get("reason", ""), stem, clash["id"], "reason")
        for side in "ab":
            same(row["layer_" + side], layers.get(clash[side], ""), stem, clash["id"], "layer")
        point = [float(row[k]) if row[k] else None for k in "xyz"]
        same(point if None not in point else None, clash["point"], stem, clash["id"], "point")
        for end in ("min", "max"):
            box = [float(row[f"{end}_{k}"]) if row[f"{end}_{k}"] else None for k in "xyz"]
            same(box if None not in box else None, clash["box"] and clash["box"][end], stem, clash["id"], end)
        same(float(row["depth_estimate"]) if row["depth_estimate"] else None, clash["depth_estimate"], stem, "depth")
        found = [row["group_" + k] for k in ("object", "layers", "place") if row["group_" + k]]
        same(found, [titles[g] for g in clash["groups"]], stem, clash["id"], "groups")
        expect(None not in row and None not in row.values(), stem, clash["id"], "another number of fields")


# ---- JUnit ----

def verdict(clash):
    if clash["state"] == "resolved":
        return "skipped"
    if clash["relation"] == "unknown":
        return "error"
    if clash["mark"] == "approved":
        return "skipped"
    return "failure" if clash["relation"] in ("cross", "duplicate") else None


def check_junit(stem):
    report, clashes = load(stem)
    root = ElementTree.parse(stem + ".xml").getroot()
    same(root.tag, "testsuites", stem)
    suites = list(root)
    cases = [c for s in suites for c in s]
    total = {"failure": 0, "error": 0, "skipped": 0, None: 0}
    for suite in suites:
        kinds = [c[0].tag if len(c) else None for c in suite]
        same(suite.get("tests"), str(len(suite)), stem, "tests")
        for kind, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            same(suite.get(plural), str(kinds.count(kind)), stem, suite.get("name"), plural)
            total[kind] += kinds.count(kind)
        expect(all(c.tag == "testcase" and c.get("classname") == suite.get("name") and len(c) <= 1 for c in suite), stem)
    same([root.get(k) for k in ("tests", "failures", "errors")],
         [str(len(cases)), str(total["failure"]), str(total["error"])], stem, "totals")
    same(len({(c.get("classname"), c.get("name")) for c in cases}), len(cases), stem, "different cases")
    special = []
    if report["status"] == "incomplete":
        special = [suites[0][0]]
        same((special[0][0].tag, special[0][0].get("message")), ("error", INCOMPLETE), stem)
    elif not report["pairs"]:
        special = [suites[0][0]]
        same((len(special[0]), special[0].get("name")), (0, "no clash among 28 pairs of objects"), stem)
    by_id = {re.search(r"\((c-[0-9a-z]+)\)$", c.get("name"))[1]: c for c in cases if c not in special}
    same(len(by_id), len(clashes), stem, "cases")
    for clash in clashes:
        case = by_id[clash["id"]]
        kind = case[0].tag if len(case) else None
        same(kind, verdict(clash), stem, clash["id"], "verdict")
        same(case.get("name"), xml_text(f'{clash["a"]} and {clash["b"]} ({clash["id"]})'), stem)
        if kind:
            same(case[0].text or "", xml_text(clash["comment"]), stem, clash["id"], "comment")


# ---- BCF ----

TOPIC = ("(ReferenceLink )*Title (Priority )?(Index )?(Labels )*CreationDate CreationAuthor (ModifiedDate )?"
         "(ModifiedAuthor )?(DueDate )?(AssignedTo )?(Stage )?(Description )?(BimSnippet )?(DocumentReference )*"
         "(RelatedTopic )*")
RULES = {  # of markup.xsd and visinfo.xsd: children in order, required attributes
    "Markup": ("(Header )?Topic (Comment )*(Viewpoints )*", []),
    "Topic": (TOPIC, ["Guid"]),
    "Markup/Comment": ("Date Author Comment (Viewpoint )?(ModifiedDate )?(ModifiedAuthor )?", ["Guid"]),
    "Viewpoints": ("(Viewpoint )?(Snapshot )?(Index )?", ["Guid"]),
    "VisualizationInfo": ("(Components )?(OrthogonalCamera )?(PerspectiveCamera )?(Lines )?(ClippingPlanes )?(Bitmap )*",
                          ["Guid"]),
    "Components": ("(ViewSetupHints )?(Selection )?Visibility (Coloring )?", []),
    "Selection": ("(Component )+", []),
    "Visibility": ("(Exceptions )?", []),
    "Coloring": ("(Color )+", []),
    "Color": ("(Component )+", ["Color"]),
    "Component": ("(OriginatingSystem )?(AuthoringToolId )?", ["IfcGuid"]),
    "PerspectiveCamera": ("CameraViewPoint CameraDirection CameraUpVector FieldOfView ", []),
    "CameraViewPoint": ("X Y Z ", []),
    "CameraDirection": ("X Y Z ", []),
    "CameraUpVector": ("X Y Z ", []),
    "Lines": ("(Line )+", []),
    "Line": ("StartPoint EndPoint ", []),
    "StartPoint": ("X Y Z ", []),
    "EndPoint": ("X Y Z ", []),
}
PATTERNS = {"Guid": GUID, "IfcGuid": re.compile(r"[0-3][0-9A-Za-z_$]{21}"), "Color": re.compile("[0-9A-F]{6}([0-9A-F]{2})?")}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def check_structure(element, parent, where):
    children, required = RULES.get(f"{parent}/{element.tag}") or RULES.get(element.tag) or ("", [])
    found = "".join(child.tag + " " for child in element)
    expect(re.fullmatch(children, found), where, element.tag, "has the children", found)
    for attribute in required:
        expect(attribute in element.attrib, where, element.tag, "lacks", attribute)
    for attribute, value in element.attrib.items():
        if attribute in PATTERNS:
            expect(PATTERNS[attribute].fullmatch(value), where, attribute, value)
    if element.tag.endswith("Date"):
        expect(TIME.fullmatch(element.text), where, element.tag, element.text)
    if element.tag in "XYZ":
        expect(math.isfinite(float(element.text)), where, element.text)
    if element.tag == "FieldOfView":
        expect(45 <= float(element.text) <= 60, where, element.text)
    for child in element:
        check_structure(child, element.tag, where)


def vector(element):
    return [float(element.find(axis).text) for axis in "XYZ"]


def validate(archive, name, schema):
    folder = os.environ.get("GRAZE_BCF_SCHEMAS")
    if not folder or not shutil.which("xmllint"):
        return
    done = subprocess.run(["xmllint", "--noout", "--schema", f"{folder}/{schema}", "-"], input=archive.read(name),
                          capture_output=True, check=False)
    expect(done.returncode == 0, name, done.stderr.decode())


def check_camera(view, clash, units, index, aspect):
    """make_samples looks down the z axis from 500 above the point; what fills the picture must stay the same."""
    camera = view.find("PerspectiveCamera")
    if clash["point"] is None:
        expect(camera is None, clash["id"], "has a camera and no place")
        return
    metres = METRES[units]
    eye, field = vector(camera.find("CameraViewPoint")), math.radians(float(camera.find("FieldOfView").text))
    same(vector(camera.find("CameraDirection")), [0, 0, -1], clash["id"], "direction")
    same(vector(camera.find("CameraUpVector")), [0, 1, 0], clash["id"], "up")
    wide = math.tan(math.radians((40 if index % 2 else 20) / 2)) * aspect * 500 * metres
    distance = eye[2] - clash["point"][2] * metres
    expect(abs(math.tan(field / 2) * distance / wide - 1) < 1e-9, clash["id"], "the width of the view changed")
    for k in range(2):
        expect(abs(eye[k] - clash["point"][k] * metres) < 1e-9, clash["id"], "eye")


def check_aim(view, clash, units, up):
    """The clash, in axes with z up, stands in the middle of the picture of the viewpoint, which is upright."""
    if clash["box"] is None:
        return
    camera, metres = view.find("PerspectiveCamera"), METRES.get(units, 1)
    eye, forward, upward = (vector(camera.find(n)) for n in ("CameraViewPoint", "CameraDirection", "CameraUpVector"))
    right = [forward[(k + 1) % 3] * upward[(k + 2) % 3] - forward[(k + 2) % 3] * upward[(k + 1) % 3] for k in range(3)]
    for corner in itertools.product(*zip(clash["box"]["min"], clash["box"]["max"])):
        x, y, z = (c * metres for c in corner)
        place = (x, -z, y) if up == "y" else (x, y, z)
        across, high, far = (sum(axis[k] * (place[k] - eye[k]) for k in range(3)) for axis in (right, upward, forward))
        half = math.tan(math.radians(float(camera.find("FieldOfView").text) / 2)) * far
        expect(far > 0 and abs(across) < half and abs(high) < half, clash["id"], "a corner is at", across, high, far)
    expect(upward[2] > 0.1, clash["id"], "the picture is not upright:", upward)


def check_topic(archive, stem, report, clash, index, names):
    folder = guid_of("topic", clash["id"]) + "/"
    picture = Path("pictures", clash["id"] + ".png")
    pictured = stem == "nasty" and picture.exists()
    wanted = [folder, folder + "markup.bcf", folder + "viewpoint.bcfv"] + [folder + "snapshot.png"] * pictured
    same([n for n in names if n.startswith(folder)], wanted, stem, "entries")
    markup = ElementTree.fromstring(archive.read(folder + "markup.bcf"))
    view = ElementTree.fromstring(archive.read(folder + "viewpoint.bcfv"))
    check_structure(markup, "", folder + "markup.bcf")
    check_structure(view, "", folder + "viewpoint.bcfv")
    validate(archive, folder + "markup.bcf", "markup.xsd")
    validate(archive, folder + "viewpoint.bcfv", "visinfo.xsd")
    topic, viewpoint = markup.find("Topic"), guid_of("viewpoint", clash["id"])
    same(topic.get("Guid") + "/", folder, stem, "topic")
    closed = clash["state"] == "resolved" or (clash["mark"] == "approved" and clash["relation"] != "unknown")
    same((topic.get("TopicType"), topic.get("TopicStatus")), ("Clash", "Closed" if closed else "Open"), clash["id"])
    same(topic.find("Title").text, xml_text(f'{clash["a"]} and {clash["b"]}: {clash["relation"]}'), "title")
    same(topic.find("Index").text, str(index + 1), "index")
    same(topic.find("CreationDate").text, clash["found"], "created")
    same(topic.find("ModifiedDate") is not None, clash["found"] != report["created"], "modified")
    description = topic.find("Description").text
    expect(xml_text("A: " + clash["a"]) in description and clash["id"] in description, description)
    same("not known" in description, report["units"] not in METRES, "the word on units")
    same("no picture" in description, stem == "nasty" and not pictured, "the word on pictures")
    comments = [c.find("Comment").text for c in markup.findall("Comment")]
    same(comments, [xml_text(clash["comment"])] if clash["comment"] else [], "comments")
    points = markup.find("Viewpoints")
    same((points.get("Guid"), points.find("Viewpoint").text), (viewpoint, "viewpoint.bcfv"), "viewpoint")
    same(points.find("Snapshot") is not None, pictured, "snapshot")
    if pictured:
        same(archive.read(folder + "snapshot.png"), picture.read_bytes(), "picture")
    same(view.get("Guid"), viewpoint, "viewpoint")
    check_components(view, clash)
    check_line(view, clash, report["units"], "y" if stem == "upright" else "z")
    if stem in ("stopped", "upright"):
        check_aim(view, clash, report["units"], "y" if stem == "upright" else "z")
    if stem == "nasty":
        check_camera(view, clash, report["units"], index, 320 / 180 if pictured else 1)


WRITTEN = {"Site/Wall:2O2Fr$t4X7Zf8NOew3FLOH#2": "2O2Fr$t4X7Zf8NOew3FLOH", "Duct_0kF45Xs8L9PAM9kmb1lT2Z": "0kF45Xs8L9PAM9kmb1lT2Z"}


def check_components(view, clash):
    selected = view.findall("Components/Selection/Component")
    same([c.find("AuthoringToolId").text for c in selected], [xml_text(clash[s]) for s in "ab"], clash["id"], "selection")
    same({c.find("OriginatingSystem").text for c in selected}, {"Graze"}, "system")
    for component, side in zip(selected, "ab"):
        name = clash[side]
        if "\ufffd" not in name:  # the JSON does not have the bytes of names that are no UTF-8
            same(component.get("IfcGuid"), WRITTEN.get(name) or compressed(name), name)
    coloured = [c.find("Component").get("IfcGuid") for c in view.findall("Components/Coloring/Color")]
    same(coloured, [c.get("IfcGuid") for c in selected], clash["id"], "coloured")
    same(view.find("Components/Visibility").get("DefaultVisibility"), "true", "visibility")


def check_line(view, clash, units, up):
    """A gap is drawn, in metres and with z up."""
    lines = [(vector(line.find("StartPoint")), vector(line.find("EndPoint"))) for line in view.findall("Lines/Line")]
    same(len(lines), int("nearest" in clash), clash["id"], "lines")
    for ends in lines:
        for end, point in zip(ends, clash["nearest"]):
            x, y, z = (c * METRES.get(units, 1) for c in point)
            for got, want in zip(end, (x, -z, y) if up == "y" else (x, y, z)):
                expect(abs(got - want) <= 1e-12 * abs(want), clash["id"], "the line ends at", end)


def check_end(data, entries):
    """The count in the last records, which Python's reader does not look at."""
    count = int.from_bytes(data[-12:-10], "little")
    if entries <= 0xffff:
        same(count, entries, "entries in the end record")
        return
    end, locator = data[-22 - 20 - 56:-22 - 20], data[-22 - 20:-22]
    same((count, end[:4], locator[:4]), (0xffff, b"PK\6\6", b"PK\6\7"), "end records")
    same([int.from_bytes(end[k:k + 8], "little") for k in (24, 32)], [entries] * 2, "entries in the Zip64 record")
    size, start = (int.from_bytes(end[k:k + 8], "little") for k in (40, 48))
    same(start + size, len(data) - 22 - 20 - 56, "end of the directory")
    same(int.from_bytes(locator[8:16], "little"), start + size, "place of the Zip64 record")
    same(data[start:start + 4], b"PK\1\2", "begin of the directory")


def check_bcf(stem):
    if not Path(stem + ".bcf").exists():
        print("skipped: built without zlib, so there is no BCF")
        return
    report, clashes = load(stem)
    with zipfile.ZipFile(stem + ".bcf") as archive:
        expect(archive.testzip() is None, stem, "a checksum is wrong")
        names = archive.namelist()
        check_end(Path(stem + ".bcf").read_bytes(), len(names))
        same(len(set(names)), len(names), stem, "different entries")
        same(names[0], "bcf.version", stem)
        same({i.date_time for i in archive.infolist()}, {(2025, 1, 31, 12, 34, 56)}, stem, "times")
        version = ElementTree.fromstring(archive.read("bcf.version"))
        same((version.tag, version.get("VersionId"), version.find("DetailedVersion").text), ("Version", "2.1", "2.1"))
        validate(archive, "bcf.version", "version.xsd")
        folders = [guid_of("topic", c["id"]) + "/" for c in clashes]
        if report["status"] == "incomplete":
            folder = guid_of("topic", "incomplete") + "/"
            folders.insert(0, folder)
            markup = ElementTree.fromstring(archive.read(folder + "markup.bcf"))
            check_structure(markup, "", folder)
            validate(archive, folder + "markup.bcf", "markup.xsd")
            same(markup.find("Topic/Title").text, INCOMPLETE, stem)
        same([n for n in names if n.endswith("/")], folders, stem, "folders")
        for index, clash in enumerate(clashes if stem != "many" else []):
            check_topic(archive, stem, report, clash, index, names)


def main():
    program, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.chdir(work)
    subprocess.run([program, "."], check=True)
    for stem in ("nasty", "stopped", "upright", "clear", "many"):
        check_json(stem)
        check_csv(stem)
        check_junit(stem)
        check_bcf(stem)


main()
