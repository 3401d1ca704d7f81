# SPDX-License-Identifier: BSD-3-Clause
# Runs a pair of example programs.
# shellcheck shell=bash disable=SC2154
#   EXAMPLES     directory of the programs
#   RPMA_FABRIC  the launcher

bats_require_minimum_version 1.5.0
: "${RPMA_FABRIC:?}" "${EXAMPLES:?}"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    address=127.0.0.1
    server=
    client=
}

teardown() {
    local pid
    for pid in $server $client; do
        if kill -0 "$pid" 2>/dev/null; then kill -KILL "$pid"; fi
    done
}

# wait_until SECONDS COMMAND...: true as soon as the command is
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.02
    done
}

server_is_ready_or_dead() {
    grep -q '^listening' server.out || ! kill -0 "$server" 2>/dev/null
}

# start_server_at PORT NAME [OPTION...] [-- ARGUMENT...]: options come before the address, arguments behind the port
start_server_at() {
    local at=$1 name=$2 options=()
    shift 2
    while [[ $# -gt 0 && $1 != -- ]]; do
        options+=("$1")
        shift
    done
    [[ $# -eq 0 ]] || shift # the --
    : >server.out # the new server empties it only once it runs: an earlier one's words would be taken for its own
    # bats waits for whoever holds its descriptor 3
    "$RPMA_FABRIC" run -- "$EXAMPLES/$name-server" "${options[@]}" "$address" "$at" "$@" >server.out 2>server.err 3>&- &
    server=$!
    wait_until 30 server_is_ready_or_dead
    grep -q '^listening' server.out
}

pick_port() {
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
}

# start_server NAME ...: as above, on a port that is free, in $port
start_server() {
    local attempt
    for attempt in {1..10}; do
        pick_port
        start_server_at "$port" "$@" && return
        grep -q 'cannot listen' server.err || break
    done
    echo "no server after $attempt attempts:" && cat server.err
    return 1
}

run_client() {
    local name=$1
    shift
    run -0 timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/$name-client" "$address" "$port" "$@" 3>&-
}

kill_server() {
    kill -KILL "$server"
    wait "$server" || [[ $? -eq 137 ]] # SIGKILL
    server=
}

# The server ends by itself, with success, and has said nothing on stderr.
server_ends_well() {
    wait "$server"
    server=
    cat server.out server.err
    [[ ! -s server.err ]]
}

shows() {
    local text
    for text in "$@"; do
        [[ $output == *"$text"* ]] || { echo "the client did not print: $text" && return 1; }
    done
}

server_shows() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" server.out || { echo "the server did not print: $text" && return 1; }
    done
}
