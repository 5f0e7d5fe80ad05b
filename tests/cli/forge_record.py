#!/usr/bin/env python3
"""Makes a record that tells something else than its run, with every hash of the file in order.

    forge_record.py RECORD FORGED STEP

In step STEP (from 1 on) the hash of the events, or of the state of a world, is changed; the chain of the sections'
hashes is made again (the format is in src/scene/archive.h and src/dynamics/record.h, the hash in src/base/hash.c).
"""
import struct
import sys

MASK = (1 << 64) - 1
STEP_SECTION = 3
BEFORE_END = 32  # the events' hash and three numbers end a step
RUN_SECTIONS, STEPS_CALL = (6, 10), 1  # of a world, of rigid bodies: steps, their length and number, then the hashes


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def mix(state, word):
    state = ((state ^ word) * 0x9FB21C651E98DF25) & MASK
    return (state << 29 | state >> 35) & MASK


def hash_bytes(data, seed):
    lanes = [splitmix64((seed + k) & MASK) for k in range(4)]
    whole = len(data) // 32 * 32
    padded = data[:whole] + data[whole:].ljust(32, b"\0")
    result = len(data)
    words = struct.unpack(f"<{len(padded) // 8}Q", padded)
    for at, word in enumerate(words):
        lanes[at % 4] = mix(lanes[at % 4], word)
    for k in range(4):
        result = splitmix64(result ^ lanes[k])
    return result


def main():
    source, target, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = open(source, "rb").read()
    out, at, chain, old_chain, step = data[:8], 8, 0, 0, 0
    while at < len(data):
        kind, _, size = struct.unpack_from("<IIQ", data, at)
        body = data[at + 16:at + 16 + size]
        old_chain = hash_bytes(body, old_chain + kind & MASK)
        if struct.unpack_from("<Q", data, at + 16 + size)[0] != old_chain:
            sys.exit("forge_record.py: the hash of a section is not what is expected here")
        step += kind == STEP_SECTION
        if kind == STEP_SECTION and step == wanted:
            body = body[:-BEFORE_END] + bytes([body[-BEFORE_END] ^ 1]) + body[1 - BEFORE_END:]
        if kind in RUN_SECTIONS:
            call, _, count = struct.unpack_from("<IdQ", body)
            if call != STEPS_CALL or size != 20 + 8 * count:
                sys.exit("forge_record.py: more than steps")
            if step < wanted <= step + count:
                place = 20 + 8 * (wanted - step - 1)
                body = body[:place] + bytes([body[place] ^ 1]) + body[place + 1:]
            step += count
        chain = hash_bytes(body, chain + kind & MASK)
        out += data[at:at + 16] + body + struct.pack("<Q", chain)
        at += 16 + size + 8
    open(target, "wb").write(out)


if __name__ == "__main__":
    main()
