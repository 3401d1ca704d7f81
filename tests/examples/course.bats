#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2034  # shared with helpers.bash
# Every pair of the course: what both print, and what is in the file.

load helpers

@test "the programs use the library that is meant" {
    [[ -n ${EXPECTED_LIBRARY:-} ]] || skip "this suite was not told which"
    ldd "$EXAMPLES/connect-server" | grep -F "librpma.so.0 => $EXPECTED_LIBRARY "
}

@test "01-connect" {
    start_server connect
    run_client connect Anna
    shows 'the server says "welcome, Anna"'
    server_ends_well
    server_shows 'request from "Anna"' closed
}

@test "01-connect: a client that does not say who it is, is rejected" {
    start_server connect
    run timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/read-write-client" "$address" "$port" 3>&-
    [[ $status -eq 1 && $output == *rejected* ]]
    ended=0
    wait "$server" || ended=$?
    [[ $ended -eq 1 ]]
    grep -q 'does not say who it is' server.err
}

@test "02-read-write" {
    start_server read-write
    run_client read-write
    shows 'read: "text of the server"' 'written and read again: "text of the client"'
    server_ends_well
    server_shows 'the client has left "text of the client"'
}

@test "03-write-flush: visible, then made durable by the server" {
    start_server write-flush -- file
    run_client write-flush "some text"
    shows "9 bytes are visible, but not durable yet"
    server_ends_well
    server_shows "made durable by the server"
    [[ $(head -c 9 file) == "some text" ]]
}

@test "03-write-flush: durable by the flush, where the server declares it" {
    export PMEM2_FORCE_GRANULARITY=CACHE_LINE
    start_server write-flush --direct-write -- file
    run_client write-flush "some text"
    shows "9 bytes are durable"
    server_ends_well
    [[ $(head -c 9 file) == "some text" ]]
}

@test "03-write-flush: a declaration that cannot be true is refused" {
    run -1 timeout 60 "$RPMA_FABRIC" run -- "$EXAMPLES/write-flush-server" --direct-write "$address" 1 file
    [[ $output == *"not on persistent memory"* ]]
}

@test "04-atomic-commit: records add up over runs" {
    start_server atomic-commit -- file
    run_client atomic-commit first
    shows "appended 5 bytes behind 0"
    server_ends_well
    PMEM2_FORCE_GRANULARITY=CACHE_LINE start_server atomic-commit --direct-write -- file
    run_client atomic-commit second
    shows "appended 6 bytes behind 5"
    server_ends_well
    server_shows "11 bytes are valid: firstsecond"
    [[ $(od -A n -t u8 -N 8 file | tr -d ' ') == 11 ]]
    [[ $(tail -c +65 file | head -c 11) == firstsecond ]]
}

@test "05-messages" {
    start_server messages
    run_client messages "one" "and another"
    shows '"one" is answered by "ONE"' '"and another" is answered by "AND ANOTHER"'
    server_ends_well
    server_shows 'received "one"' 'received "and another"'
}

@test "06-shared-receive-queue" {
    start_server shared-receive-queue
    run_client shared-receive-queue
    shows "5 messages sent over 2 connections"
    server_ends_well
    server_shows "3 messages of connection 0, 2 of connection 1" 'connection 1: "message 3"'
}

@test "07-many-connections" {
    start_server many-connections -- 20
    run_client many-connections 15
    shows "15 messages came back"
    run_client many-connections 5
    server_ends_well
    server_shows "client 15 connected" "client 20 connected" "20 clients served"
}

@test "08-completion-channel" {
    start_server completion-channel
    run_client completion-channel
    shows "completion queue: a send is done" 'receive completion queue: "answer 2"' "message 2: both have come"
    server_ends_well
    server_shows 'received "message 2"'
}

@test "09-immediate-data" {
    start_server immediate-data
    run_client immediate-data
    shows "two writes and a message, each with 32 bits"
    server_ends_well
    server_shows 'written at 0: "first"' 'written at 1000: "second"' 'message 7: "that is all"'
}

@test "10-persist-on-request" {
    start_server persist-on-request -- file
    run_client persist-on-request alpha beta
    shows 'durable: "alpha"' 'durable: "beta"'
    server_ends_well
    server_shows "5 bytes at 0 are durable" "4 bytes at 5 are durable"
    [[ $(head -c 9 file) == alphabeta ]]
}

@test "12-logging" {
    start_server logging
    run_client logging
    shows "[error] " "that was to be expected" "[notice] "
    server_ends_well
    server_shows "[notice] "
}

@test "wrong arguments: every program tells its usage" {
    for program in "$EXAMPLES"/*-client "$EXAMPLES"/*-server; do
        run -2 "$program"
        [[ $output == *"usage: $(basename "$program")"* ]]
    done
}
