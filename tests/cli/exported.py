#!/usr/bin/env python3
"""Models as exporters write them: floats in the axes of each part, translations in doubles, and a quarter turn for the
axis that is up, whose quaternion is rounded.

    exported.py --bin FOLDER

A house whose walls and slab are flush and whose beam runs through a wall: with `--tolerance precision` the beam alone is
left, and the viewpoint of its BCF topic sees it. A jig with bolts and a shaft: what is flush in a plane touches, since the
quarter turn is taken as exact; what is tight all around has no way out, as a linear program tells, and is forgiven since
its corners may have been where it fits; the shaft that runs through the base is not.
Blocks that lie flush on each other at any turn and place, whose poses are written as doubles, as floats, or as the decimals
of floats: the pin that is 5 mm in a plate is left alone.
"""
import argparse
import itertools
import json
import math
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TURN = [-0.7071067811865475, 0, 0, 0.7071067811865475]  # z up becomes y up; the root of 1/2 is rounded
SIDES = 24
ID = "3rPX_Juz59peXXY6wDJl1"  # and a digit: an IFC GlobalId


def as_float(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def need(condition, words):
    if not condition:
        sys.exit("exported.py: " + words)


def ring(reach, z, square=False):
    """Corners around an axis, of a circle or of the square outside it in the same directions."""
    corners = []
    for i in range(SIDES):
        c, s = math.cos(2 * math.pi * i / SIDES), math.sin(2 * math.pi * i / SIDES)
        size = reach / max(abs(c), abs(s)) if square else reach
        corners.append((round(size * c, 12), round(size * s, 12), z))
    return corners


def prism(low, high):
    triangles = []
    for i in range(len(low)):
        j = (i + 1) % len(low)
        triangles += [(low[i], low[j], high[j]), (low[i], high[j], high[i])]
    for i in range(1, len(low) - 1):
        triangles += [(low[0], low[i + 1], low[i]), (high[0], high[i], high[i + 1])]
    return triangles


def box(x, y, z):
    return prism(*([(0, 0, h), (x, 0, h), (x, y, h), (0, y, h)] for h in (0, z)))


def tube(outer, inner, height, square=False):
    """With a bore along its axis."""
    low, high = ring(outer, 0, square), ring(outer, height, square)
    bore_low, bore_high = ring(inner, 0), ring(inner, height)
    triangles = []
    for i in range(SIDES):
        j = (i + 1) % SIDES
        for a, b, c, d in ((low[i], low[j], high[j], high[i]), (bore_low[j], bore_low[i], bore_high[i], bore_high[j]),
                           (high[i], high[j], bore_high[j], bore_high[i]), (low[j], low[i], bore_low[i], bore_low[j])):
            triangles += [(a, b, c), (a, c, d)]
    return triangles


def at(triangles, place):
    """Written in the axes of the model, not in its own."""
    return [tuple(tuple(p + q for p, q in zip(corner, place)) for corner in triangle) for triangle in triangles]


def write_glb(path, parts, turn=None):
    """Parts: name, triangles, translation, rotation. All are turned."""
    data, views, accessors, nodes = b"", [], [], []
    for name, triangles, translation, *rotation in parts:
        corners = [corner for triangle in triangles for corner in triangle]
        packed = struct.pack(f"<{3 * len(corners)}f", *(c for corner in corners for c in corner))
        floats = list(struct.iter_unpack("<3f", packed))
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(packed)})
        accessors.append({"bufferView": len(views) - 1, "componentType": 5126, "count": len(corners), "type": "VEC3",
                          "min": [min(c) for c in zip(*floats)], "max": [max(c) for c in zip(*floats)]})
        nodes.append({"name": name, "mesh": len(views) - 1, "translation": translation})
        nodes[-1].update({"rotation": rotation[0]} if rotation else {})
        data += packed
    roots = list(range(len(nodes)))
    if turn is not None:
        nodes.append({"rotation": turn, "children": roots})
        roots = [len(nodes) - 1]
    text = json.dumps({"asset": {"version": "2.0"}, "buffers": [{"byteLength": len(data)}], "bufferViews": views,
                       "accessors": accessors, "nodes": nodes, "scenes": [{"nodes": roots}],
                       "meshes": [{"primitives": [{"attributes": {"POSITION": k}}]} for k in range(len(views))]}).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x4E4942) + data
    path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)


