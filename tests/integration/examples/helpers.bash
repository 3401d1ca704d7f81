# SPDX-License-Identifier: BSD-3-Clause
# Replicating with the example programs as they were built.
# shellcheck shell=bash disable=SC2154

EXAMPLES=$RPMA_BUILD/examples
load ../../examples/helpers

# start_replica [OPTIONS] FILE [SIZE]: on a port that is free, in $port
start_replica() {
    local options=()
    while [[ $1 == --* ]]; do
        options+=("$1")
        shift
    done
    start_server replicate "${options[@]}" -- "$@"
}

# replicate FILE: run by the client to its end
replicate() {
    timeout 120 "$RPMA_FABRIC" run -- "$EXAMPLES/replicate-client" "$address" "$port" "$1" 3>&-
}

random_file() {
    head -c "$2" /dev/urandom >"$1"
}

committed() {
    od -A n -t u8 -N 8 "$1.commit" | tr -d ' '
}
