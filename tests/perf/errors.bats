#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rpma-perf in trouble: one clear line, a failing status, and what was measured is kept.
# shellcheck disable=SC2030,SC2031,SC2154  # each test is a subshell; bats and helpers set variables

bats_require_minimum_version 1.5.0
load helpers.bash

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    stop_processes
}

perf() {
    timeout 60 "$RPMA_PERF" "$@"
}

@test "values that are none" {
    while IFS='|' read -r text options; do
        read -ra words <<<"$options"
        run -1 --separate-stderr perf local "${words[@]}"
        one_line "$text"
    done <<'END'
--size: '4X' is not a number of bytes|--size 4X
--size: '' is not a number of bytes|--size ,
size 0: it must be from 1 byte|--size 0
size 2147483648: it must be from 1 byte|--size 2G
--queue-depth: '-1' is not a number|--queue-depth=-1
queue depth 0|--queue-depth 0
queue depth 5000|--queue-depth 5000
queue depth 16 is not a multiple of batch 3|--queue-depth 16 --batch 3
every batch is larger than every queue depth|--queue-depth 2 --batch 4
0 connections|--connections 0
2 threads for 1 connections|--threads 2
'erase' is no operation: known are read, write|--op erase
'udp' is no API: known are rpma, verbs, tcp|--api udp
'maybe' is no kind of flush|--flush maybe
'rarely' is no way of waiting|--wait rarely
--count: 'many' is not a number|--count many
--memory-size: 0 bytes are no memory|--memory-size 0
END
}

@test "command lines that cannot be read" {
    run -2 perf
    run -2 perf fly
    [[ $output == "rpma-perf: fly: no such command; see rpma-perf --help" ]]
    run -2 perf local --no-such-option
    run -2 perf run
    run -2 perf local --repeat 0
    run -2 perf local --duration 0
    run -2 perf local --duration soon
    run -2 perf server --port 65536
    run -2 perf compare only-one.json
    run -0 perf --help
    run -0 perf --version
}

@test "a server that cannot be reached" {
    run -1 --separate-stderr perf run 127.0.0.1 --port 1
    one_line "cannot reach 127.0.0.1 port 1: Connection refused; is rpma-perf server running there?"
    run -1 --separate-stderr perf run no-such-host.invalid
    one_line "address no-such-host.invalid: "
}

@test "no RDMA device" {
    perf server --address 127.0.0.1 --port 0 >server.out 3>&- &
    server=$!
    wait_until grep -q '^listening' server.out
    port=$(sed -nE 's/^listening on .* port ([0-9]+),.*/\1/p' server.out)
    run -1 --separate-stderr perf run 127.0.0.1 --port "$port" --api rpma "${quick[@]}"
    if [[ $status -eq 0 ]]; then
        skip "this machine has an RDMA device"
    fi
    one_line "no RDMA device for 127.0.0.1"
    [[ $stderr == *"rpma-perf local"* ]]
}

# impostor WORDS...: a server that says something else
impostor() {
    python3 "$HELPERS/impostor.py" "$@" >impostor.out 3>&- &
    other=$!
    wait_until grep -q . impostor.out
    port=$(<impostor.out)
}

@test "a server of another version" {
    impostor version 77
    run -1 --separate-stderr perf run 127.0.0.1 --port "$port"
    one_line "speaks version 77 of the protocol, this side version 1: use the same rpma-perf on both sides"
}

@test "a server of something else" {
    impostor text "SSH-2.0-OpenSSH_9.2p1"
    run -1 --separate-stderr perf run 127.0.0.1 --port "$port"
    one_line "is something else than rpma-perf"
    wait "$other"
    impostor close
    run -1 --separate-stderr perf run 127.0.0.1 --port "$port"
    one_line "does not greet as rpma-perf does"
    wait "$other"
    impostor garbage
    run -1 --separate-stderr perf run 127.0.0.1 --port "$port"
    one_line "a message of"
}

@test "clients of another version or of something else do not harm a server" {
    start_server
    run -0 python3 "$HELPERS/impostor.py" client "$port" version 77
    [[ $output == *"RPMAPERF"* ]]
    run -0 python3 "$HELPERS/impostor.py" client "$port" text "GET / HTTP/1.1"
    run -0 python3 "$HELPERS/impostor.py" client "$port" garbage
    run -0 python3 "$HELPERS/impostor.py" client "$port" requests
    grep -q 'speaks version 77' server.err
    run -0 perf_run
}

@test "a server that dies in the run" {
    for api in rpma verbs tcp; do
        start_server
        start_client --api $api --size 64,128 --duration 0.1 --repeat 500 --json out.json --csv out.csv
        sleep 2 # some runs are done
        kill -KILL "$server"
        ends_with 1 "$client"
        [[ $(wc -l <err) -eq 1 ]]
        grep -q "^rpma-perf: $api flush .*" err
        json out.json 'not d["complete"] and d["note"] and d["results"][0]["runs"][0]["complete"]'
        [[ $(wc -l <out.csv) -ge 2 ]]
        grep -q '^incomplete: ' out
    done
}

