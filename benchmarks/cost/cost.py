#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a call of librpma costs when the provider does nothing.

Instructions are counted by callgrind: caller (passing the arguments), library and provider (2, a return included). They
are exact; every run gives the same. Nanoseconds are medians of several runs, the libraries in turn.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# Instructions a call may take: what was asked for, and what the test holds it to. See README.md for the difference.
BUDGETS = {  # operation: (goal, limit)
    "write": (45, 54),
    "read": (45, 55),
    "send": (42, 42),
    "recv": (32, 33),
    "flush": (60, 60),
    "atomic_write": (60, 60),
    "completion": (20, 20),
}
FEW, MANY = 100, 300  # iterations of the two runs whose difference is counted
SKIPPED = 77


def environment(directory, library):
    preload = [os.path.join(directory, "libnull_provider.so"), library]
    return dict(os.environ, LD_PRELOAD=":".join(preload))


def run(command, env):
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        sys.exit(f"cost: {' '.join(command)} failed:\n{result.stderr[-2000:]}")
    return result.stdout


def parts_of(dump):
    """Instructions by shared object in one dump of callgrind."""
    names, parts, current, inclusive = {}, {}, "", False
    for line in dump:
        if match := re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line):
            called, number, name = match.groups()
            names.setdefault(number, name)
            current = current if called else names[number]
        elif line.startswith("calls="):
            inclusive = True  # the next line is the callee's cost, which stands elsewhere too
        elif match := re.match(r"[+\-*\d]\S* (\d+)\s*$", line):
            if not inclusive:
                parts[current] = parts.get(current, 0) + int(match[1])
            inclusive = False
    return parts


def part_of(path):
    name = os.path.basename(path)
    known = {"librpma": "library", "libnull_provider": "provider", "rpma-cost": "caller"}
    return next((part for prefix, part in known.items() if name.startswith(prefix)), "other")


def dumps(directory, library, iterations):
    """{operation: {part: instructions}} of one run."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "callgrind")
        run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-line=no",
             os.path.join(directory, "rpma-cost"), str(iterations)], environment(directory, library))
        result = {}
        in_order = sorted(os.listdir(scratch), key=lambda name: (len(name), name))  # callgrind.1 and so on
        for name in in_order:
            with open(os.path.join(scratch, name), encoding="utf-8") as file:
                lines = file.readlines()
            trigger = next((l for l in lines if l.startswith("desc: Trigger: Client Request: ")), None)
            if trigger is None:
                continue
            parts = {}
            for path, count in parts_of(lines).items():
                parts[part_of(path)] = parts.get(part_of(path), 0) + count
            result[trigger.split(": ")[-1].strip()] = parts
        return result


def instructions(directory, library):
    """{operation: {part: instructions of one call}}, what the empty loop takes taken off."""
    few, many = dumps(directory, library, FEW), dumps(directory, library, MANY)

    def per_call(operation, part):
        difference = many[operation].get(part, 0) - few[operation].get(part, 0)
        return difference / (MANY - FEW)

    counts = {}
    for operation in many:
        if operation != "empty":
            counts[operation] = {part: per_call(operation, part) for part in ("caller", "library", "provider", "other")}
            counts[operation]["caller"] -= per_call("empty", "caller")
    return counts


def times(directory, libraries, runs, iterations):
    """{library: {operation: [nanoseconds of a call in each run]}}; the libraries take turns."""
    result = {library: {} for library in libraries}
    for _ in range(runs):
        for library in libraries:
            output = run([os.path.join(directory, "rpma-cost"), str(iterations)], environment(directory, library))
            for line in output.splitlines():
                operation, nanoseconds = line.split()
                result[library].setdefault(operation, []).append(float(nanoseconds))
    return result


def print_instructions(ours, theirs):
    print(f"{'instructions a call':20}{'caller':>8}{'library':>8}{'provider':>9}{'in all':>8}{'goal':>6}"
          + (f"{'theirs':>8}{'ratio':>7}" if theirs else ""))
    for operation, parts in ours.items():
        total = sum(parts.values())
        goal = BUDGETS.get(operation, ("",))[0]
        line = f"{operation:20}{parts['caller']:8g}{parts['library']:8g}{parts['provider']:9g}{total:8g}{goal:>6}"
        if theirs and not operation.startswith("ibv_"):
            other = sum(theirs[operation].values())
            line += f"{other:8g}{total / other:7.2f}"
        print(line)


def print_times(measured, ours, theirs, runs):
    print(f"\n{f'ns a call, median of {runs}':24}{'ours':>8}" + (f"{'theirs':>8}{'ratio':>7}" if theirs else ""))
    for operation, values in measured[ours].items():
        mine = statistics.median(values)
        line = f"{operation:24}{mine:8.2f}"
        if theirs:
            other = statistics.median(measured[theirs][operation])
            line += f"{other:8.2f}{mine / other:7.2f}"
        print(line)


def check(ours):
    failed = False
    for operation, (goal, limit) in BUDGETS.items():
        total = sum(ours[operation].values())
        if total > limit or ours[operation]["other"]:
            print(f"FAILED: {operation} takes {total:g} instructions, more than {limit} (goal {goal}), "
                  f"{ours[operation]['other']:g} of them outside librpma")
            failed = True
    return 1 if failed else 0


def their_library(arguments):
    if arguments.library:
        return os.path.abspath(arguments.library)
    if not arguments.fetch:
        return None
    root = os.path.join(arguments.directory, "debian")
    library = os.path.join(root, "usr/lib/x86_64-linux-gnu/librpma.so.0")
    if subprocess.run([arguments.fetch_with, root, library], check=False).returncode != 0:
        sys.exit("cost: no library to compare with: give one by --library PATH")
    return library


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directory", required=True, help="where rpma-cost and libnull_provider.so are")
    parser.add_argument("--ours", required=True, metavar="PATH", help="the librpma.so.0 to measure")
    parser.add_argument("--library", metavar="PATH", help="another librpma.so.0 to compare with")
    parser.add_argument("--fetch", action="store_true", help="compare with Debian's librpma0 1.2.0, downloaded")
    parser.add_argument("--fetch-with", metavar="SCRIPT", help="the script that downloads it")
    parser.add_argument("--check", action="store_true", help="count instructions only; fail if they are too many")
    parser.add_argument("--runs", type=int, default=7, help="timed runs (default: 7)")
    parser.add_argument("--iterations", type=int, default=2_000_000, help="calls in a timed run (default: 2000000)")
    return parser.parse_args()


def main():
    arguments = parse()
    if shutil.which("valgrind") is None:
        print("cost: skipped: valgrind is not installed (Debian package valgrind)")
        return SKIPPED
    theirs = their_library(arguments)
    ours_counted = instructions(arguments.directory, arguments.ours)
    print_instructions(ours_counted, instructions(arguments.directory, theirs) if theirs else None)
    if arguments.check:
        return check(ours_counted)
    libraries = [arguments.ours] + ([theirs] if theirs else [])
    measured = times(arguments.directory, libraries, arguments.runs, arguments.iterations)
    print_times(measured, arguments.ours, theirs, arguments.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
