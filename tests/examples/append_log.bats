#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2034  # shared with helpers.bash
# 11-append-log: the log survives the death of either side, and goes on.

load helpers

# Bytes of a log; a round of messages for every 4096 of them.
readonly size=1000003

committed() {
    od -A n -t u8 -N 8 replica 2>/dev/null | tr -d ' '
}

at_least() {
    [[ $(committed) -ge $1 ]]
}

# append_to_log BYTES
append_to_log() {
    head -c "$1" /dev/urandom >>log
}

# All of the log gets into the replica, in whatever time a busy machine needs.
replica_becomes_the_log() {
    local whole
    whole=$(stat -c %s log)
    wait_until 120 at_least "$whole" || { cat client.out && return 1; }
    [[ $(committed) == "$whole" ]]
    tail -c +65 replica | cmp -n "$whole" - log
}

# has_connected TIMES
has_connected() {
    [[ $(grep -c '^connected' client.out) -ge $1 ]]
}

start_client() {
    "$RPMA_FABRIC" run -- "$EXAMPLES/append-log-client" --follow "$address" "$port" log >client.out 2>&1 3>&- &
    client=$!
}

kill_client() {
    kill -KILL "$client"
    wait "$client" || [[ $? -eq 137 ]] # SIGKILL
    client=
}

@test "a log that grows between runs" {
    append_to_log 10000
    start_server append-log -- replica 100000
    run_client append-log log
    shows "connected, 0 bytes are committed" "all 10000 bytes are durable"
    append_to_log 5000
    run_client append-log log
    shows "connected, 10000 bytes are committed" "all 15000 bytes are durable"
    kill_server
    replica_becomes_the_log
}

@test "the server is killed twice and comes back; the client goes on" {
    append_to_log "$size"
    start_server append-log -- replica $((2 * size))
    start_client
    kills=0
    for limit in 100000 300000; do
        wait_until 120 at_least "$limit"
        kill_server
        start_server_at "$port" append-log -- replica $((2 * size))
        append_to_log 200000 # so that the client has a reason to connect, however far it was
        kills=$((kills + 1))
        wait_until 120 has_connected $((kills + 1))
    done
    replica_becomes_the_log
    kill -0 "$client" # still the first one
}

@test "the client is killed and started again; the server goes on" {
    append_to_log "$size"
    start_server append-log -- replica $((2 * size))
    start_client
    wait_until 120 at_least 100000
    kill_client
    wait_until 60 grep -q '^client gone' server.out
    append_to_log 200000
    start_client
    replica_becomes_the_log
    run -1 grep -q '^connected, 0 bytes' client.out
    kill -0 "$server"
}

@test "a replica that is too small gets what fits, and nothing is written behind it" {
    append_to_log 10000
    start_server append-log -- replica 5000
    start_client
    wait_until 60 grep -q 'trying again' client.out
    kill_client
    at_least 1
    run -1 at_least 10000
}

@test "a file that is no log is refused" {
    printf 'some text' >replica
    run -1 timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/append-log-server" "$address" 1 replica 100000
    [[ $output == *"replica: is no log"* ]]
}

@test "a client with another, shorter log is told, and does not say that it is durable" {
    append_to_log 10000
    start_server append-log -- replica 100000
    run_client append-log log
    truncate -s 5000 log
    run -1 timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/append-log-client" "$address" "$port" log 3>&-
    shows "keeps another one"
    [[ $output != *durable* ]]
}
