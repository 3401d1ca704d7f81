#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2034  # shared with helpers.bash
# Replication that works.

load helpers

@test "the replica equals the source after the server was killed" {
    random_file source 5000001
    start_replica replica 5000001
    run -0 replicate source
    [[ $output == *"replicated 5000001 bytes"* && $output == *"flush latency"*"median"* ]]
    kill_server
    cmp source replica
    [[ $(committed replica) == 5000001 ]]
}

@test "every size round the pieces and batches" {
    for size in 1 7 8 65535 65536 65537 524288 524289 1048576 1572865; do
        random_file source "$size"
        rm -f replica replica.commit
        start_replica replica "$size"
        run -0 replicate source
        kill_server
        cmp source replica
        [[ $(committed replica) == "$size" ]]
    done
}

@test "a server serves one client after another" {
    random_file first 300000
    random_file second 200000
    start_replica replica 300000
    run -0 replicate first
    cmp first replica
    run -0 replicate second
    cmp -n 200000 second replica
    [[ $(committed replica) == 200000 ]]
}

@test "a file that is not on persistent memory is called that, and the server writes back" {
    random_file source 100000
    start_replica replica 100000
    grep -q 'not on persistent memory' server.out
    run -0 replicate source
    [[ $output == *"written back by the server"* ]]
}

@test "where the server declares direct write, flushes are persistent and no CPU is asked" {
    export PMEM2_FORCE_GRANULARITY=CACHE_LINE
    random_file source 600000
    start_replica --direct-write replica 600000
    run -1 grep 'not on persistent memory' server.out
    run -0 replicate source
    [[ $output == *"flushed to the persistence domain"* ]]
    cmp source replica
}

@test "a client killed half-way leaves no commit, and the next client is served" {
    random_file source $((32 << 20))
    start_replica replica $((32 << 20))
    # Small packets and a trace make it slow enough to be caught in the middle.
    "$RPMA_FABRIC" run --mtu 256 --trace trace -- "$EXAMPLES/replicate-client" "$address" "$port" source 3>&- &
    client=$!
    wait_until 30 grep -q WRITE_LAST trace
    kill -KILL "$client"
    wait_until 30 grep -q 'client gone, 0 bytes' server.out
    [[ $(committed replica) == 0 ]]
    run -0 replicate source
    cmp source replica
}

@test "the device's log says what happens to connections, as much as is asked for" {
    random_file source 1000
    start_replica replica 1000
    for level in warning info debug; do
        run -0 env RPMA_FABRIC_LOG="$level:$level" timeout 120 "$RPMA_FABRIC" run -- "$EXAMPLES/replicate-client" "$address" "$port" source
    done
    [[ ! -e warning ]]
    for level in info debug; do
        grep -q "^rpma-fabric\[[0-9]*\]: info: link [0-9]*: connected to $address:$port$" "$level"
        grep -q ": info: link [0-9]*: event ESTABLISHED status 0$" "$level"
    done
    run -1 grep "debug:" info
    grep -q ": debug: qp [0-9]* state RTR -> RTS$" debug
}