@test "a server that stops in the run" {
    start_server
    start_client --duration 60 --json out.json # long enough to be measuring still
    sleep 2
    kill -STOP "$server"
    ends_with 1 "$client"
    kill -KILL "$server"
    [[ $(wc -l <err) -eq 1 ]]
    cat err
    json out.json 'not d["complete"] and ("for 10 s" in d["note"] or "for 20 s" in d["note"])'
}

@test "a client that dies leaves the server ready for the next" {
    start_server --memory file --memory-size 1M
    for api in rpma verbs tcp; do
        start_client --api $api --op pingpong --duration 30
        sleep 0.7
        kill -KILL "$client"
        ends_with 137 "$client"
        wait_until perf_run --api $api
    done
}

@test "Ctrl-C ends with what was measured so far" {
    for when in 0.1 2; do
        "$RPMA_PERF" local --api rpma --op flush --size 64,128 --duration 0.1 --repeat 500 --json out.json >out 2>err 3>&- &
        client=$!
        wait_until pgrep -P "$client" >child # its server
        child=$(<child)
        sleep $when
        kill -INT "$client"
        ends_with 130 "$client"
        [[ ! -s err ]]
        run ! kill -0 "$child"
        json out.json 'not d["complete"] and d["note"] == "stopped by a signal"'
        grep -q '^incomplete: stopped by a signal' out
    done
    json out.json 'd["results"][0]["runs"][0]["complete"]'
}

@test "a request to end that comes as two signals is one request" {
    start_server
    kill "$server"
    sleep 0.05
    kill "$server"
    ends_with 0 "$server"
    server=
}

@test "a second Ctrl-C ends what waits for its server" {
    start_server
    start_client --duration 30 --json out.json
    sleep 1
    kill -STOP "$server"
    kill -INT "$client"
    sleep 1
    kill -INT "$client"
    ends_with 130 "$client"
    kill -KILL "$server"
    [[ ! -e out.json ]]
}

@test "a full disk" {
    run -1 --separate-stderr perf_local --api tcp --json /dev/full --csv out.csv
    one_line "cannot write /dev/full: No space left on device"
    [[ $output == *"tcp "* && $(wc -l <out.csv) -eq 2 ]]
}

@test "what was in a file stays if its place is too small for what shall come" {
    echo earlier >out.json
    # shellcheck disable=SC2016  # expanded by the inner shell
    run -1 --separate-stderr bash -c 'ulimit -f 1; "$@"' bash "$RPMA_PERF" local "${quick[@]}" --api tcp --json out.json
    one_line "cannot write out.json: File too large"
    [[ $(<out.json) == earlier && $(find . -name '*.new' | wc -l) -eq 0 ]]
}

@test "files that cannot be made are refused before anything is measured" {
    for option in --json --csv --report; do
        run -1 --separate-stderr perf_local --duration 50 $option missing/file
        one_line "missing/file: No such file or directory"
        run -1 --separate-stderr perf_local --duration 50 $option .
        one_line ".: Is a directory"
    done
}

@test "persistence that the target has not declared" {
    run -1 --separate-stderr perf_local --api rpma --flush persistent
    one_line "--flush persistent: the target has not declared direct write to persistent memory: start it with --direct-write"
}

@test "too little target memory" {
    run -1 --separate-stderr perf_local --api rpma --size 1M --queue-depth 8 --memory-size 4M
    one_line "of target memory are needed, there are 4 MiB: start the server with a larger --memory-size"
}

@test "target memory that cannot be used" {
    run -1 --separate-stderr perf server --port 0 --memory missing/file
    one_line "missing/file: No such file or directory"
    run -1 --separate-stderr perf server --port 0 --memory /dev/null
    one_line "/dev/null"
}

@test "a port that is taken" {
    start_server
    run -1 --separate-stderr perf server --address 127.0.0.1 --port "$port"
    one_line "cannot listen on 127.0.0.1 port $port: Address already in use"
}

@test "a file that another client uses" {
    start_server --memory file --memory-size 1M
    start_client --api tcp --duration 3
    sleep 1
    run -1 --separate-stderr perf_run --api tcp
    one_line "file is in use by another client"
    ends_with 0 "$client"
}

@test "two clients at once" {
    start_server
    start_client --duration 1
    run -0 perf_run --op all --verify
    [[ $output == *", 0 wrong"* ]]
    ends_with 0 "$client"
}

@test "another library, and what is none" {
    cp "$RPMA_LIBRARY" another.so
    run -0 perf_local --api rpma --library another.so --json out.json
    json out.json 'd["initiator"]["librpma"]["path"].endswith("/another.so") and d["target"]["librpma"]["path"].endswith("/another.so")'
    run -1 --separate-stderr perf_local --library missing.so
    one_line "--library missing.so: No such file or directory"
    echo text >text.so
    run -1 --separate-stderr perf_local --library text.so
    one_line "--library: "
    run -1 --separate-stderr perf_local --library /lib/x86_64-linux-gnu/libm.so.6
    one_line "is no librpma"
}
