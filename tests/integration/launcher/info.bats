#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rpma-fabric info, --version and --help.

bats_require_minimum_version 1.5.0

@test "info names the device, its port and its loopback address" {
    run -0 "$RPMA_FABRIC" info
    [[ ${lines[0]} == fabric0 ]]
    [[ $output == *"active, Ethernet link"* ]]
    [[ $output == *" 127.0.0.1"* ]]
    [[ $output == *"queue pairs"*"memory regions"* ]]
}

@test "info shows the native operations that were asked for" {
    run -0 "$RPMA_FABRIC" info --native none
    [[ $output == *"flush to visibility no, flush to persistence no, atomic write no"* ]]
    run -0 "$RPMA_FABRIC" info --native atomic_write
    [[ $output == *"atomic write yes"* ]]
}

@test "info without its library fails" {
    run -125 env RPMA_FABRIC_LIBRARY=/no/such.so "$RPMA_FABRIC" info
}

@test "--version and --help" {
    run -0 "$RPMA_FABRIC" --version
    [[ $output =~ ^rpma-fabric\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    run -0 "$RPMA_FABRIC" --help
    [[ $output == *run*info* ]]
    run -0 "$RPMA_FABRIC" run --help
    [[ $output == *--trace*--log*127* || $output == *--native*127* ]]
}

@test "info --real shows devices, or says how to do without" {
    run "$RPMA_FABRIC" info --real
    [[ $status -eq 0 || ($status -eq 125 && $output == *"no RDMA device"*"rpma-fabric run"*) ]]
}
