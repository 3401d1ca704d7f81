#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154  # bats and helpers set variables
# rpma-perf compare, report, and the forms of results.

bats_require_minimum_version 1.5.0
load helpers.bash

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    perf_local --op flush,send --repeat 3 --json results.json --csv results.csv >table
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
}

# faster FACTOR SCATTER FILE: results.json with latencies divided and rates multiplied, the runs apart by a share
faster() {
    python3 - "$@" <<'END'
import json, sys
factor, scatter, path = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
results = json.load(open("results.json"))
for result in results["results"]:
    for i, run in enumerate(result["runs"]):
        run["operations"] = int(1e9 * factor * (1 + scatter * (i - 1)))
        run["seconds"] = 100.0
        run["latency_ns"] = {name: 1e5 / factor * (1 + scatter * (i - 1)) for name in run["latency_ns"]}
json.dump(results, open(path, "w"))
END
}

perf() {
    timeout 60 "$RPMA_PERF" "$@"
}

@test "differences beyond the noise are told from those within it" {
    faster 1 0.01 a.json
    faster 1.2 0.01 b.json
    run -0 perf compare a.json b.json
    [[ $(grep -c 'B is better$' <<<"$output") -eq 18 ]] # 2 operations, 3 APIs, 3 figures
    [[ $output == *"rpma flush 64 B, depth 1"* ]]
    run -0 perf compare b.json a.json
    [[ $(grep -c 'B is worse$' <<<"$output") -eq 18 ]]
    faster 1.2 0.4 noisy.json
    run -0 perf compare a.json noisy.json
    [[ $(grep -c 'within the noise$' <<<"$output") -eq 18 ]]
    run -0 perf compare a.json a.json
    [[ $(grep -c ' 1\.000 .* within the noise$' <<<"$output") -eq 18 ]]
}

@test "one run tells no noise" {
    perf_local --api tcp --json one.json >/dev/null
    run -0 perf compare one.json one.json
    [[ $(grep -c 'noise unknown: --repeat 2 or more$' <<<"$output") -eq 3 ]]
}

@test "files that cannot be compared" {
    run -1 --separate-stderr perf compare missing.json results.json
    one_line "missing.json: No such file or directory"
    echo '{"format": "something"}' >other.json
    run -1 --separate-stderr perf compare results.json other.json
    one_line "other.json: no results of rpma-perf run --json"
    head -c 1000 results.json >half.json
    run -1 --separate-stderr perf compare half.json results.json
    one_line "half.json: no results of rpma-perf run --json"
    perf_local --api tcp --size 128 --json others.json >/dev/null
    run -1 --separate-stderr perf compare results.json others.json
    one_line "have no case in common"
}

@test "cases of one file only are counted" {
    perf_local --api tcp --op flush --size 64,128 --json more.json >/dev/null
    run -0 perf compare results.json more.json
    [[ $output == *"6 cases are in one file only"* ]]
}

@test "JSON, CSV and table say the same" {
    python3 - <<'END'
import csv, json
results = json.load(open("results.json"))["results"]
runs = [(r["case"], run) for r in results for run in r["runs"]]
rows = list(csv.DictReader(open("results.csv")))
assert len(rows) == len(runs) == 18
for (case, run), row in zip(runs, rows):
    assert row["api"] == case["api"] and row["op"] == case["op"] and int(row["operations"]) == run["operations"]
    assert abs(float(row["operations_per_s"]) - run["operations_per_s"]) < 0.01
    assert abs(float(row["p99_ns"]) - run["latency_ns"]["p99"]) <= 0.5
for result in results:
    total = sum(count for _, count in result["histogram_ns"])
    assert total == sum(run["operations"] for run in result["runs"])
    assert result["latency_ns"]["min"] <= result["latency_ns"]["p50"] <= result["latency_ns"]["p99.9"] <= result["latency_ns"]["max"]
END
    [[ $(grep -cE '^(rpma|verbs|tcp)' table) -eq 6 ]]
}

@test "results on standard output stand alone there" {
    perf_local --api tcp --json - >out.json 2>table.err
    json out.json 'd["complete"]'
    grep -q '99.9 %' table.err
}

@test "the machine and the software are described" {
    json results.json 'd["initiator"]["device"]["name"] == "fabric0"'
    json results.json 'all(d["initiator"][k] for k in ("host", "os", "kernel", "processor", "processors", "memory_bytes"))'
    json results.json 'd["initiator"]["librpma"]["path"].endswith("/librpma.so.0") and d["target"]["target_memory"]["kind"] == "DRAM"'
    json results.json 'd["command"].startswith("rpma-perf local --size 64")'
}

@test "a page of files that are none, or to a place that is none" {
    run -1 --separate-stderr perf report missing.json -o page.html
    one_line "missing.json: No such file or directory"
    run -1 --separate-stderr perf report results.json -o missing/page.html
    one_line "cannot write missing/page.html: No such file or directory"
    run -1 --separate-stderr perf report results.json -o /dev/full
    one_line "cannot write /dev/full: No space left on device"
    run -2 perf report results.json
    run -0 perf report results.json results.json -o page.html
    [[ $(grep -c '</script>' page.html) -eq 3 ]]
}
