#!/usr/bin/env python3
"""Draws what graze-bench measured of broad phases: time a box against the number of boxes, both axes logarithmic.

    plot.py RESULTS.csv FOLDER            writes FOLDER/broad-KIND.svg and FOLDER/broad-moving-SPEED.svg
    plot.py --check RESULTS.csv FOLDER    fails unless the files there are what would be written

A line is one of our methods, or the quickest of another library's variants at each size. Rows of one thread only. A
hollow point is a wrong answer. The pictures are SVG with colours for light and dark surroundings; the colours are those
of Okabe and Ito, which people of every colour vision tell apart, and lines of one colour have other points and dashes.
"""
import csv
import math
import sys
from collections import defaultdict
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 800, 500, 62, 112, 64, 48
LINE = 14  # from label to label

# Method: colour, point, dashes.
OURS = {
    "auto": ("ink", "circle", ""),
    "brute": ("vermillion", "circle", ""),
    "sweep": ("orange", "circle", ""),
    "sap": ("orange", "square", "7 3"),
    "grid": ("blue", "circle", ""),
    "hgrid": ("blue", "square", "7 3"),
    "hash": ("sky", "circle", ""),
    "subdivision": ("sky", "square", "7 3"),
    "tree": ("green", "circle", ""),
    "bvh": ("green", "square", "7 3"),
    "octree": ("purple", "circle", ""),
    "kdtree": ("purple", "square", "7 3"),
    "bsp": ("purple", "diamond", "2 3"),
    "verlet": ("vermillion", "square", "7 3"),
}
# Library: name, dashes.
PEERS = {"bullet": ("Bullet", "2 4"), "cgal": ("CGAL", "9 4"), "embree": ("Embree", "5 4"), "fcl": ("FCL", "9 4 2 4"),
         "ode": ("ODE", "5 3 1 3 1 3")}
KINDS = {
    "uniform": "unit cubes, evenly in a cube",
    "mixed": "cubes with edges from 1 to 1000",
    "clusters": "unit cubes in heaps",
    "flat": "unit cubes in a slab",
    "wave": "boxes of the triangles of a wavy plane",
}

STYLE = """
  svg { --paper: #ffffff; --ink: #1a1f26; --soft: #5b6570; --rule: #e4e8ec; --blue: #0072b2; --sky: #3f9fd8;
        --green: #00896a; --orange: #c98500; --vermillion: #d55e00; --purple: #b8588f; --peer: #8a939c;
        font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #12161b; --ink: #eef2f6; --soft: #9aa6b2; --rule: #262d35; --blue: #4aa3e0; --sky: #8fd0f7;
          --green: #2fc49b; --orange: #efb03c; --vermillion: #ff8a47; --purple: #e08fbd; --peer: #7d8893; } }
  .paper { fill: var(--paper); }
  .rule { stroke: var(--rule); stroke-width: 1; }
  .title { fill: var(--ink); font-size: 17px; font-weight: 600; }
  .axis { fill: var(--soft); font-size: 12px; }
  .label { font-size: 12px; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; paint-order: stroke; }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
  .peer { stroke-width: 1.5; }
  .auto { stroke-width: 3.5; }
  .leader { fill: none; stroke-width: 0.8; opacity: 0.6; }
"""


class Series:
    def __init__(self, name, colour, point, dashes, kind):
        self.name, self.colour, self.point, self.dashes, self.kind = name, colour, point, dashes, kind
        self.values = {}  # n: (ns a box, right)


def read_rows(path):
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["ok"] != "failed" and row["threads"] == "1"]


def series_of(rows, workload):
    """The lines of a plot, from the rows whose workload is `workload`/N."""
    ours, peers = {}, {}
    for row in rows:
        stem, _, number = row["workload"].rpartition("/")
        engine, _, name = row["engine"].partition("/")
        if stem != workload:
            continue
        n, value = int(row["size"]), (float(row["ns_per_item"]), row["ok"] == "yes")
        if engine == "cpu" and name in OURS:
            line = ours.setdefault(name, Series(name, *OURS[name], "auto" if name == "auto" else "ours"))
            line.values[n] = value
        elif engine in PEERS:
            line = peers.setdefault(engine, Series(PEERS[engine][0], "peer", "none", PEERS[engine][1], "peer"))
            line.values[n] = min(value, line.values.get(n, value))
    named = [ours[name] for name in OURS if name in ours and name != "auto"]
    return [peers[name] for name in sorted(peers)] + named + ([ours["auto"]] if "auto" in ours else [])


def decade(value):
    """The power of ten at or below."""
    return math.floor(math.log10(value) + 1e-9)


class Axes:
    def __init__(self, lines):
        numbers = [n for line in lines for n in line.values]
        times = [value for line in lines for value, _ in line.values.values()]
        self.x = (math.log10(min(numbers)), max(math.log10(max(numbers)), math.log10(min(numbers)) + 1))
        self.y = (math.log10(self.step_below(min(times))), math.log10(self.step_above(max(times))))

    @staticmethod
    def step_below(value):
        return max(s * 10 ** decade(value) for s in (1, 2, 5) if s * 10 ** decade(value) <= value * 1.0000001)

    @staticmethod
    def step_above(value):
        return min(s * 10 ** decade(value) for s in (1, 2, 5, 10) if s * 10 ** decade(value) >= value)

    def at_x(self, n):
        part = (math.log10(n) - self.x[0]) / (self.x[1] - self.x[0])
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def at_y(self, value):
        part = (math.log10(value) - self.y[0]) / (self.y[1] - self.y[0])
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)


