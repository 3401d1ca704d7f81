#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the persistence model costs when it is on: 4 KiB writes and flushes into a file, with and without --platform.

Both are measured in each round, one after the other, and each ratio is of figures of one round. The least time of a batch blurs
least on a busy machine; the median is what a program sees.
"""
import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SIZE = 4096
TIME_LIMIT = 120


def fabric(arguments, platform, report=None):
    options = ["--platform", platform] if platform else []
    if platform and report:
        options += ["--report", report]
    return [arguments.launcher, "run", *options, "--", arguments.perf]


def measure(arguments, platform, directory):
    """{operation: (least, median) in us of a batch}, and what the server's report says of its memory."""
    report = Path(directory, "report.json")
    command = [*fabric(arguments, platform, report), "server", "--address", "127.0.0.1", "--port", "0", "--memory",
               Path(directory, "memory"), "--memory-size", "4M", "--direct-write"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            port = re.search(r"port (\d+)", server.stdout.readline()).group(1)
            client = [*fabric(arguments, platform), "run", "127.0.0.1", "--port", port, "--op", "write,flush", "--flush",
                      "persistent", "--api", "rpma", "--size", str(SIZE), "--queue-depth", "16", "--batch", "8", "--count",
                      str(arguments.count), "--repeat", "1", "--wait", "event", "--json", "-"]
            result = subprocess.run(client, capture_output=True, text=True, timeout=TIME_LIMIT)
            if result.returncode != 0:
                sys.exit(f"persistence: rpma-perf failed:\n{result.stderr[-1000:]}")
        finally:
            server.kill()
    times = {}
    for case in json.loads(result.stdout[result.stdout.index("{"):])["results"]:
        batches = [value / 1000 for value, count in case["histogram_ns"] for _ in range(count)]
        times[case["case"]["op"]] = (min(batches), statistics.median(batches))
    memory = json.loads(report.read_text())["memory"] if platform else None
    return times, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--perf", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--count", type=int, default=20000)
    arguments = parser.parse_args()
    for platform in "adr,ddio=on", "adr,ddio=off", "eadr", "wsp":
        ratios = {}
        for _ in range(arguments.rounds):
            with tempfile.TemporaryDirectory() as directory:
                off, _ = measure(arguments, None, directory)
                on, memory = measure(arguments, platform, directory)
            for op, figures in on.items():
                ratios.setdefault(op, []).append([figures[i] / off[op][i] for i in range(2)])
        for op, values in ratios.items():
            least, median = (statistics.median(value[i] for value in values) for i in range(2))
            print(f"{platform:13} {op:6} of 4 KiB: {least:.2f} times the least, {median:.2f} times the median time of off")
        print(f"{'':13} memory: {memory['images'] >> 10} KiB of images, {memory['bytes'] >> 10} KiB of account")


if __name__ == "__main__":
    main()
