#!/usr/bin/env python3
"""Makes plants as GLB and as a folder, and checks the GLB against glTF 2.0 and against the folder. Nothing of the
project reads the files here.

    check_glb.py --bin FOLDER
"""
import argparse
import json
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

COMPONENTS = {5125: ("I", 4), 5126: ("f", 4)}
WIDTHS = {"SCALAR": 1, "VEC3": 3}


def need(condition, words):
    if not condition:
        sys.exit("check_glb.py: " + words)


def chunks(data):
    """Header and chunks of the container."""
    magic, version, length = struct.unpack_from("<4sII", data)
    need(magic == b"glTF" and version == 2, "magic and version")
    need(length == len(data) and length % 4 == 0, "length of the file")
    at, found = 12, []
    while at < length:
        size, kind = struct.unpack_from("<I4s", data, at)
        need(size % 4 == 0 and at + 8 + size <= length, "a chunk's length")
        found.append((kind, data[at + 8:at + 8 + size]))
        at += 8 + size
    need([kind for kind, _ in found] == [b"JSON", b"BIN\0"], "kinds of chunks")
    return json.loads(found[0][1].decode("utf-8")), found[1][1]


def accessor(document, binary, number):
    """The numbers of an accessor, row by row, with every bound of the specification checked."""
    entry = document["accessors"][number]
    view = document["bufferViews"][entry["bufferView"]]
    letter, size = COMPONENTS[entry["componentType"]]
    width = WIDTHS[entry["type"]]
    start, length = view.get("byteOffset", 0), view["byteLength"]
    need(view["buffer"] == 0 and entry["count"] >= 1, "a view's buffer or an accessor's count")
    need(start % 4 == 0 and start + length <= document["buffers"][0]["byteLength"], "a view's place")
    need(entry.get("byteOffset", 0) == 0 and entry["count"] * width * size == length, "an accessor's length")
    flat = struct.unpack_from("<%d%s" % (entry["count"] * width, letter), binary, start)
    rows = [flat[i:i + width] for i in range(0, len(flat), width)]
    if "min" in entry:
        need(entry["min"] == [min(column) for column in zip(*rows)], "min of accessor %d" % number)
        need(entry["max"] == [max(column) for column in zip(*rows)], "max of accessor %d" % number)
    return rows


def meshes(document, binary):
    """Name, positions and triangles of every mesh."""
    found, used = [], []
    for mesh in document["meshes"]:
        need(len(mesh["primitives"]) == 1, "primitives of " + mesh["name"])
        primitive = mesh["primitives"][0]
        need(primitive.get("mode", 4) == 4, "mode of " + mesh["name"])
        where, which = primitive["attributes"]["POSITION"], primitive["indices"]
        need("min" in document["accessors"][where] and "max" in document["accessors"][where], "bounds of positions")
        need([document["accessors"][n]["type"] for n in (where, which)] == ["VEC3", "SCALAR"], "types")
        need(document["accessors"][which]["componentType"] == 5125, "type of indices")
        views = [document["bufferViews"][document["accessors"][n]["bufferView"]] for n in (where, which)]
        need([view["target"] for view in views] == [34962, 34963], "targets")
        positions = accessor(document, binary, where)
        flat = [row[0] for row in accessor(document, binary, which)]
        need(len(flat) % 3 == 0 and max(flat) < len(positions), "indices of " + mesh["name"])
        found.append((mesh["name"], positions, [tuple(flat[i:i + 3]) for i in range(0, len(flat), 3)]))
        used += [where, which]
    need(sorted(used) == list(range(len(document["accessors"]))), "accessors are used once")
    return found


def objects(document):
    """Path, mesh and pose of every node with a mesh, by a walk from the roots; each node has one parent."""
    found, seen = {}, set()
    todo = [(node, "") for node in document["scenes"][document["scene"]]["nodes"]]
    while todo:
        number, above = todo.pop()
        need(number not in seen, "node %d has two parents" % number)
        seen.add(number)
        node = document["nodes"][number]
        path = above + node["name"]
        if "children" in node:
            need(node["children"] and "matrix" not in node, "a node of names")
            todo += [(child, path + "/") for child in node["children"]]
        else:
            need("mesh" in node and path not in found, "object " + path)
            m = node.get("matrix", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
            need(len(m) == 16 and [m[3], m[7], m[11], m[15]] == [0, 0, 0, 1], "matrix of " + path)
            found[path] = (node["mesh"], [m[4 * (k % 4) + k // 4] for k in range(12)])
    need(len(seen) == len(document["nodes"]), "every node is in the scene")
    return found


def read_obj(path):
    positions, triangles = [], []
    for line in path.read_text().splitlines():
        if line.startswith("v "):
            positions.append(tuple(float(word) for word in line.split()[1:]))
        elif line.startswith("f "):
            triangles.append(tuple(int(word) - 1 for word in line.split()[1:]))
    return positions, triangles


def check(tool, folder, options):
    for target in ("plant", "plant.glb"):
        subprocess.run([tool, "make", "plant", *options, "-o", folder / target], check=True, stdout=subprocess.DEVNULL)
    need((folder / "plant/truth.json").read_bytes() == (folder / "plant.glb.truth.json").read_bytes(), "truth")
    document, binary = chunks((folder / "plant.glb").read_bytes())
    need(document["asset"]["version"] == "2.0", "version")
    need(len(document["buffers"]) == 1 and "uri" not in document["buffers"][0], "one buffer, in the file")
    need(0 <= len(binary) - document["buffers"][0]["byteLength"] < 4, "length of the buffer")
    scene = json.loads((folder / "plant/scene.json").read_text())
    found = meshes(document, binary)
    for name, positions, triangles in found:
        need((positions, triangles) == read_obj(folder / "plant" / (name + ".obj")), "mesh " + name)
    placed = objects(document)
    need(len(placed) == len(scene["objects"]), "number of objects")
    for thing in scene["objects"]:
        mesh, pose = placed[thing["name"]]
        need(found[mesh][0] + ".obj" == thing["mesh"] and pose == thing["pose"], "object " + thing["name"])
        for i in range(3):
            need(math.isclose(sum(pose[4 * k + i] ** 2 for k in range(3)), 1, abs_tol=1e-9), "pose of " + thing["name"])
    truth = json.loads((folder / "plant/truth.json").read_text())
    for pair in truth["pairs"]:
        need(pair["a"] in placed and pair["b"] in placed, "names of the truth")
    return len(placed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=Path)
    tool = parser.parse_args().bin / "graze"
    with tempfile.TemporaryDirectory() as scratch:
        for number, options in enumerate([[], ["--seed", "2", "--size", "700", "--clashes", "1"],
                                          ["--seed", "3", "--size", "1", "--clashes", "0"],
                                          ["--seed", "4", "--size", "250", "--detail", "2"]]):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            print(check(tool, folder, options), "objects agree")


if __name__ == "__main__":
    main()
