#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the persistence model costs when it is off: instructions of a 4 KiB write, both sides together, with and without the
questions whether there is a platform. Counted by callgrind, so every run gives the same.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FEW, MANY = 800, 2400  # writes of the two runs whose difference is counted


def instructions(program, writes):
    with tempfile.TemporaryDirectory() as directory:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={Path(directory, 'out')}", program, str(writes)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=100)
    collected = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode != 0 or not collected:
        sys.exit(f"off_cost: {program} failed:\n{result.stderr[-1000:]}")
    return int(collected.group(1))


def per_write(program):
    return (instructions(program, MANY) - instructions(program, FEW)) / (MANY - FEW)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("with_account")
    parser.add_argument("without_account")
    parser.add_argument("--limit", type=float, help="fail if the questions cost more")
    arguments = parser.parse_args()
    count, bare = per_write(arguments.with_account), per_write(arguments.without_account)
    print(f"4 KiB write, no platform: {count:.1f} instructions, {bare:.1f} without the questions: {count - bare:.1f} more")
    if arguments.limit is not None and count - bare > arguments.limit:
        sys.exit(f"off_cost: more than {arguments.limit}")


if __name__ == "__main__":
    main()
