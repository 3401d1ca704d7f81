#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# fio's rdma engine. Both sides' buffers are files, so that afterwards one can see what was moved.

bats_require_minimum_version 1.5.0

blocks=64

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    head -c 2M /dev/zero | tr '\0' S >server.memory
    head -c 2M /dev/zero | tr '\0' C >client.memory
    server=
}

teardown() {
    if [[ -n $server ]] && kill -0 "$server" 2>/dev/null; then kill -KILL "$server"; fi
}

# fio_job SIDE DEPTH OPTION...
fio_job() {
    local side=$1 depth=$2
    shift 2
    timeout -k 5 60 "$RPMA_FABRIC" run -- fio --name="$side" --ioengine=rdma --port="$port" --bs=16k --size=$((blocks * 16))k \
        --iodepth="$depth" --iomem="mmapshared:$PWD/$side.memory" "$@"
}

server_is_ready_or_dead() {
    [[ $(ss -ltn) == *":$port "* ]] || ! kill -0 "$server" 2>/dev/null
}

start_server() {
    local i
    for _ in {1..10}; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        fio_job server "$1" --rw=read >server.out 2>&1 3>&- &
        server=$!
        for ((i = 0; i < 600; i++)); do
            server_is_ready_or_dead && break
            sleep 0.05
        done
        kill -0 "$server" 2>/dev/null && return
    done
    cat server.out
    return 1
}

# transfer VERB DEPTH BYTE: the client's memory begins as BYTEs. fio calls the side that connects the writer, whatever the verb.
transfer() {
    start_server "$2"
    run -0 fio_job client "$2" --hostname=127.0.0.1 --verb="$1" --rw=write --buffer_pattern="\"$3\"" 3>&-
    echo "$output"
    [[ $output == *"err= 0"* && $output != *"completion status"* ]]
    wait "$server"
    server=
    grep -q 'err= 0' server.out
}

# memory SIDE BYTES: what is in its first BYTES bytes, without repetition
memory() {
    head -c "$2" "$1.memory" | tr -s '[:print:]'
}

@test "write: the server's memory holds what the client wrote" {
    transfer write 4 W
    [[ $(memory server 65536) == W ]]
}

@test "read: the client's memory holds what the server had" {
    transfer read 4 R
    [[ $(memory server 65536) == S && $(memory client 65536) == S ]]
}

# fio asks for no retries, so a receive must be there for every message: as many as there are messages.
@test "send: each message arrived in its receive" {
    transfer send "$blocks" M
    [[ $(memory server $((blocks * 16384))) == M ]]
}