def check(graze, path, *options):
    """Relations by the last parts of the names, and the whole of what is told."""
    done = subprocess.run([graze, "check", path, "--format", "json", "--quiet", *options], capture_output=True, text=True)
    need(done.returncode == 1, f"{path.name}: exit {done.returncode}: {done.stderr}")
    told = json.loads(done.stdout)
    return {(p["a"].rsplit("/")[-1], p["b"].rsplit("/")[-1]): p for p in told["pairs"]}, told


def camera_sees(bcf, clash):
    """The clash, with z up, is in the middle third of the picture."""
    with zipfile.ZipFile(bcf) as archive:
        for name in archive.namelist():
            if not name.endswith("markup.bcf") or clash["id"] not in archive.read(name).decode():
                continue
            view = re.sub(r"\s", "", archive.read(name.replace("markup.bcf", "viewpoint.bcfv")).decode())
            eye, forward, upward = ([float(v) for v in re.search(
                f"<{key}><X>(.*?)</X><Y>(.*?)</Y><Z>(.*?)</Z>", view).groups()]
                for key in ("CameraViewPoint", "CameraDirection", "CameraUpVector"))
            half = math.tan(math.radians(float(re.search("<FieldOfView>(.*?)<", view).group(1)) / 2))
            x, y, z = clash["point"]
            to = [p - q for p, q in zip((x, -z, y), eye)]
            right = [forward[i - 2] * upward[i - 1] - forward[i - 1] * upward[i - 2] for i in range(3)]
            far, up, aside = (sum(p * q for p, q in zip(to, axis)) for axis in (forward, upward, right))
            return far > 0 and upward[2] > 0 and abs(up) < half * far / 3 and abs(aside) < half * far / 3
    return False


def check_house(graze, folder):
    parts = [("Slab_" + ID + "0", box(6, 4, 0.2), [0, 0, -0.2]), ("Wall A_" + ID + "1", box(6, 0.2, 2.7), [0, 0, 0]),
             ("Wall B_" + ID + "2", box(0.2, 3.8, 2.7), [0, 0.2, 0]), ("Wall C_" + ID + "3", box(0.2, 3.8, 2.7), [5.8, 0.2, 0]),
             ("Beam_" + ID + "4", box(0.2, 3, 0.3), [0.9, -0.3, 2.48])]
    path, report = folder / "house.glb", folder / "report"
    write_glb(path, parts, TURN)
    strict, _ = check(graze, path)
    rounded = [p for p in strict.values() if p["relation"] == "cross" and p["depth_estimate"] < 1e-7]
    need(len(strict) == 6 and len(rounded) > 2, f"house: {len(strict)} clashes, {len(rounded)} of them by rounding")
    pairs, told = check(graze, path, "--tolerance", "precision", "--report", str(report), "--pictures", "0")
    left = [p for p in pairs.values() if not p.get("forgiven")]
    need(told["counts"]["clashes"] == 1 and told["counts"]["forgiven"] == 5, f"house: counts {told['counts']}")
    need("Wall A" in left[0]["a"] and "Beam" in left[0]["b"], f"house: {left} is left")
    for name, pair in pairs.items():
        need(pair["relation"] == strict[name]["relation"], f"house: {name} is another relation")
        need(not pair.get("forgiven") or math.hypot(*pair["translation"]) < 1e-6, f"house: {name} is far from its proof")
    need(camera_sees(report / "clashes.bcf", left[0]), "house: the viewpoint looks elsewhere")


def metres(point):
    return [c / 1000 for c in point]


