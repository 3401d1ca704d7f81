#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two_namespaces.sh PAIR OPTION…: runs the driver with the server and the clients in network name spaces of their own, joined by
# a veth pair. Whatever happens, both are removed again. Without the right to make them the test is skipped.
set -eu
pair=$1
shift
server_ns=rpma-test-s$$
client_ns=rpma-test-c$$
server_if=rpmas$$
client_if=rpmac$$

clean_up() {
    for ns in "$server_ns" "$client_ns"; do
        [ ! -e "/run/netns/$ns" ] || ip netns del "$ns"
    done
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

if ! ip netns add "$server_ns" || ! ip netns add "$client_ns"; then
    echo "SKIPPED: no right to make network name spaces"
    exit 77
fi
ip link add "$server_if" netns "$server_ns" type veth peer name "$client_if" netns "$client_ns"
ip -n "$server_ns" addr add 10.77.0.1/24 dev "$server_if"
ip -n "$client_ns" addr add 10.77.0.2/24 dev "$client_if"
for part in "$server_ns $server_if" "$client_ns $client_if"; do
    ns=${part% *}
    ip -n "$ns" link set lo up
    ip -n "$ns" link set "${part#* }" up
done
"$pair" --env-server "RPMA_TEST_LINK=$server_if" --before-server "ip netns exec $server_ns" --before-client "ip netns exec $client_ns" \
    --listen-address 10.77.0.1 --connect-address 10.77.0.1 "$@"
