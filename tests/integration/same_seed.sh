#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# same_seed.sh PAIR OPTION…: runs the driver three times with faults by chance. The same seed gives the same faults at the
# same packets; another seed gives others.
set -eu
pair=$1
shift
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' INT TERM HUP

# Each side's faults, without what differs between any two runs: time, process, number of the connection's link.
faults() {
    for side in server client; do
        sed -n "s/.* ! \(fault .*\)/$side \1/p" "$directory/$side"
    done
}

# run SEED OPTION…
run() {
    seed=$1
    shift
    rm -f "$directory/server" "$directory/client"
    "$pair" --env "RPMA_FABRIC_FAULTS=delay=1ms@30%,rnr@40%" --env "RPMA_FABRIC_SEED=$seed" \
        --env-server "RPMA_FABRIC_TRACE=$directory/server" --env-client "RPMA_FABRIC_TRACE=$directory/client" "$@"
}

for name in first again other; do
    seed=7
    [ $name != other ] || seed=8
    run $seed "$@" || exit 1
    faults >"$directory/faults.$name"
done
cat "$directory/faults.first"
[ "$(grep -c "client fault delay" "$directory/faults.first")" -gt 2 ] || { echo "there were no delays"; exit 1; }
[ "$(grep -c "server fault rnr" "$directory/faults.first")" -gt 2 ] || { echo "receivers were always ready"; exit 1; }
diff "$directory/faults.first" "$directory/faults.again" || { echo "the same seed gave another run"; exit 1; }
! cmp -s "$directory/faults.first" "$directory/faults.other" || { echo "another seed gave the same run"; exit 1; }
