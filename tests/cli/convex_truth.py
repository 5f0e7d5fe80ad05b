#!/usr/bin/env python3
"""graze convex against exact arithmetic: pairs from bug reports with known signed distances, as they are, swapped and scaled;
and random pairs at poses, by brute force over features in rational numbers. The answer must be the exact one, rounded once.
"""
import argparse
import itertools
import json
import math
import os
import random
import subprocess
import sys
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.environ.get("GRAZE_SHARED") or os.path.join(HERE, "..", "..", "..", "shared"), "data")
LONG = os.environ.get("GRAZE_TEST_LONG") == "1"

# Two faces of the difference are nearly as deep: their distances lie between the same two doubles and round apart.
NEARLY_AS_DEEP = """
4
-0x1.f082965adfc80p-6 0x1.b957d84794f2ep-1 0x0.0p+0 0x1.4194365f44e04p-2 0x1.44d4c5291cba8p-3 -0x0.0p+0
-0x1.feb6d2e713878p-2 0x1.f8b61c2b037cap-1 0x0.0p+0 -0x1.12acc8e9b11a6p-1 -0x1.1f57400accc6cp-1 -0x0.0p+0
0x1.96adde837b6a5p-1 -0x1.36b53fe2098ccp-1 0x1.d6ef836221b54p-6 -0x1.37818d47c7235p+0 0x1.3117d2e8ce600p-1 0x1.932812574cadep-1
0x1.43290903084c7p-3 -0x1.cbb1902aa5510p+0 -0x1.e4ed15f128f43p-4 -0x1.bb36aa0847026p-4 0x1.f95f1c7b78195p-1 0x1.49a22fee451c0p-3
2
0x1.0b949490e932cp-2 0x1.155e70dc32abap-1 -0x1.380a6ff106e38p-1 -0x1.da7e4bed8a5d2p-1 0x1.d282f56371498p-1 0x1.5042682ad5f1cp-1
0x1.96adde837b6a5p-1 -0x1.36b53fe2098ccp-1 0x1.d6ef836221b54p-6 -0x1.a012728823268p+0 0x1.3117d2e8ce600p-1 0x1.932812574cadep-1
0x1.43290903084c7p-3 -0x1.9f005c18694d1p+0 -0x1.e4ed15f128f43p-4 -0x1.bb36aa0847026p-4 0x1.f95f1c7b78195p-1 0x1.8657bc377c83ap-1
"""


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def posed(points, pose, tier):
    """T1: rounded doubles; T2: the real image. As fractions."""
    out = []
    for p in points:
        if tier == "t1":
            out.append([Fraction(((m[0] * p[0] + m[1] * p[1]) + m[2] * p[2]) + m[3]) for m in rows(pose)])
        else:
            out.append([sum(Fraction(x) * Fraction(y) for x, y in zip(m, p + [1])) for m in rows(pose)])
    return out


def rows(pose):
    return [pose[4 * r:4 * r + 4] for r in range(3)]


def squared_distance(a, b):
    """Over all pairs of features; and the way between the nearest ones. None if no plane at right angles to it parts them."""
    best = None

    def offer(square, way):
        nonlocal best
        if best is None or square < best[0]:
            best = (square, way)

    def vertex_face(p, q, sign):
        u, v, w = sub(q[1], q[0]), sub(q[2], q[0]), sub(p, q[0])
        n = cross(u, v)
        if dot(n, n) and all(dot(cross(sub(q[(i + 1) % 3], q[i]), sub(p, q[i])), n) > 0 for i in range(3)):
            height = dot(n, w) / dot(n, n)
            offer(height * height * dot(n, n), [-sign * height * x for x in n])

    def vertex_edge(p, q, r, sign):
        e, w = sub(r, q), sub(p, q)
        if dot(e, e) and 0 < dot(w, e) < dot(e, e):
            way = [sign * (dot(w, e) / dot(e, e) * x - y) for x, y in zip(e, w)]
            offer(dot(way, way), way)

    for p in a:
        for q in b:
            offer(dot(sub(q, p), sub(q, p)), sub(q, p))
    for one, other, sign in ((a, b, 1), (b, a, -1)):
        for p in one:
            for pair in itertools.combinations(other, 2):
                vertex_edge(p, *pair, sign)
            for three in itertools.combinations(other, 3):
                vertex_face(p, three, sign)
    for a0, a1 in itertools.combinations(a, 2):
        for b0, b1 in itertools.combinations(b, 2):
            u, v, w = sub(a1, a0), sub(b1, b0), sub(b0, a0)
            n = cross(u, v)
            if dot(n, n):
                s, t = dot(cross(w, v), n) / dot(n, n), dot(cross(w, u), n) / dot(n, n)
                if 0 < s < 1 and 0 < t < 1:
                    height = dot(n, w) / dot(n, n)
                    offer(height * height * dot(n, n), [height * x for x in n])
    way = best[1]
    return best[0] if min(dot(way, q) for q in b) > max(dot(way, p) for p in a) else None