def short(value):
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def time_text(ns):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "\u00b5s")):
        if ns >= unit:
            return f"{ns / unit:g} {name}"
    return f"{ns:g} ns"


def draw_axes(axes, out):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for power in range(math.floor(axes.y[0]), math.ceil(axes.y[1]) + 1):
        for step in (1, 2, 5):
            value = step * 10.0 ** power
            if not axes.y[0] - 1e-9 <= math.log10(value) <= axes.y[1] + 1e-9:
                continue
            y = axes.at_y(value)
            out.append(f'<line class="rule" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
            if step == 1 or axes.y[1] - axes.y[0] < 2.4:
                out.append(f'<text class="axis" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{time_text(value)}</text>')
    for power in range(math.ceil(axes.x[0] - 0.05), math.floor(axes.x[1] + 0.05) + 1):
        x = axes.at_x(10.0 ** power)
        out.append(f'<line class="rule" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        out.append(f'<text class="axis" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{short(10.0 ** power)}</text>')
    out.append(f'<text class="axis" x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">boxes</text>')


def draw_point(point, x, y, right, out, colour):
    fill = f"var(--{colour})" if right else "var(--paper)"
    style = f'fill="{fill}" stroke="var(--{colour})" stroke-width="1.6"'
    if point == "circle":
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" {style}/>')
    elif point == "square":
        out.append(f'<rect x="{x - 3.3:.1f}" y="{y - 3.3:.1f}" width="6.6" height="6.6" {style}/>')
    elif point == "diamond":
        out.append(f'<path d="M{x:.1f} {y - 4.8:.1f}l4.8 4.8l-4.8 4.8l-4.8 -4.8z" {style}/>')
    elif not right:
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.8" {style}/>')


def draw_line(line, axes, out):
    places = [(axes.at_x(n), axes.at_y(value), right) for n, (value, right) in sorted(line.values.items())]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in places)
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    times = ", ".join(f"{short(n)}: {value:.3g} ns" for n, (value, _) in sorted(line.values.items()))
    out.append(f'<g><title>{line.name}: {times}</title>')
    out.append(f'<path class="line {line.kind}" stroke="var(--{line.colour})"{dashes} d="M{path}"/>')
    for x, y, right in places:
        draw_point(line.point, x, y, right, out, line.colour)
    out.append("</g>")


def spread(wanted):
    """Places for labels, in the order of `wanted` (ascending), at least LINE apart and as near as that allows: groups
    that would overlap are merged and centred on the mean of what they want."""
    groups = []  # [sum of wanted starts, members]
    for place in wanted:
        groups.append([place, 1])
        while len(groups) > 1:
            (a, m), (b, n) = groups[-2], groups[-1]
            if a / m + m * LINE <= b / n:
                break
            groups[-2:] = [[a + b - n * m * LINE, m + n]]
    places = []
    for total, members in groups:
        places += [total / members + k * LINE for k in range(members)]
    lowest = HEIGHT - BOTTOM
    over = max(0, places[-1] - lowest) if places else 0
    return [p - over for p in places]


def draw_labels(lines, axes, out):
    """Each line is named at its end; lines that end at the same size share a column."""
    columns = defaultdict(list)
    for line in lines:
        n = max(line.values)
        columns[n].append((axes.at_y(line.values[n][0]), line))
    for n, ends in sorted(columns.items()):
        ends.sort(key=lambda end: (end[0], end[1].name))
        for (y, line), place in zip(ends, spread([end[0] for end in ends])):
            x, colour = axes.at_x(n), "soft" if line.kind == "peer" else line.colour
            weight = ' font-weight="700"' if line.kind == "auto" else ' font-style="italic"' if line.kind == "peer" else ""
            out.append(f'<path class="leader" stroke="var(--{colour})" d="M{x + 5:.1f} {y:.1f}L{x + 15:.1f} {place:.1f}"/>')
            out.append(f'<text class="label" x="{x + 18:.1f}" y="{place + 4:.1f}" fill="var(--{colour})"{weight}>'
                       f"{line.name}</text>")


def draw(title, subtitle, lines):
    axes = Axes(lines)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
           f'role="img" aria-label="{title}">', f"<style>{STYLE}</style>",
           f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
           f'<text class="title" x="{LEFT}" y="28">{title}</text>',
           f'<text class="axis" x="{LEFT}" y="48">{subtitle}</text>']
    draw_axes(axes, out)
    for line in lines:
        draw_line(line, axes, out)
    draw_labels(lines, axes, out)
    return "\n".join(out + ["</svg>", ""])


def pictures(rows):
    """File name: text."""
    made = {}
    for kind, means in KINDS.items():
        lines = series_of(rows, f"broad/{kind}")
        if lines:
            made[f"broad-{kind}.svg"] = draw(f"{kind.capitalize()}: {means}",
                                             "time a box, from boxes to all pairs, one thread; italics: other libraries",
                                             lines)
    for speed in ("0.01", "0.5"):
        lines = series_of(rows, f"broad_moving/uniform/{speed}")
        if lines:
            made[f"broad-moving-{speed}.svg"] = draw(
                f"Uniform, all boxes moving {speed} edges a step",
                "time a box and step, events included, one thread; italics: other libraries", lines)
    return made


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    made = pictures(read_rows(arguments[0]))
    folder = Path(arguments[1])
    if not made:
        sys.exit(f"plot.py: {arguments[0]} has no rows of broad phases")
    for name, text in made.items():
        if "--check" not in sys.argv:
            (folder / name).write_text(text, encoding="utf-8")
            print(folder / name)
        elif not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            sys.exit(f"plot.py: {folder / name} is not what {arguments[0]} says; make it anew")


if __name__ == "__main__":
    main()
