#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2034  # bats and helpers set variables
# rpma-perf measures on the fabric: every operation, every option, every output.

bats_require_minimum_version 1.5.0
load helpers.bash

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    stop_processes
}

@test "local measures without any set-up, silently but for the table" {
    run -0 --separate-stderr perf_local
    [[ -z $stderr ]]
    [[ $output == *"99.9 %"* && $output == *"librpma over raw verbs"* ]]
    [[ $(grep -cE '^(rpma|verbs|tcp) +flush +64 B' <<<"$output") -eq 3 ]]
}

@test "every operation by every API, and every byte is right" {
    run -0 perf_local --op all --verify --json out.json
    [[ $output == *", 0 wrong"* ]]
    json out.json 'd["complete"] and len(d["results"]) == 7 * 3'
    json out.json 'all(r["runs"][0]["operations"] > 0 and r["runs"][0]["verified_bytes"] > 0 for r in d["results"])'
}

@test "odd sizes, queue depths, batches and connections, verified" {
    run -0 perf_local --op all --size 1,1000 --queue-depth 4 --batch 1,4 --connections 3 --threads 2 --verify --duration 0.02 --json out.json
    json out.json 'len(d["results"]) == 7 * 2 * 2 * 3 and sum(r["mismatches"] for x in d["results"] for r in x["runs"]) == 0'
}

@test "large operations" {
    run -0 perf_local --op write,read,pingpong --size 8M --queue-depth 2 --verify
    [[ $output == *", 0 wrong"* ]]
}

@test "polling" {
    run -0 perf_local --api rpma,verbs --op flush,pingpong --wait poll --verify
    [[ $output == *", 0 wrong"* ]]
}

@test "native operations of the device or none" {
    run -0 perf_local --native none --api rpma,verbs --op commit --verify --json out.json
    json out.json 'not d["initiator"]["device"]["native_atomic_write"]'
}

@test "a count of operations instead of a time" {
    run -0 perf_local --op write --count 1000 --api rpma,tcp --json out.json
    json out.json 'all(r["runs"][0]["operations"] == 1000 for r in d["results"])'
}

@test "a count below the queue depth: every operation lies within the time" {
    run -0 perf_local --op write --count 10 --queue-depth 16 --repeat 1 --json out.json
    json out.json 'all(r["runs"][0]["operations"] == 10 for r in d["results"])'
    json out.json 'all(r["runs"][0]["seconds"] * 1e9 > 0.98 * r["histogram_ns"][-1][0] for r in d["results"])'
}

@test "persistent flushes, into a file" {
    run -0 perf_local --op flush,commit,persist --flush persistent --direct-write --memory file --memory-size 1M --verify --json out.json
    json out.json 'd["target"]["target_memory"]["kind"] in ("file", "persistent memory") and len(d["results"]) == 9'
    [[ $(stat -c %s file) -eq 1048576 ]]
    [[ $output == *", 0 wrong"* ]]
}

@test "by IPv6, from a chosen range of ports" {
    "$RPMA_FABRIC" run -- "$RPMA_PERF" server --address ::1 --port 0 --data-port 20000 >server.out 2>server.err 3>&- &
    server=$!
    wait_until grep -q '^listening on ::1 port' server.out
    port=$(sed -nE 's/^listening on ::1 port ([0-9]+),.*/\1/p' server.out)
    run -0 timeout 60 "$RPMA_FABRIC" run --trace trace -- "$RPMA_PERF" run ::1 --port "$port" "${quick[@]}" --wait event --verify
    [[ $output == *", 0 wrong"* ]]
    grep -Eq 'connected to .*::1\]?:200[0-6][0-9]$' trace
}

@test "a wrong byte is found" {
    start_server --memory file --memory-size 1M
    start_client --op read --api rpma --size 4K --verify --duration 1
    while kill -0 "$client" 2>/dev/null; do
        head -c 4096 /dev/urandom | dd of=file conv=notrunc status=none
        sleep 0.05
    done
    ends_with 1 "$client"
    grep -q 'verified bytes are wrong' err
}
