# SPDX-License-Identifier: BSD-3-Clause
# For the tests of rpma-perf.   RPMA_PERF  the program,  RPMA_FABRIC  the launcher
# shellcheck shell=bash disable=SC2154  # bats sets variables
quick=(--size 64 --queue-depth 1 --duration 0.05 --warm-up 0.01 --repeat 1)

# What is measured is not the matter here, so all runs are short and nobody spins.
perf_local() {
    timeout 60 "$RPMA_PERF" local "${quick[@]}" "$@"
}

perf_run() {
    timeout 60 "$RPMA_FABRIC" run -- "$RPMA_PERF" run 127.0.0.1 --port "$port" "${quick[@]}" --wait event "$@"
}

# start_client [OPTIONS]: the same in the background, its output in the files out and err; sets `client`
start_client() {
    "$RPMA_FABRIC" run -- "$RPMA_PERF" run 127.0.0.1 --port "$port" "${quick[@]}" --wait event "$@" >out 2>err 3>&- &
    client=$!
}

# ends_with STATUS PID
ends_with() {
    local ended=0
    wait "$2" || ended=$?
    [[ $ended -eq $1 ]] || {
        echo "exit status $ended, expected $1; stderr:"
        [[ ! -e err ]] || cat err
        return 1
    }
}

# start_server [OPTIONS]: sets `server` and `port`
start_server() {
    "$RPMA_FABRIC" run -- "$RPMA_PERF" server --address 127.0.0.1 --port 0 "$@" >server.out 2>server.err 3>&- &
    server=$!
    wait_until grep -q '^listening' server.out
    port=$(sed -nE 's/^listening on .* port ([0-9]+),.*/\1/p' server.out)
}

stop_processes() {
    local process
    for process in ${client:-} ${server:-} ${other:-}; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
}

wait_until() {
    local end=$((SECONDS + 30))
    until "$@"; do
        if ((SECONDS >= end)); then
            echo "waited in vain for: $*"
            return 1
        fi
        sleep 0.02
    done
}

# one_line TEXT: the last run has failed with one line on stderr, which holds the text
one_line() {
    [[ ${#stderr_lines[@]} -eq 1 && $stderr == *"$1"* ]] || {
        printf 'stderr is not one line with "%s":\n%s\n' "$1" "$stderr"
        return 1
    }
}

# json FILE EXPRESSION: true for the parsed file `d`
json() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else f"not true: {sys.argv[2]}")' "$@"
}
