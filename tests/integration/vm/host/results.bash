# SPDX-License-Identifier: BSD-3-Clause
# Reads what the guest's tests left in the shared folder.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the files that utils/vm sources

# show_result SUITE NAME: the output of one test; its exit status is this function's.
show_result() {
    local directory=$results/$1/cases/$1.$2
    [[ -s $directory/status ]] || die "the guest has not run $1.$2"
    cat "$directory/output"
    return "$(cat "$directory/status")"
}

# judge_skipped SUITE: how many ran; fails if one was skipped that the list permitted-skips does not have.
judge_skipped() {
    local status name ran=0 skipped=0 wrong=0
    for status in "$results/$1"/cases/*/status; do
        name=$(basename "$(dirname "$status")")
        if [[ $(cat "$status") != 77 ]]; then
            ran=$((ran + 1))
            continue
        fi
        skipped=$((skipped + 1))
        if ! grep -q "^$name " "$vm_source/permitted-skips"; then
            echo "skipped, and not in permitted-skips: $name: $(grep SKIPPED "${status%status}output")"
            wrong=$((wrong + 1))
        fi
    done
    echo "$1: $ran ran, $skipped were skipped, $wrong of these without permission"
    [[ $ran -gt 0 && $wrong -eq 0 ]]
}