def jig_parts():
    places = [20, 60, 140, 180]
    cells = [at(tube(20, 10 if x == 100 else 4, 10, square=True), (x, 20, 0)) for x in (20, 60, 100, 140, 180)]
    inner = [x for x in (40, 80, 120, 160)]  # where cells share a side
    plate = [t for cell in cells for t in cell if not any(all(corner[0] == x for corner in t) for x in inner)]
    parts = [("base", at(box(200, 40, 20), (0, 0, -20)), (0, 0, 0)), ("plate", plate, (0, 0, 0))]
    parts += [(f"bolt{k + 1}", prism(ring(4, 0), ring(4, 30)), (x, 20, 0)) for k, x in enumerate(places)]
    parts += [("bush", tube(10, 6, 9), (100, 20, 1)), ("shaft", prism(ring(6, 0), ring(6, 60)), (100, 20, -5))]
    return [(name, [tuple(metres(corner) for corner in triangle) for triangle in triangles], metres(place))
            for name, triangles, place in parts]


def least_overlap(inner, outer):
    """What the best translation leaves of one polygon outside the other, which is convex: the least s for which there
    are x, y with n (corner + (x, y) - side) <= s for all sides, their normals n and all corners, where three are equal."""
    planes, best = [], math.inf
    for (ax, ay), (bx, by) in zip(outer, outer[1:] + outer[:1]):
        size = math.hypot(bx - ax, by - ay)
        u, v = (by - ay) / size, (ax - bx) / size
        planes.append((u, v, max(u * (x - ax) + v * (y - ay) for x, y in inner)))
    for p, q, r in itertools.combinations(planes, 3):
        (a, b, e), (c, d, f) = ([m - n for m, n in zip(one, p)] for one in (q, r))
        if abs(a * d - b * c) < 1e-9:
            continue
        x, y = (b * f - d * e) / (a * d - b * c), (c * e - a * f) / (a * d - b * c)
        s = p[0] * x + p[1] * y + p[2]
        if s < best and all(u * x + v * y + w <= s + 1e-15 for u, v, w in planes):
            best = s
    return best


def has_way_out(place, reach):
    """Whether a plug at the place fits into the bore of that radius, as the floats of both have it."""
    corners = [metres(corner) for corner in ring(reach, 0)]
    at = metres((place, 20))
    inner = [tuple(as_float(c) + p for c, p in zip(corner, at)) for corner in corners]
    outer = [tuple(as_float(c) for c in metres((corner[0] + place, corner[1] + 20))) for corner in ring(reach, 0)]
    return least_overlap(inner, outer) <= 0


def check_jig(graze, folder):
    path, off = folder / "jig.glb", folder / "off.glb"
    write_glb(path, jig_parts(), TURN)
    write_glb(off, jig_parts(), [TURN[0] - 1e-13, 0, 0, TURN[3]])  # more than a rounding
    flush = [("base", "plate"), ("bush", "shaft")] + [("base", f"bolt{k}") for k in range(1, 5)]
    tight = [("plate", "bush")] + [("plate", f"bolt{k}") for k in range(1, 5)]
    pairs, told = check(graze, path)
    need(all(o["closed"] and o["solid"] == {"winding": 1, "parity": 0, "surface": 0} for o in told["objects"]), "jig: not closed")
    need(sorted(pairs) == sorted(flush + tight + [("base", "shaft")]), f"jig: {sorted(pairs)}")
    need(all(pairs[name]["relation"] == "touch" for name in flush), "jig: what is flush does not touch")
    shaft = pairs["base", "shaft"]
    need(shaft["relation"] == "cross" and abs(shaft["depth_estimate"] - 0.005) < 1e-7, f"jig: the shaft: {shaft}")
    turned, _ = check(graze, off)
    need(any(turned[name]["relation"] != "touch" for name in flush if name in turned) or len(turned) < len(pairs),
         "jig: a turn that is off by more than a rounding changes nothing")
    for tier in "t1", "t2":
        pairs, told = check(graze, path, "--tolerance", "precision", "--exactness", tier)
        need(all(pairs[name].get("forgiven") for name in flush), f"jig: what touches is not forgiven, {tier}")
        need([name for name, pair in pairs.items() if not pair.get("forgiven")] == [("base", "shaft")], f"jig: forgiven, {tier}: {pairs}")
        need(told["counts"]["forgiven"] == 11, f"jig: counts {told['counts']}")
        for pair in (pairs[name] for name in tight):
            need(pair["relation"] == "cross" and "translation" not in pair, f"jig: {pair}")
            need(0 < pair["moved_corners"] < 1.8 * pair["tolerance"], f"jig: {pair} moves too far")
    report = folder / "jig"
    check(graze, path, "--tolerance", "precision", "--exactness", "t2", "--report", str(report), "--pictures", "0")
    need((report / "index.html").read_text().count('"moved_corners":') == len(tight), "jig: the page has no proofs")
    again, known = check(graze, path, "--tolerance", "precision", "--exactness", "t2", "--previous", str(report / "clashes.json"))
    need(known["counts"].get("reused_pairs", 0) > 11, f"jig: counts {known['counts']}")
    need(all(pair["moved_corners"] == pairs[name]["moved_corners"] for name, pair in again.items() if name in tight), f"jig: {again}")
    pairs, _ = check(graze, path, "--tolerance", "1e-6")
    need(not any("moved_corners" in pair for pair in pairs.values()), "jig: a length is no precision")
    need(not any(has_way_out(place, 10 if place == 100 else 4) for place in (20, 60, 100, 140, 180)), "jig: there is a way out")


