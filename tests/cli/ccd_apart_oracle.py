#!/usr/bin/env python3
"""graze ccd --separation against distances in rational numbers: made queries on lattices and anywhere, with points that
stand still and features that move along with each other.

    ccd_apart_oracle.py --bin FOLDER [QUERIES]        6 queries at four separations, 1,000 with GRAZE_TEST_LONG=1
    GRAZE_TEST_SEED=N repeats a run that printed it

The oracle knows no polynomials. It has the exact square of the distance at a time, and advances from t = 0 by what the
distance allows, so that times before are proved to be farther; at the answer's doubles it looks at the distance itself.
"""
import argparse
import math
import os
import random
import subprocess
import sys
from fractions import Fraction


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


# ---- squares of distances ----


def point_and_edge(p, a, b):
    e = minus(b, a)
    square = dot(e, e)
    t = Fraction(0) if square == 0 else max(Fraction(0), min(Fraction(1), dot(minus(p, a), e) / square))
    w = minus(p, [a[k] + t * e[k] for k in range(3)])
    return dot(w, w)


def point_and_face(p, a, b, c):
    sides = ((a, b), (b, c), (c, a))
    n = cross(minus(b, a), minus(c, a))
    best = min(point_and_edge(p, x, y) for x, y in sides)
    if dot(n, n) and all(dot(cross(minus(y, x), minus(p, x)), n) >= 0 for x, y in sides):
        best = min(best, dot(minus(p, a), n) ** 2 / dot(n, n))
    return best


def two_edges(a, b, c, d):
    best = min(point_and_edge(a, c, d), point_and_edge(b, c, d), point_and_edge(c, a, b), point_and_edge(d, a, b))
    e, g, w = minus(b, a), minus(d, c), minus(c, a)
    n = cross(e, g)
    if dot(n, n):
        s, t = dot(cross(w, g), n) / dot(n, n), dot(cross(w, e), n) / dot(n, n)
        if 0 <= s <= 1 and 0 <= t <= 1:
            best = min(best, dot(w, n) ** 2 / dot(n, n))
    return best


def square_at(kind, ends, t):
    x = [[p * (1 - t) + q * t for p, q in zip(*both)] for both in zip(*ends)]
    return point_and_face(*x) if kind == "vf" else two_edges(*x)


# ---- times ----


def fastest(kind, ends):
    way = [[float(q - p) for p, q in zip(*both)] for both in zip(*ends)]
    first = 1 if kind == "vf" else 2
    return max(math.dist(a, b) for a in way[:first] for b in way[first:]) * (1 + 1e-6) + 1e-9


def farther_until(kind, ends, d, to):
    """A time until which the distance is proved to be above d."""
    t, v = Fraction(0), fastest(kind, ends)
    for _ in range(2000):
        square = square_at(kind, ends, t)
        if square <= d * d:
            return t
        gap = float(square - d * d) / (math.sqrt(float(square)) + float(d)) * 0.999
        if gap < 1e-12:
            return t
        t += Fraction(gap / v)
        if t >= to:
            return to
    return t


def fault(kind, ends, d, answer):
    """What is wrong with an answer, or None."""
    words = answer.split()
    until = farther_until(kind, ends, d, Fraction(1))
    if words[0] == "0":
        places = [until + (1 - until) * Fraction(j, 100) for j in range(101)]
        return "a time is nearer" if any(square_at(kind, ends, t) <= d * d for t in places) else None
    low, high = (Fraction(float(x)) for x in words[1:])
    if not (low == high or math.nextafter(float(low), 2) == float(high)):
        return "no neighbours"
    if until > high:
        return "it is farther for longer"
    if low > 0 and until < low - Fraction(1, 1000) and square_at(kind, ends, until) <= d * d:
        return "it is near earlier"
    if low == high and square_at(kind, ends, low) > d * d:
        return "not near at its time"
    if float(square_at(kind, ends, high) - d * d) > 1e-12:
        return "not near after its time"
    return None


# ---- queries ----


def number(source, mode):
    if mode == 0:
        return Fraction(source.randint(-3, 3))
    if mode == 1:
        return Fraction(source.uniform(-1, 1))
    return Fraction(source.randint(-8, 8), 4) if mode == 2 else Fraction(source.randint(0, 2))


def make_query(source):
    mode, kind = source.randrange(4), source.choice(("vf", "ee"))
    ends = [[[number(source, mode) for _ in range(3)] for _ in range(4)] for _ in range(2)]
    if source.random() < 0.3:
        i = source.randrange(4)
        ends[1][i] = list(ends[0][i])
    if source.random() < 0.15:  # all but the first move along with each other
        shift = minus(ends[1][1], ends[0][1])
        for i in range(1, 4):
            ends[1][i] = [Fraction(float(a + b)) for a, b in zip(ends[0][i], shift)]
    return kind, ends


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("queries", nargs="?", type=int, default=1000 if os.environ.get("GRAZE_TEST_LONG") == "1" else 6)
    given = parser.parse_args()
    seed = int(os.environ.get("GRAZE_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"GRAZE_TEST_SEED={seed} repeats this run")
    source = random.Random(seed)
    queries = [make_query(source) for _ in range(given.queries)]
    text = "".join(kind + " " + " ".join(float(x).hex() for end in ends for p in end for x in p) + "\n"
                   for kind, ends in queries)
    bad = 0
    for d in (Fraction(1), Fraction(1, 2), Fraction(source.uniform(0.01, 2)), Fraction(2)):
        run = subprocess.run([os.path.join(given.bin, "graze"), "ccd", "--separation", float(d).hex(), "-"], input=text,
                             capture_output=True, text=True)
        answers = run.stdout.splitlines()
        if run.returncode > 1 or len(answers) != len(queries):
            sys.exit(f"graze ccd: exit code {run.returncode}: {run.stderr}")
        for line, (kind, ends), answer in zip(text.splitlines(), queries, answers):
            wrong = fault(kind, ends, d, answer)
            if wrong:
                bad += 1
                print(f"separation {float(d)!r}: {line}\n  {answer}: {wrong}")
    print(f"{4 * len(queries)} answers, {bad} wrong")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
