# SPDX-License-Identifier: BSD-3-Clause
# Starting and stopping the example programs. shellcheck shell=bash

bats_require_minimum_version 1.5.0

# Bash gives every background program SIGINT ignored and bats waits for what holds its descriptor 3.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    server_program=$RPMA_BUILD/examples/replicate-server
    client_program=$RPMA_BUILD/examples/replicate-client
    address=127.0.0.1
    server=
    client=
}

teardown() {
    local pid
    for pid in $server $client; do
        kill -KILL "$pid" 2>/dev/null || true
    done
}

pick_port() {
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
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

# start_server [OPTIONS] FILE [SIZE]: on a port that is free, in $port
start_server() {
    local attempt options=()
    while [[ $1 == --* ]]; do
        options+=("$1")
        shift
    done
    for attempt in {1..10}; do
        pick_port
        : >server.out # or the words of an earlier server would be read before the new one has emptied it
        "$RPMA_FABRIC" run -- "$server_program" "${options[@]}" "$address" "$port" "$@" \
            >server.out 2>server.err 3>&- &
        server=$!
        wait_until 30 server_is_ready_or_dead
        grep -q '^listening' server.out && return
        grep -q 'cannot listen' server.err || break
    done
    echo "no server after $attempt attempts:" && cat server.err
    return 1
}

# replicate FILE: run by the client to its end
replicate() {
    timeout 120 "$RPMA_FABRIC" run -- "$client_program" "$address" "$port" "$1" 3>&-
}

kill_server() {
    kill -KILL "$server"
    wait "$server" 2>/dev/null || true
    server=
}

random_file() {
    head -c "$2" /dev/urandom >"$1"
}

committed() {
    od -A n -t u8 -N 8 "$1.commit" | tr -d ' '
}