def squared_depth(a, b):
    best = None
    edges = [sub(q, p) for c in (a, b) for p, q in itertools.combinations(c, 2)]
    for e, f in itertools.combinations(edges, 2):
        n = cross(e, f)
        if dot(n, n):
            high = max(dot(n, p) for p in a), max(dot(n, p) for p in b)
            low = min(dot(n, p) for p in a), min(dot(n, p) for p in b)
            width = min(high[0] - low[1], high[1] - low[0])
            square = width * width / dot(n, n)
            best = square if best is None or square < best else best
    return best or Fraction(0)


def signed_square(a, b):
    square = squared_distance(a, b)
    return square if square is not None else -squared_depth(a, b)


def rounds_to(square, value):
    """Whether the double is the nearest one to the root of the square, with its sign."""
    if (square > 0) != (value > 0) and square != 0:
        return False
    square, value = abs(square), abs(value)
    halves = [(Fraction(value) + Fraction(math.nextafter(value, end))) / 2 for end in (0.0, math.inf)]
    return (value == 0 or halves[0] ** 2 <= square) and square <= halves[1] ** 2


def compare(square, value):
    """Sign of the signed root minus a double."""
    true, given = (square > 0) - (square < 0), (value > 0) - (value < 0)
    if true != given:
        return true - given
    other = Fraction(value) ** 2
    return true * ((abs(square) > other) - (abs(square) < other))


def line(pair):
    (a, pose_a), (b, pose_b) = pair
    numbers = [x for p in a for x in p] + list(pose_a)
    other = [x for p in b for x in p] + list(pose_b)
    return f"{len(a)} {' '.join(float(x).hex() for x in numbers)} {len(b)} {' '.join(float(x).hex() for x in other)}\n"


def ask(graze, pairs, tier):
    run = subprocess.run([graze, "convex", "--exactness", tier, "-"], input="".join(map(line, pairs)), text=True,
                         stdout=subprocess.PIPE, check=False)
    answers = [[float(x) for x in text.split()] for text in run.stdout.splitlines()]
    if run.returncode > 1 or len(answers) != len(pairs) or any(len(x) != 10 for x in answers):
        sys.exit(f"exit {run.returncode}, {len(answers)} answers to {len(pairs)} pairs")
    return answers


def largest_number(pair):
    return max([abs(x) for points, pose in pair for p in points for x in p] + [abs(x) for _, pose in pair for x in pose])


def check_bracket(pair, answer):
    """What every answer has to be: a narrow bracket, points that are as far from each other as it says."""
    hit, value, lower, upper = answer[:4]
    largest = largest_number(pair)
    apart = math.dist(answer[4:7], answer[7:10])
    return (lower <= value <= upper and upper - lower <= 2.0 ** -40 * largest and hit == (value <= 0)
            and abs(apart - abs(value)) <= 1e-11 * largest)


def points_of(shape):
    if shape["type"] == "hull":
        return [list(map(float, p)) for p in shape["points"]]
    return [[s * h for s, h in zip(sign, shape["half_extents"])] for sign in itertools.product((-1, 1), repeat=3)]


def scaled(pair, power):
    factor = 2.0 ** power
    return [([[x * factor for x in p] for p in points], [x * factor if k % 4 == 3 else x for k, x in enumerate(pose)])
            for points, pose in pair]