def times(p, q):
    """Of quaternions x, y, z, w."""
    (a, b, c, d), (e, f, g, h) = p, q
    return (d * e + a * h + b * g - c * f, d * f - a * g + b * h + c * e, d * g + a * f - b * e + c * h, d * h - a * e - b * f - c * g)


def turned(q, v):
    back = (-q[0], -q[1], -q[2], q[3])
    return times(times(q, (*v, 0)), back)[:3]


def about(axis, angle):
    q = [0, 0, 0, math.cos(angle / 2)]
    q[axis] = math.sin(angle / 2)
    return tuple(q)


def block_parts(chance, number):
    """Each is written in axes of its own, and `number` says how numbers of poses are written."""
    place = [10 ** chance.uniform(-2, 3) * chance.gauss(0, 1) for _ in range(3)]
    turn = [chance.gauss(0, 1) for _ in range(4)]
    turn = [c / math.hypot(*turn) for c in turn]
    tilted = times(about(2, chance.random()), about(0, 0.7))
    blocks = [("base", (0, 0, -0.02), (0.2, 0.2, 0.02), about(2, 0)), ("left", (0, 0, 0), (0.05, 0.2, 0.03), about(2, 0)),
              ("right", (0.05, 0, 0), (0.15, 0.1, 0.03), about(2, chance.random())),
              ("front", (0.05, 0.1, 0), (0.15, 0.1, 0.03), about(2, math.pi / 2)),
              ("top", (0, 0, 0.03), (0.2, 0.2, 0.01), tilted), ("pin", (0.01, 0.01, 0.035), (0.01, 0.01, 0.025), about(2, 0))]
    parts = []
    for name, corner, size, own in blocks:
        back = (-own[0], -own[1], -own[2], own[3])
        triangles = [[turned(back, c) for c in triangle] for triangle in box(*size)]
        at = [p + q for p, q in zip(place, turned(turn, corner))]
        parts.append((name, triangles, [number(c) for c in at], [number(c) for c in times(turn, own)]))
    return parts


def check_blocks(graze, folder):
    """That more than the pin crosses is what the floats do to poses, and that they are known is what forgives it."""
    writings = {"double": float, "float": as_float, "decimals": lambda c: float(f"{as_float(c):.9g}")}
    for writing, number in writings.items():
        path, false = folder / f"blocks_{writing}.glb", 0
        for seed in range(8):
            write_glb(path, block_parts(random.Random(seed), number))
            pairs, _ = check(graze, path, "--tolerance", "precision")
            crossing = {name: pair for name, pair in pairs.items() if pair["relation"] == "cross"}
            false += len(crossing) - 1
            left = [name for name, pair in pairs.items() if not pair.get("forgiven")]
            need(left == [("top", "pin")], f"blocks, {writing}, seed {seed}: {left} are left")
        need(false > 8, f"blocks, {writing}: roundings make {false} crossings")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    graze = parser.parse_args().bin.resolve() / "graze"
    with tempfile.TemporaryDirectory() as folder:
        check_house(graze, Path(folder))
        check_jig(graze, Path(folder))
        check_blocks(graze, Path(folder))


if __name__ == "__main__":
    main()
