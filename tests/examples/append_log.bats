#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2034  # shared with helpers.bash
# 11-append-log: the log survives the death of either side, and goes on.

load helpers

readonly size=4000003

committed() {
    od -A n -t u8 -N 8 replica 2>/dev/null | tr -d ' '
}

at_least() {
    [[ $(committed) -ge $1 ]]
}

replica_is_the_log() {
    [[ $(committed) == "$(stat -c %s log)" ]]
    tail -c +65 replica | cmp -n "$(stat -c %s log)" - log
}

start_client() {
    "$RPMA_FABRIC" run -- "$EXAMPLES/append-log-client" "$address" "$port" log >client.out 2>&1 3>&- &
    client=$!
}

client_has_ended() {
    ! kill -0 "$client" 2>/dev/null
}

client_ends_well() {
    local ended=0
    wait_until 60 client_has_ended
    wait "$client" || ended=$?
    client=
    cat client.out
    [[ $ended -eq 0 ]]
}

@test "a log that grows between runs" {
    head -c 10000 /dev/urandom >log
    start_server append-log -- replica 100000
    run_client append-log log
    shows "connected, 0 bytes are committed" "all 10000 bytes are durable"
    head -c 5000 /dev/urandom >>log
    run_client append-log log
    shows "connected, 10000 bytes are committed" "all 15000 bytes are durable"
    kill_server
    replica_is_the_log
}

@test "the server is killed twice and comes back; the client goes on" {
    head -c "$size" /dev/urandom >log
    start_server append-log -- replica "$size"
    start_client
    for limit in 400000 1200000; do
        wait_until 60 at_least "$limit"
        kill_server
        [[ $(committed) -lt $size ]] # else the test would show nothing
        start_server_at "$port" append-log -- replica "$size"
    done
    client_ends_well
    [[ $(grep -c '^connected' client.out) -ge 3 ]]
    kill_server
    replica_is_the_log
}

@test "the client is killed and started again; the server goes on" {
    head -c "$size" /dev/urandom >log
    start_server append-log -- replica "$size"
    start_client
    wait_until 60 at_least 400000
    kill -KILL "$client"
    wait "$client" 2>/dev/null || true
    [[ $(committed) -lt $size ]]
    wait_until 30 grep -q '^client gone' server.out
    start_client
    client_ends_well
    run -1 grep -q '^connected, 0 bytes' client.out
    kill_server
    replica_is_the_log
}

@test "a replica that is too small gets what fits, and nothing is written behind it" {
    head -c 10000 /dev/urandom >log
    start_server append-log -- replica 5000
    start_client
    wait_until 60 grep -q 'trying again' client.out
    kill -KILL "$client"
    at_least 1
    run -1 at_least 10000
}
