#!/usr/bin/env python3
"""graze ccd against an oracle in rational numbers: made queries of families in which features touch at an end, miss by
one unit, stay in a plane, on a line or where they are, degenerate on the way, or move at random.

    ccd_oracle.py --bin FOLDER [QUERIES]        200 queries, 100,000 with GRAZE_TEST_LONG=1
    GRAZE_TEST_SEED=N repeats a run that printed it

The oracle isolates roots by Descartes' rule, takes common divisors to see zeros, and decides with triple products and
lengths: polynomials of degree four where the program has quadratics of projections, and Sturm's chain. Times before the
first are sampled besides.
"""
import argparse
import math
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

# ---- polynomials: lists of fractions, lowest degree first, without zeros at the end -----------------------------------


def trim(f):
    while f and f[-1] == 0:
        f.pop()
    return f


def plus(f, g, factor=1):
    n = max(len(f), len(g))
    return trim([(f[i] if i < len(f) else 0) + factor * (g[i] if i < len(g) else 0) for i in range(n)])


def times(f, g):
    if not f or not g:
        return []
    r = [Fraction(0)] * (len(f) + len(g) - 1)
    for i, x in enumerate(f):
        for j, y in enumerate(g):
            r[i + j] += x * y
    return trim(r)


def value(f, t):
    r = Fraction(0)
    for x in reversed(f):
        r = r * t + x
    return r


def divided(f, g):
    """Quotient and remainder."""
    f, quotient = list(f), [Fraction(0)] * max(len(f) - len(g) + 1, 0)
    while len(f) >= len(g):
        q, at = f[-1] / g[-1], len(f) - len(g)
        quotient[at] = q
        for i, y in enumerate(g):
            f[at + i] -= q * y
        f.pop()
        trim(f)
    return trim(quotient), f


def divisor(f, g):
    while g:
        f, g = g, divided(f, g)[1]
        f = [x / f[-1] for x in f]
    return f


def derivative(f):
    return trim([i * x for i, x in enumerate(f)][1:])


def variations(f, low, high):
    """Of the signs of the Bernstein coefficients on [low, high]: at least the number of roots inside, and of its parity."""
    n = len(f) - 1
    moved = [Fraction(0)] * (n + 1)  # coefficients of f(low + (high - low) s)
    for i, x in enumerate(f):
        for k in range(i + 1):
            moved[k] += x * math.comb(i, k) * low ** (i - k) * (high - low) ** k
    signs = []
    for i in range(n + 1):
        b = sum(Fraction(math.comb(i, k), math.comb(n, k)) * moved[k] for k in range(i + 1))
        if b != 0:
            signs.append(b > 0)
    return sum(x != y for x, y in zip(signs, signs[1:]))


class Root:
    """Of a polynomial without multiple roots: the only one within (low, high), or low where both are the same."""

    def __init__(self, f, low, high):
        self.f, self.low, self.high = f, low, high

    def halve(self):
        if self.low == self.high:
            return
        middle = (self.low + self.high) / 2
        x = value(self.f, middle)
        if x == 0:
            self.low = self.high = middle
        elif (x > 0) == (value(self.f, self.high) > 0):
            self.high = middle
        else:
            self.low = middle

    def sign(self, g):
        if not g:
            return 0
        common = divisor(self.f, g)
        while self.low != self.high:
            a, b = value(common, self.low), value(common, self.high)
            if len(common) > 1 and a * b < 0:
                return 0
            if variations(g, self.low, self.high) == 0 and value(g, self.low) != 0:
                return 1 if value(g, self.low) > 0 else -1
            self.halve()
        x = value(g, self.low)
        return (x > 0) - (x < 0)

    def compare(self, t):
        while self.low < t < self.high:
            x = value(self.f, t)
            if x == 0:
                return 0
            self.halve()
        if self.low == self.high:
            return (self.low > t) - (self.low < t)
        return 1 if self.low >= t else -1

    def bracket(self):
        """The doubles next to it, by the bits of doubles."""
        low, high = 0, 0x3FF0000000000001
        while high - low > 1:
            middle = (low + high) // 2
            if self.compare(Fraction(of_bits(middle))) >= 0:
                low = middle
            else:
                high = middle
        exact = self.compare(Fraction(of_bits(low))) == 0
        return of_bits(low), of_bits(low if exact else high)


def roots(f):
    """Those in [0, 1], in ascending order."""
    f = divided(f, divisor(f, derivative(f)))[0] if len(f) > 2 else f
    found = [Root(f, Fraction(t), Fraction(t)) for t in (0, 1) if value(f, Fraction(t)) == 0]
    parts = [(Fraction(0), Fraction(1))] if len(f) > 1 else []
    while parts:
        low, high = parts.pop()
        inside = f
        for t in (low, high):
            while value(inside, t) == 0:
                inside = divided(inside, [-t, Fraction(1)])[0]
        count = variations(inside, low, high) if len(inside) > 1 else 0
        if count == 1:
            found.append(Root(inside, low, high))
        elif count > 1:
            middle = (low + high) / 2
            if value(f, middle) == 0:
                found.append(Root(f, middle, middle))
            parts += [(low, middle), (middle, high)]
    return sorted(found, key=lambda root: (root.low, root.high))


