#!/usr/bin/env python3
"""damage.py cut|flip BYTE IN OUT: cuts the file off before that byte, or turns one bit of it over. Negative: from the end."""
import sys

how, at, source, target = sys.argv[1:]
data = bytearray(open(source, "rb").read())
if how == "cut":
    data = data[: int(at)]
else:
    data[int(at)] ^= 4
open(target, "wb").write(data)
