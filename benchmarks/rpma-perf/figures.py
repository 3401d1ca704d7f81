#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the figures of doc/performance.md, as ratios, on this machine's software device.

usage: figures.py RPMA_PERF DIRECTORY [--quick]

Writes to DIRECTORY: NAME.json and NAME.html of each measurement, and figures.md with the tables. --quick runs everything
for moments only, to see that it works; such figures mean nothing. Needs a machine that does nothing else, some 15 minutes.
"""
import json
import statistics
import subprocess
import sys
from pathlib import Path

ALL_SIZES = "64-1M:4"
MEASUREMENTS = {
    "sizes": ["--op", "all", "--size", ALL_SIZES, "--queue-depth", "1"],
    "depths": ["--op", "write,flush,read,pingpong", "--size", "4K", "--queue-depth", "1-64"],
    "connections": ["--op", "flush", "--api", "rpma,verbs", "--size", "4K", "--queue-depth", "4", "--connections", "1-16"],
    "batches": ["--op", "write,flush", "--api", "rpma,verbs", "--size", "4K,64K", "--queue-depth", "64", "--batch", "1,16"],
}
THOROUGH = ["--repeat", "5", "--duration", "0.5", "--warm-up", "0.1"]
QUICK = ["--repeat", "1", "--duration", "0.02", "--warm-up", "0.01"]


def measure(program, directory, name, timing):
    out = directory / f"{name}.json"
    subprocess.run([program, "local", *MEASUREMENTS[name], *timing, "--json", out, "--report", out.with_suffix(".html")], check=True)
    return json.loads(out.read_text())


def select(data, **wanted):
    return [r for r in data["results"] if all(r["case"][key] == value for key, value in wanted.items())]


def rate(result):
    return result["operations_per_s"]


def median_latency(result):
    return statistics.median(run["latency_ns"]["p50"] for run in result["runs"])


def counterpart(data, result, **changed):
    case = {**result["case"], **changed}
    return next(r for r in data["results"] if r["case"] == case)


def table(title, head, rows):
    lines = [f"### {title}", "", "| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def size_text(size):
    return f"{size} B" if size < 1024 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def ops_of(data):
    return list(dict.fromkeys(r["case"]["op"] for r in data["results"]))


def over_others(data):
    """librpma over raw verbs and over TCP, at queue depth 1: the median over all sizes, and the range."""
    rows = []
    for op in ops_of(data):
        ours = select(data, op=op, api="rpma")
        row = [op]
        for other, value in (("verbs", median_latency), ("verbs", rate), ("tcp", median_latency)):
            ratios = [value(r) / value(counterpart(data, r, api=other)) for r in ours]
            row.append(f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
        rows.append(row)
    return table("librpma over raw verbs and TCP, queue depth 1",
                 ["operation", "median latency over verbs", "rate over verbs", "median latency over TCP"], rows)


def by_size(data):
    sizes = sorted({r["case"]["size"] for r in data["results"]})
    rows = []
    for op in ops_of(data):
        first, *_ = select(data, op=op, api="rpma", size=sizes[0])
        rows.append([op] + [f"{median_latency(select(data, op=op, api='rpma', size=size)[0]) / median_latency(first):.2f}" for size in sizes])
    return table(f"Median latency by size, {size_text(sizes[0])} = 1", ["operation", *map(size_text, sizes)], rows)


def by(data, key, title):
    values = sorted({r["case"][key] for r in data["results"]})
    rows = []
    for op in ops_of(data):
        for api in dict.fromkeys(r["case"]["api"] for r in data["results"]):
            results = {value: select(data, op=op, api=api, **{key: value})[0] for value in values}
            rows.append([f"{op}, {api}"] + [f"{rate(results[value]) / rate(results[values[0]]):.2f}" for value in values])
    return table(title, ["", *map(str, values)], rows)


def pipelined(data):
    rows = []
    for flushed in select(data, op="flush", api="rpma", batch=16):
        case = flushed["case"]
        ratios = [rate(select(data, op="flush", api=api, batch=16, size=case["size"])[0]) /
                  rate(select(data, op="write", api=api, batch=batch, size=case["size"])[0])
                  for api in ("rpma", "verbs") for batch in (1, 16)]
        rows.append([size_text(case["size"])] + [f"{ratio:.3f}" for ratio in ratios])
    return table("Bandwidth of writes with a flush behind every 16, over writes alone, queue depth 64",
                 ["size", "librpma, each write completes", "librpma, every 16th completes", "verbs, each", "verbs, every 16th"], rows)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--quick"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    program, directory = arguments[0], Path(arguments[1])
    directory.mkdir(parents=True, exist_ok=True)
    timing = QUICK if "--quick" in sys.argv else THOROUGH
    data = {name: measure(program, directory, name, timing) for name in MEASUREMENTS}
    machine = data["sizes"]["initiator"]
    parts = [f"{machine['processor']}, {machine['processors']} processors, {machine['kernel']}, {machine['os']}, "
             f"{machine['device']['name']}, load {machine['load_average']:.2f} before.\n",
             over_others(data["sizes"]), by_size(data["sizes"]),
             by(data["depths"], "queue_depth", "Rate by queue depth, 4 KiB, depth 1 = 1"),
             by(data["connections"], "connections", "Rate by connections, 4 KiB, depth 4 each, one connection = 1"),
             pipelined(data["batches"])]
    (directory / "figures.md").write_text("\n".join(parts))
    print(directory / "figures.md")


if __name__ == "__main__":
    main()