def of_bits(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


# ---- contact -----------------------------------------------------------------------------------------------------------


def minus(p, q):
    return [plus(x, y, -1) for x, y in zip(p, q)]


def dot(p, q):
    return plus(plus(times(p[0], q[0]), times(p[1], q[1])), times(p[2], q[2]))


def cross(p, q):
    return [plus(times(p[(k + 1) % 3], q[(k + 2) % 3]), times(p[(k + 2) % 3], q[(k + 1) % 3]), -1) for k in range(3)]


def off_line(p, a, b):
    """The square of twice the area."""
    n = cross(minus(a, p), minus(b, p))
    return dot(n, n)


def on_edge(t, p, a, b):
    between = dot(minus(a, p), minus(b, p))
    length = dot(minus(a, b), minus(a, b))
    return t.sign(off_line(p, a, b)) == 0 and t.sign(between) <= 0 and (
        t.sign(length) != 0 or t.sign(dot(minus(a, p), minus(a, p))) == 0)


def meet(t, kind, x):
    """At a time at which the four points are in a plane."""
    if kind == "vf":
        v, corners = x[0], x[1:]
        n = cross(minus(corners[1], corners[0]), minus(corners[2], corners[0]))
        edges = [(corners[i], corners[(i + 1) % 3]) for i in range(3)]
        if t.sign(dot(n, n)) == 0:
            return any(on_edge(t, v, a, b) for a, b in edges)
        return all(t.sign(dot(cross(minus(b, a), minus(v, a)), n)) >= 0 for a, b in edges)
    a, b = minus(x[1], x[0]), minus(x[3], x[2])
    n, way = cross(a, b), minus(x[2], x[0])
    whole = dot(n, n)
    if t.sign(whole) == 0:
        return any(on_edge(t, *(x[i] for i in who)) for who in ((0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1)))
    parts = [dot(cross(way, b), n), dot(cross(way, a), n)]
    return all(t.sign(part) >= 0 and t.sign(plus(part, whole, -1)) <= 0 for part in parts)


START = Root([Fraction(0), Fraction(1)], Fraction(0), Fraction(0))


def first_on_edge(p, a, b):
    apart = off_line(p, a, b)
    if apart:
        return next((t.bracket() for t in roots(apart) if on_edge(t, p, a, b)), None)
    if on_edge(START, p, a, b):
        return 0.0, 0.0
    ends = [dot(minus(p, end), minus(p, end)) for end in (a, b)]
    return min((roots(end)[0].bracket() for end in ends if roots(end)), default=None)


def first(kind, points):
    x = [[trim([Fraction(points[i][k]), Fraction(points[4 + i][k]) - Fraction(points[i][k])]) for k in range(3)]
         for i in range(4)]
    plane = dot(cross(minus(x[1], x[0]), minus(x[2], x[0])), minus(x[3], x[0]))
    if plane:
        return next((t.bracket() for t in roots(plane) if meet(t, kind, x)), None)
    if meet(START, kind, x):
        return 0.0, 0.0
    whose = ((0, 1, 2), (0, 2, 3), (0, 3, 1)) if kind == "vf" else ((0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1))
    times_found = [first_on_edge(*(x[i] for i in who)) for who in whose]
    return min((t for t in times_found if t), default=None)


EIGHTHS = [Fraction(k, 8) for k in range(9)]


def meet_at(kind, points, t):
    """At a rational time, in the places where the points are then; in a plane or not."""
    still = [[trim([Fraction(p) + t * (Fraction(q) - Fraction(p))]) for p, q in zip(points[i], points[4 + i])]
             for i in range(4)]
    plane = dot(cross(minus(still[1], still[0]), minus(still[2], still[0])), minus(still[3], still[0]))
    return not plane and meet(START, kind, still)


# ---- families ----------------------------------------------------------------------------------------------------------


def whole(rng, most):
    return float(rng.randint(-most, most))


def anywhere(rng):
    return [[rng.uniform(-1, 1) for _ in range(3)] for _ in range(8)]


def on_lattice(rng):
    """So small that points coincide, lines are parallel and all is coplanar now and then."""
    most = rng.choice((1, 1, 2, 4))
    return [[whole(rng, most) for _ in range(3)] for _ in range(8)]


def in_plane(rng):
    """Four points that stay in a plane, at rest or turning."""
    points = [[whole(rng, 3), whole(rng, 3), 0.0] for _ in range(8)]
    if rng.random() < 0.5:
        lift = [whole(rng, 2) for _ in range(2)]
        points[4:] = [[x, y, lift[0] * x + lift[1] * y] for x, y, _ in points[4:]]
        points[:4] = [[x, y, lift[0] * x + lift[1] * y] for x, y, _ in points[:4]]
    return points


def on_line(rng):
    way = [whole(rng, 2) for _ in range(3)]
    at = [whole(rng, 4) for _ in range(8)]
    return [[place * w for w in way] for place in at]


def standing(rng):
    points = on_lattice(rng)
    for i in range(4):
        if rng.random() < 0.6:
            points[4 + i] = list(points[i])
    return points


def touching_at_end(rng):
    """The first and the last point of the features arrive at one place at t = 1, or miss it by a unit."""
    size = 10.0 ** rng.randint(-6, 6)
    points = [[size * rng.uniform(-1, 1) for _ in range(3)] for _ in range(8)]
    points[4 + rng.choice((2, 3))] = list(points[4])
    if rng.random() < 0.5:
        k = rng.randrange(3)
        points[4][k] = math.nextafter(points[4][k], rng.choice((-math.inf, math.inf)))
    return points


def planted(rng):
    """A contact inside at a dyadic time, in numbers with few bits, or a unit beside it."""
    size = 2.0 ** rng.randint(-20, 20)
    t = rng.choice((0.25, 0.5, 0.75, 1.0))
    middle = [[whole(rng, 64) for _ in range(3)] for _ in range(4)]
    middle[0] = [(middle[1][k] + middle[2][k] + 2 * middle[3][k]) / 4 for k in range(3)]
    ways = [[whole(rng, 64) for _ in range(3)] for _ in range(4)]
    points = [[size * (m + (at - t) * 4 * w) for m, w in zip(middle[i], ways[i])] for at in (0, 1) for i in range(4)]
    if rng.random() < 0.5:
        i, k = rng.randrange(8), rng.randrange(3)
        points[i][k] = math.nextafter(points[i][k], math.inf)
    return points


def collapsing(rng):
    """A face or an edge that is a segment or a point at the start, in the middle or at the end."""
    points = on_lattice(rng)
    target, t = [whole(rng, 1) for _ in range(3)], rng.choice((0.0, 0.5, 1.0))
    for i in rng.sample(range(4), rng.choice((2, 3, 4))):
        way = [whole(rng, 2) for _ in range(3)]
        points[i] = [x - t * w for x, w in zip(target, way)]
        points[4 + i] = [x + (1 - t) * w for x, w in zip(target, way)]
    return points


def far_apart_sizes(rng):
    """Numbers of all sizes that doubles have."""
    return [[math.ldexp(rng.uniform(-1, 1), rng.choice((-1060, -500, 0, 500, 1000))) for _ in range(3)] for _ in range(8)]


FAMILIES = [anywhere, on_lattice, on_lattice, in_plane, on_line, standing, touching_at_end, touching_at_end, planted,
            planted, collapsing]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("queries", nargs="?", type=int)
    arguments = parser.parse_args()
    count = arguments.queries or (100000 if os.environ.get("GRAZE_TEST_LONG") == "1" else 200)
    seed = int(os.environ.get("GRAZE_TEST_SEED") or str(random.SystemRandom().randrange(1 << 32)), 0)
    print(f"GRAZE_TEST_SEED={seed} repeats these queries")
    rng = random.Random(seed)
    queries = [(rng.choice(("vf", "ee")), (far_apart_sizes if i % 100 == 99 else FAMILIES[i % len(FAMILIES)])(rng))
               for i in range(count)]
    lines = "".join(kind + " " + " ".join(x.hex() for p in points for x in p) + "\n" for kind, points in queries)
    run = subprocess.run([os.path.join(arguments.bin, "graze"), "ccd", "-"], input=lines, text=True,
                         stdout=subprocess.PIPE, check=False)
    answers = run.stdout.splitlines()
    if run.returncode > 1 or len(answers) != count:
        print(f"exit {run.returncode}, {len(answers)} answers to {count} queries")
        return 1
    hits = wrong = 0
    for (kind, points), answer, line in zip(queries, answers, lines.splitlines()):
        want = first(kind, points)
        got = tuple(float(x) for x in answer.split()[1:]) or None
        early = any(meet_at(kind, points, t) for t in EIGHTHS if want is None or t < want[0])
        hits += want is not None
        if got != want or early:
            wrong += 1
            print(f"got {got}, want {want}{', and it is too late' if early else ''}: {line}")
    print(f"{count} queries, {hits} hits, {wrong} wrong")
    return wrong > 0 or not count > hits > 0


if __name__ == "__main__":
    sys.exit(main())
