#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Programs of rdma-core that need no peer, and those that ask for what the device does not have: a clear refusal, never a crash.

bats_require_minimum_version 1.5.0

on_fabric() {
    timeout -k 5 60 "$RPMA_FABRIC" run -- "$@"
}

# refused REASON COMMAND...: it ends by itself with an error, and says why
refused() {
    local reason=$1
    shift
    run on_fabric "$@"
    echo "$status: $output"
    [[ $status -ne 0 && $status -lt 124 || $status -eq 255 ]] # no time-out, no signal
    [[ $output == *"$reason"* ]]
}

@test "ibv_devices lists the device" {
    run -0 on_fabric ibv_devices
    [[ ${lines[2]} =~ ^[[:space:]]+fabric0[[:space:]]+[0-9a-f]{16}$ ]]
    [[ ${#lines[@]} -eq 3 ]]
}

@test "ibv_devinfo -v shows everything" {
    run -0 on_fabric ibv_devinfo -v
    local wanted
    for wanted in "transport:"$'\t'*"InfiniBand" "atomic_cap:"*"ATOMIC_HCA" "max_srq:" "rc_odp_caps:" "PORT_ACTIVE" \
        "active_mtu:"*"4096" "link_layer:"*"Ethernet" "GID["*"::ffff:127.0.0.1, RoCE v2"; do
        # shellcheck disable=SC2053  # patterns
        [[ $output == *$wanted* ]] || { echo "missing: $wanted" && echo "$output" && return 1; }
    done
    [[ $output != *"Failed"* && $output != *"vendor_id:"$'\t\t\t'"0x0000"* ]]
}

@test "ibv_devinfo of a device that is not there" {
    run -255 on_fabric ibv_devinfo -d mlx5_0
    [[ $output == *"IB device 'mlx5_0' wasn't found"* ]]
}

@test "other transports are refused" {
    refused "Couldn't create QP" ibv_ud_pingpong -g 0
    refused "Couldn't create QP" ibv_uc_pingpong -g 0
    refused "Couldn't Open the XRC Domain 95" ibv_xsrq_pingpong -g 0
}

@test "datagrams and multicast over librdmacm are refused" {
    refused "unable to create QP: Operation not supported" udaddy -s 127.0.0.1
    refused "unable to create QP: Operation not supported" mckey -m 224.0.0.5 -b 127.0.0.1
}

@test "rsockets are refused, with the reason" {
    local program
    for program in "rstream -T v" "rstream -s 127.0.0.1" "riostream -T v" "riostream -s 127.0.0.1" "udpong -s 127.0.0.1" \
        "rcopy /etc/hostname 127.0.0.1:/dev/null"; do
        # shellcheck disable=SC2086  # words
        refused "rsockets are not available under the fabric" $program
        [[ $output == *"Operation not supported"* ]]
    done
}

@test "raw packets are refused" {
    refused "" raw_ethernet_bw --client -n 5 -F -B 00:11:22:33:44:55 -E 00:11:22:33:44:66
    [[ $output == *[Ff]"ailed"* || $output == *"ouldn't"* ]]
}

listens_or_dead() {
    [[ $(ss -ltn) == *":$port "* ]] || ! kill -0 "$server" 2>/dev/null
}

@test "--pcap: the program that is started writes the file, its children one each" {
    local i
    cd "$BATS_TEST_TMPDIR"
    for _ in {1..10}; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        timeout -k 5 60 "$RPMA_FABRIC" run --pcap server.pcap -- rping -s -a 127.0.0.1 -p "$port" -C 1 >server.out 2>&1 3>&- &
        server=$!
        for ((i = 0; i < 600; i++)); do
            listens_or_dead && break
            sleep 0.05
        done
        kill -0 "$server" && break
    done
    run -0 timeout -k 5 60 "$RPMA_FABRIC" run --pcap client.pcap -- sh -c "rping -c -a 127.0.0.1 -p $port -C 1; exit \$?" 3>&-
    wait "$server"
    [[ $(head -c 4 server.pcap | od -An -tx4) == " a1b23c4d" ]]
    (($(stat -c %s server.pcap) > 1000))
    [[ ! -s client.pcap ]] # the shell's
    (($(stat -c %s client.pcap.[0-9]*) > 1000))
}
