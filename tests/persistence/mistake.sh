#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mistake.sh PROGRAM PLATFORM=EXPECTATION...: what the crash test says of a program. The expectation is pass, or the name of a
# mistake; then the saved example fails again when it is replayed, and loses the same.
set -euo pipefail

declare -A platforms=(["a1"]="adr,ddio=on" ["a0"]="adr,ddio=off" ["e1"]="eadr,ddio=on" ["e0"]="eadr,ddio=off" ["w1"]="wsp,ddio=on" ["w0"]="wsp,ddio=off")
program=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch

crash_test() {
    timeout 200 "$RPMA_FABRIC" crash-test --jobs 2 --example "$scratch/example.json" "$@" >"$scratch/output" 2>&1
}

broken() {
    echo "$(basename "$program") on $1: $2"
    cat "$scratch/output"
    exit 1
}

# What is lost: ranges, and operations by kind and number.
losses() {
    sed -nE '/^lost:$/,/^kept/s/.*(bytes [0-9]+ to [0-9]+: [a-zA-Z ]+[0-9 to]*).*/\1/p' "$scratch/output"
}

for expectation in "$@"; do
    platform=${platforms[${expectation%%=*}]}
    expected=${expectation#*=}
    status=0
    crash_test --platform "$platform" --seeds 8 --server "'$program' server 127.0.0.1 {port} {dir}/file" \
        --client "'$program' client 127.0.0.1 {port}" --check "'$program' check {dir}/file {dir}/client.out" || status=$?
    if [[ $expected == pass ]]; then
        [[ $status == 0 ]] || broken "$platform" "should pass, exit status $status"
        grep -q '^passed: ' "$scratch/output" || broken "$platform" "does not say that it passes"
        continue
    fi
    [[ $status == 1 ]] || broken "$platform" "should fail by $expected, exit status $status"
    grep -q "^mistake: $expected: ...................." "$scratch/output" || broken "$platform" "is not found to be $expected"
    lost=$(losses)
    [[ $expected == nothing-lost || -n $lost ]] || broken "$platform" "does not say what is lost"
    grep -q '^smallest loss: ' "$scratch/output" || broken "$platform" "no smallest loss was looked for"
    status=0
    crash_test --replay "$scratch/example.json" || status=$?
    [[ $status == 1 ]] || broken "$platform" "the example does not fail again, exit status $status"
    grep -q "^mistake: $expected: " "$scratch/output" || broken "$platform" "the example fails otherwise"
    [[ $(losses) == "$lost" ]] || broken "$platform" "the example loses something else: $lost"
done
[[ -z $(find "$scratch" -name 'rpma-crash-*') ]] || { echo "scratch directories are left" && exit 1; }
