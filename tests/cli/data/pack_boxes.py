#!/usr/bin/env python3
"""pack_boxes.py FILE COUNT 'id minx miny minz maxx maxy maxz' ...: binary boxes, whether or not they are right."""
import struct
import sys

with open(sys.argv[1], "wb") as out:
    out.write(b"GRZBOX1\0" + struct.pack("<Q", int(sys.argv[2])))
    for record in sys.argv[3:]:
        words = record.split()
        out.write(struct.pack("<Q6d", int(words[0]), *map(float, words[1:])))
