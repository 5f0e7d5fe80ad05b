#!/usr/bin/env python3
"""Writes powers_of_five.inc: the leading 128 bits of 5^q, q = LOWEST..HIGHEST, from exact integers.

Positive powers are cut off (exact up to 5^55), negative ones are rounded up; number.c says why. The formula for the
binary exponent that number.c uses is checked here for every q of the table.

    python3 make_powers_of_five.py > powers_of_five.inc
    python3 make_powers_of_five.py --check powers_of_five.inc
"""
import sys

LOWEST, HIGHEST = -342, 341


def leading_bits(q):
    """(t, e) with 2^127 <= t < 2^128 and t * 2^e next to 5^q: below it for q >= 0, above it for q < 0."""
    if q >= 0:
        power = 5**q
        e = power.bit_length() - 128
        return (power >> e if e >= 0 else power << -e), e
    power = 5**-q
    e = -power.bit_length() - 127  # 5^-q is no power of two, so 1/5^-q has its first bit at -bit_length
    t = -(-(1 << -e) // power)
    return t, e


def table():
    lines = ["/* Made by make_powers_of_five.py: do not edit. Leading 128 bits of 5^q, high word first. */"]
    for q in range(LOWEST, HIGHEST + 1):
        t, e = leading_bits(q)
        assert t.bit_length() == 128, q
        assert e == ((q * 1217359) >> 19) - 127, q
        lines.append("{0x%016x, 0x%016x}, /* %d */" % (t >> 64, t & (2**64 - 1), q))
    return "\n".join(lines) + "\n"


if len(sys.argv) == 3 and sys.argv[1] == "--check":
    with open(sys.argv[2]) as file:
        sys.exit(0 if file.read() == table() else sys.argv[2] + " is not what this script makes")
sys.stdout.write(table())