def check_reported(graze):
    """Signed distances of the real images, rounded once."""
    with open(DATA + "/convex/convex_pairs.json") as file:
        table = json.load(file)
    wrong = asked = 0
    changes = [(1.0, lambda p: p), (1.0, lambda p: p[::-1])]
    changes += [(2.0 ** power, lambda p, power=power: scaled(p, power)) for power in (-300, 7, 300)]
    for factor, change in changes:
        pairs = [change([(points_of(row["A"]), list(map(float, row["XA"]))), (points_of(row["B"]), list(map(float, row["XB"])))])
                 for row in table]
        for pair, row, answer in zip(pairs, table, ask(graze, pairs, "t2")):
            want = row["signed_distance"] * factor
            asked += 1
            if answer[1] != want or not check_bracket(pair, answer):
                wrong += 1
                print(f"{row['name']}: {answer}, but the truth is {want!r}")
        for pair, row, answer in zip(pairs, table, ask(graze, pairs, "t1")):
            asked += 1
            if abs(answer[1] - row["signed_distance"] * factor) > 1e-15 * largest_number(pair) or not check_bracket(pair, answer):
                wrong += 1
                print(f"{row['name']} rounded: {answer}, but the truth is near {row['signed_distance'] * factor!r}")
    print(f"{asked} reported pairs, {wrong} wrong")
    return wrong + (asked == 0)


def random_pose():
    while True:
        w, x, y, z = (random.uniform(-1, 1) for _ in range(4))
        s = w * w + x * x + y * y + z * z
        if 0.1 < s < 1:
            break
    w, x, y, z = (c / math.sqrt(s) for c in (w, x, y, z))
    far = random.choice([0.3, 1.5, 3, 1000])
    t = [random.uniform(-1, 1) * min(far, 3) + (far if far > 3 else 0) for _ in range(3)]
    return [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), t[0], 2 * (x * y + w * z), 1 - 2 * (x * x + z * z),
            2 * (y * z - w * x), t[1], 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y), t[2]]


def random_set():
    """Small sets, some flat, thin, or with a point twice."""
    points = [[random.uniform(-1, 1) for _ in range(3)] for _ in range(random.randint(1, 5))]
    kind = random.randrange(6)
    for p in points:
        p[2] *= 0 if kind == 0 else 2.0 ** -random.randrange(60) if kind == 1 else 1
    return points + points[:1] if kind == 2 else points


def kiss(pair):
    """Moves b so that one of its vertices is on one of a's, or a rounding beside it."""
    (a, pose_a), (b, pose_b) = pair
    p, q = posed(a, pose_a, "t1")[0], posed(b, pose_b, "t1")[0]
    pose = list(pose_b)
    for k in range(3):
        pose[4 * k + 3] = float(Fraction(pose[4 * k + 3]) + p[k] - q[k])
    return [(a, pose_a), (b, pose)]


def read_pair(text):
    """As line() writes it."""
    words, pair = text.split(), []
    while words:
        numbers = [float.fromhex(x) for x in words[1:3 * int(words[0]) + 13]]
        pair.append(([numbers[i:i + 3] for i in range(0, len(numbers) - 12, 3)], numbers[-12:]))
        words = words[3 * int(words[0]) + 13:]
    return pair


def check_random(graze, count):
    pairs = [read_pair(NEARLY_AS_DEEP)]
    for i in range(count):
        pair = [(random_set(), random_pose()), (random_set(), random_pose())]
        if i % 4 == 1:
            pair[1] = (pair[1][0], pair[0][1])
        if i % 2 == 1:
            pair = kiss(pair)
        pairs.append(pair)
    wrong = hits = 0
    for tier in ("t1", "t2"):
        for pair, answer in zip(pairs, ask(graze, pairs, tier)):
            square = signed_square(posed(*pair[0], tier), posed(*pair[1], tier))
            hits += square <= 0
            good = (rounds_to(square, answer[1]) and compare(square, answer[2]) >= 0 and compare(square, answer[3]) <= 0
                    and check_bracket(pair, answer))
            if not good:
                wrong += 1
                print(f"{tier}: {line(pair)}{answer}, but the square is {float(square)!r}")
    print(f"{2 * len(pairs)} random pairs, {hits} meet, {wrong} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    graze = os.path.join(parser.parse_args().bin, "graze")
    seed = int(os.environ.get("GRAZE_TEST_SEED") or random.randrange(2 ** 32))
    print(f"GRAZE_TEST_SEED={seed} repeats these random cases")
    random.seed(seed)
    wrong = check_random(graze, 4000 if LONG else 60)
    if not os.path.exists(DATA + "/convex/convex_pairs.json"):
        print("SKIPPED: no ../shared/data/convex")
        return 1 if wrong else 77
    return (wrong + check_reported(graze)) > 0


if __name__ == "__main__":
    sys.exit(main())
