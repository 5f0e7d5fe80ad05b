#!/usr/bin/env python3
"""Interrupts a program at a known place instead of after a guessed time.

    interrupt.py [--signal NAME] [--when WORD] COMMAND...

Waits until COMMAND catches the signal (INT when not named) and, with --when, until its progress line contains WORD
(its stderr is a terminal for that); then sends the signal. COMMAND's input stays open and empty. Prints what else
COMMAND wrote to stderr; ends with its exit code.
"""
import argparse
import os
import pty
import re
import signal
import subprocess
import sys
import time

LIMIT = 100  # seconds; a case may take 120


def catches(pid, number):
    """Whether the process has a handler of its own for the signal."""
    with open(f"/proc/{pid}/status") as status:
        mask = int(re.search(r"^SigCgt:\s*([0-9a-f]+)", status.read(), re.M)[1], 16)
    return bool(mask >> (number - 1) & 1)


def wait_for_handler(process, number):
    end = time.monotonic() + LIMIT
    while process.poll() is None and not catches(process.pid, number):
        if time.monotonic() > end:
            process.kill()
            sys.exit("interrupt.py: the program never caught the signal")
        time.sleep(0.01)


def read_terminal(leader):
    """A piece of what the program wrote, or nothing at its end: the last writer's end is an error on Linux."""
    try:
        return os.read(leader, 65536)
    except OSError:
        return b""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--signal", default="INT")
    parser.add_argument("--when")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    number = signal.Signals["SIG" + options.signal]

    leader, follower = pty.openpty()
    process = subprocess.Popen(options.command, stdin=subprocess.PIPE, stderr=follower)
    os.close(follower)
    wait_for_handler(process, number)
    text = b""
    sent = options.when is None
    if sent:
        process.send_signal(number)
    while piece := read_terminal(leader):
        text += piece
        if not sent and options.when.encode() in text:
            process.send_signal(number)
            sent = True
    lines = text.decode().replace("\r\n", "\n").split("\n")
    sys.stderr.write("\n".join(re.sub(r".*(\r|\x1b\[K)", "", line) for line in lines))
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
