#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2034  # shared with helpers.bash
# Replication that cannot work: a clear message, a non-zero exit, and no hanging.

load helpers

@test "source: missing, a directory, empty, a FIFO" {
    pick_port
    run -1 replicate missing
    [[ $output == *"missing: No such file or directory"* ]]
    run -1 replicate /
    [[ $output == *"not a regular file"* ]]
    touch empty
    run -1 replicate empty
    [[ $output == *"empty"* ]]
    mkfifo fifo
    run -1 replicate fifo
    [[ $output == *"not a regular file"* ]]
}

@test "source: unreadable" {
    pick_port
    random_file secret 10
    chmod 000 secret
    as_user=()
    if [[ $EUID -eq 0 ]]; then # root reads everything
        as_user=(setpriv --bounding-set -all --inh-caps -all)
        run setpriv --bounding-set -all --inh-caps -all cat secret
        [[ $status -ne 0 ]] || as_user=(setpriv --reuid nobody --clear-groups)
        chmod a+x . ..
    fi
    run -1 "${as_user[@]}" "$RPMA_FABRIC" run -- "$EXAMPLES/replicate-client" "$address" "$port" secret
    [[ $output == *"secret: Permission denied"* ]]
}

@test "nobody listens" {
    random_file source 10
    pick_port
    run -1 replicate source
    [[ $output == *"rejected"* ]]
}

@test "the target is too small" {
    random_file source 1000
    start_replica replica 999
    run -1 replicate source
    [[ $output == *"target is too small"* ]]
}

@test "target: empty, in a missing directory, a directory" {
    for target in replica missing/replica .; do
        run -1 timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/replicate-server" "$address" 1 "$target"
        [[ $output == *"$target: "* ]]
    done
    run -1 timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/replicate-server" "$address" 1 replica
    [[ $output == *"replica: the file is empty: give a size"* ]]
}

@test "the target's disk is full" {
    random_file source 100
    mkdir disk
    on_small_disk='mount -t tmpfs -o size=1M none disk && exec "$@"'
    if unshare --user --map-root-user --mount true 2>/dev/null; then
        small_disk=(unshare --user --map-root-user --mount sh -c "$on_small_disk" sh)
    else
        small_disk=(bash -c 'trap "" XFSZ && ulimit -f 1024 && exec "$@"' sh)
    fi
    run -1 timeout 60 "${small_disk[@]}" "$RPMA_FABRIC" run -- "$EXAMPLES/replicate-server" "$address" 1 disk/replica 2000000
    [[ $output == *"disk/replica: No space left on device"* || $output == *"disk/replica: File too large"* ]]
}

@test "direct write is refused where the file is not on persistent memory" {
    run -1 timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/replicate-server" --direct-write "$address" 1 replica 4096
    [[ $output == *"not on persistent memory"* ]]
}

@test "the port is taken" {
    start_replica first 4096
    run -1 timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/replicate-server" "$address" "$port" second 4096
    [[ $output == *"cannot listen"* ]]
}

@test "the server is killed half-way" {
    random_file source $((32 << 20))
    start_replica replica $((32 << 20))
    # Small packets and a trace make it slow enough to be caught in the middle.
    "$RPMA_FABRIC" run --mtu 256 --trace trace -- "$EXAMPLES/replicate-client" "$address" "$port" source >client.out 2>&1 3>&- &
    client=$!
    wait_until 30 grep -q WRITE_LAST trace
    kill_server
    [[ $(committed replica) == 0 ]]
    status=0
    wait "$client" || status=$?
    client=
    cat client.out
    [[ $status -eq 1 ]]
    grep -qE 'retry|Connection (lost|closed)|closed the connection' client.out
}

@test "the server stops answering before it has accepted" {
    random_file source 10
    start_replica replica 4096
    kill -STOP "$server"
    run -1 replicate source
    [[ $output == *"in time"* || $output == *"unreachable"* ]]
}

@test "no RDMA device: the message names the launcher" {
    [[ ! -d /sys/class/infiniband || -z $(ls /sys/class/infiniband) ]] || skip "this machine has an RDMA device"
    random_file source 10
    run -1 "$EXAMPLES/replicate-client" "$address" 1 source
    [[ $output == *"rpma-fabric run --"* ]]
    run -1 "$EXAMPLES/replicate-server" "$address" 1 replica 4096
    [[ $output == *"rpma-fabric run --"* ]]
}

@test "wrong arguments: usage" {
    run -2 "$EXAMPLES/replicate-client"
    [[ $output == *usage* ]]
    run -2 "$EXAMPLES/replicate-server" a b c -5
    [[ $output == *usage* ]]
}
