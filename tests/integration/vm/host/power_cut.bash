# SPDX-License-Identifier: BSD-3-Clause
# Cuts the guest's power while it writes: QEMU is killed, its persistent memory is a file of the host. The next boot reads that
# memory, and writes on.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the files that utils/vm sources

# What the guest does in a round: checks what the round before has left, then writes for ever.
round_command() {
    local programs=/build/project/tests/integration
    echo "set -e; export RPMA_TEST_LAUNCHER=none RPMA_TEST_ADDRESS=10.99.0.1; devices rxe pmem"
    [[ $1 -eq 1 ]] || echo "$programs/vm/check_records /dev/dax0.0 /results/previous; touch /results/checked"
    [[ $1 -gt $2 ]] ||
        echo "$programs/it_pair --timeout 300 $programs/vm/it_endless_records /dev/dax0.0 /results/acknowledged $1"
}

# wait_for_file FILE PID SECONDS
wait_for_file() {
    local end=$((SECONDS + $3))
    while [[ ! -s $1 && $SECONDS -lt $end ]] && kill -0 "$2" 2>/dev/null; do
        sleep 0.1
    done
    [[ -s $1 ]]
}

# power_cut_round NUMBER IMAGE DIRECTORY: writes, and ends at a random moment of three seconds.
power_cut_round() {
    local words pid moment
    mapfile -t words < <(qemu_words "$3" "$2")
    nice -n 5 "${words[@]}" -monitor none -serial "file:$3/console" </dev/null &
    pid=$!
    # shellcheck disable=SC2064 # this guest, whatever runs when the script ends
    trap "kill -KILL $pid 2>/dev/null || true" EXIT
    if ! wait_for_file "$3/acknowledged" "$pid" 240; then
        kill -KILL "$pid" 2>/dev/null
        show_hang "$3" 240
        return 1
    fi
    moment=$(printf '%d.%03d' $((RANDOM % 3)) $((RANDOM % 1000)))
    sleep "$moment"
    kill -KILL "$pid" && { wait "$pid" || true; } 2>/dev/null
    trap - EXIT
    echo "round $1: power cut $moment s after the first record"
}

# power_cut ROUNDS
power_cut() {
    local rounds=$1 round image=$results/nvdimm directory
    mkdir -p "$results"
    rm -f "$image"
    truncate -s 256M "$image"
    for ((round = 1; round <= rounds + 1; ++round)); do
        directory=$results/power-cut-$round
        rm -rf "$directory"
        mkdir -p "$directory"
        round_command "$round" "$rounds" >"$directory/command"
        [[ $round -eq 1 ]] || cp "$results/power-cut-$((round - 1))/acknowledged" "$directory/previous"
        if [[ $round -le $rounds ]]; then
            power_cut_round "$round" "$image" "$directory" || return 1
        else
            end_guest "$directory" 240 "$image" || return 1
        fi
        [[ $round -eq 1 ]] || grep '^round' "$directory/output" || return 1
    done
    rm -f "$image"
}
