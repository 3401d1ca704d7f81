#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# utils/demo on what is already built.

load helpers

demo() {
    RPMA_DEMO_BUILD=$RPMA_BUILD TMPDIR=$BATS_TEST_TMPDIR timeout 120 "$RPMA_SOURCE/utils/demo" "$@" 3>&-
}

@test "demo FILE replicates it, compares sums, and leaves nothing behind" {
    random_file source 3000001
    run -0 demo source
    sum=$(sha256sum <source | cut -d ' ' -f 1)
    [[ $output == *"source:  $sum"*"replica: $sum"* ]]
    [[ $output == *"commit word:"*"3000001 bytes"* ]]
    [[ $(ls) == source ]]
}

@test "demo refuses what it cannot replicate" {
    touch empty
    run -1 demo missing
    [[ $output == *"no such file"* ]]
    run -1 demo empty
    [[ $output == *"empty"* ]]
    run -1 demo .
    [[ $output == *"not a regular file"* ]]
    run -1 demo a b
    [[ $output == *usage* ]]
}
