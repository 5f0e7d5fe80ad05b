#!/usr/bin/env python3
"""Sets what graze-bench measured on a device against what its memory and its arithmetic allow at most.

    roofline.py RESULTS PAGE            writes the table of PAGE, between its two marks
    roofline.py --check RESULTS PAGE    fails unless the table is what would be written

RESULTS is the folder of the CSV files. Rows count when their note names the device below; of several the last one does.
Bytes and operations are those that docs/gpu-roofline.md counts from the kernels.
"""
import csv
import math
import re
import sys
from pathlib import Path

DEVICE = "H200"
# NVIDIA's data sheet of the H200 SXM; it counts a multiply-add as two, and ours are rounded one by one.
BYTES, SINGLES = 4.8e12, 67e12 / 2

BEGIN, END = "<!-- made by bench/roofline.py -->", "<!-- to here -->"


def sort_bytes(key, bits):
    """A pair of a key and a number of 4 bytes: counting, the scan of the counts, and writing, each pass."""
    counts = 256 * 4 / 2048
    return math.ceil(bits / 8) * ((key + counts) + 3 * counts + (2 * (key + 4) + counts))


def boxes_bytes(count, pairs):
    """A box of floats in one level of a grid in levels, of unit cubes evenly in a cube (scenes/boxes.c)."""
    side = (1.6 * count) ** (1 / 3)
    axis = math.ceil(math.log2(side / 1.001 + 1))
    levels = 1 + max(1, math.ceil(math.log(side / 1.001, 4)))
    number = math.ceil(math.log2(count))
    key = 3 * axis + math.ceil(math.log2(levels))
    box = 24 + 36 + sort_bytes(8, key) + 68 + 68 + 12 + 68
    return box + pairs * (8 + sort_bytes(8, 2 * number) + 16)


def build_bytes():
    """A box of a hierarchy: bounds, keys, their sort, nodes, levels, and the boxes of the nodes."""
    return 24 + 36 + sort_bytes(8, 63) + 20 + 76 + 108


# Label, workload without the device, engine, items a second at most (of the pairs that a box has).
ROWS = [
    ("scan, 16,777,216 numbers", "gpu_scan/16777216", "gpu", lambda p: BYTES / 12),
    ("sort32, 16,777,216 pairs", "gpu_sort32/16777216", "gpu", lambda p: BYTES / sort_bytes(4, 32)),
    ("sort64, 16,777,216 pairs", "gpu_sort64/16777216", "gpu", lambda p: BYTES / sort_bytes(8, 64)),
    ("boxes, uniform, 1,000,000", "gpu_boxes/uniform/1000000", "gpu_kernels", lambda p: BYTES / boxes_bytes(1e6, p)),
    ("boxes, uniform, 10,000,000", "gpu_boxes/uniform/10000000", "gpu_kernels", lambda p: BYTES / boxes_bytes(1e7, p)),
    ("hierarchy built, uniform, 1,000,000", "gpu_tree_build/uniform/1000000", "gpu", lambda p: BYTES / build_bytes()),
    ("hierarchy built, uniform, 10,000,000", "gpu_tree_build/uniform/10000000", "gpu", lambda p: BYTES / build_bytes()),
    ("hierarchy refitted, uniform, 10,000,000", "gpu_tree_refit/uniform/10000000", "gpu", lambda p: BYTES / 184),
    ("triangles, waves of 16,200", "gpu_triangles/waves/90", "gpu", lambda p: SINGLES / 6),
    ("triangles, waves of 100,352", "gpu_triangles/waves/224", "gpu", lambda p: SINGLES / 6),
]


def read(folder):
    """Of the device: workload and engine without its name: items a second. And pairs a box, of a million."""
    measured, pairs = {}, None
    for path in sorted(Path(folder).glob("*.csv")):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if "workload" not in row:
                    break  # a table of something else
                if row["workload"] == "broad/uniform/1000000" and row["ok"] == "yes" and row["engine"] == "cpu/auto":
                    pairs = int(row["count"]) / int(row["size"])
                found = re.search(r"/((?:cuda|opencl):\d+)", row["workload"])
                if not found or DEVICE not in row["note"] or row["ok"] != "yes":
                    continue
                device = found.group(1)
                key = row["workload"].replace("/" + device, ""), row["engine"].replace("/" + device, "")
                measured[key] = float(row["items_per_s"]), device
    return measured, pairs


def number(x):
    """1234567890 as 1.23 G."""
    power = min(4, int(math.log10(x) // 3))
    return f"{x / 1000 ** power:.3g}{['', ' k', ' M', ' G', ' T'][power]}"


def table(folder):
    measured, pairs = read(folder)
    if pairs is None:
        sys.exit(f"roofline.py: {folder} has no row of a million uniform boxes")
    lines = [BEGIN, "| row | at most, a second | measured | measured / bound |", "|---|---|---|---|"]
    for label, workload, engine, bound in ROWS:
        most, row = bound(pairs), measured.get((workload, engine))
        got = f"{number(row[0])} ({row[1]}) | {row[0] / most:.2f}" if row else "not measured | not measured"
        lines.append(f"| {label} | {number(most)} | {got} |")
    return "\n".join(lines + [END])


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    page = Path(arguments[1])
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"roofline.py: {page} has no marks for the table")
    made = text[:text.index(BEGIN)] + table(arguments[0]) + text[text.index(END) + len(END):]
    if "--check" not in sys.argv:
        page.write_text(made, encoding="utf-8")
    elif made != text:
        sys.exit(f"roofline.py: the table of {page} is not what {arguments[0]} says; make it anew")


if __name__ == "__main__":
    main()
