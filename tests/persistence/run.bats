#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What users see of --platform: reports, exit status, power failures. PROGRAMS is the directory of the programs with mistakes.
# shellcheck disable=SC2030,SC2031

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    server=
}

teardown() {
    [[ -z $server ]] || { kill -KILL "$server" 2>/dev/null && wait "$server"; } || true
}

# start PROGRAM OPTIONS...: a server on a free port of its own choice.
start() {
    local program=$1 tries
    shift
    for ((tries = 0; tries < 20; tries++)); do
        port=$((10000 + (BASHPID * 7 + RANDOM) % 20000))
        "$RPMA_FABRIC" run "$@" -- "$PROGRAMS/$program" server 127.0.0.1 "$port" file >server.out 2>server.err 3>&- &
        server=$!
        for ((i = 0; i < 200; i++)); do
            grep -q listening server.out && return
            kill -0 "$server" 2>/dev/null || break
            sleep 0.05
        done
        wait "$server" || true
    done
    return 1
}

client() {
    timeout 20 "$RPMA_FABRIC" run -- "$PROGRAMS/$1" client 127.0.0.1 "$port" >client.out 2>&1
}

await() {
    for ((i = 0; i < 200; i++)); do
        "$@" && return
        sleep 0.05
    done
    return 1
}

has_finding() { grep -qs "$1" report.json; }

killed() {
    local status=0
    wait "$server" || status=$?
    server=
    [[ $status == 137 ]]
}

@test "a missing flush is in the report when the connection ends, as JSON" {
    start no_flush_wrong --platform adr --report report.json
    client no_flush_wrong
    await has_finding '"why"'
    run python3 - <<'END'
import json
report = json.load(open("report.json"))
first, second = report["missing"] if len(report["missing"]) == 2 else (report["missing"][0], None)
assert second is None and first["number"] == 1 and first["to"] == 2, report
assert (first["offset"], first["length"], first["operation"]) == (1024, 384, "write")
assert first["region"].endswith("/file") and first["connection"] > 0 and first["event"] == 1 and first["time"] >= 0
assert report["platform"] == "adr, DDIO on" and report["missing_total"] == {"findings": 1, "bytes": 384}
END
    echo "$output"
    [[ $status == 0 ]]
}

@test "report PID tells a running server's, and its status" {
    start no_flush_wrong --platform adr
    client no_flush_wrong
    await grep -q "bytes 1024 to 1407" server.err # at the end of the connection, without --report
    run "$RPMA_FABRIC" report "$server"
    [[ $status == 123 && $output == *"bytes 1024 to 1407: write 1 to 2"* ]]
    run "$RPMA_FABRIC" report --json "$server"
    [[ $status == 123 ]]
    python3 -c 'import json, sys; json.loads(sys.argv[1])' "$output"
}

@test "report of the right version" {
    start no_flush_right --platform adr,ddio=off
    client no_flush_right
    run "$RPMA_FABRIC" report "$server"
    [[ $status == 0 && $output == *"not durable:"*"nothing"* ]]
    [[ ! -s server.err ]]
}

@test "report FILE" {
    start direct_write_declared_wrong --platform adr --report report.json
    client direct_write_declared_wrong
    await has_finding visible-only
    run "$RPMA_FABRIC" report report.json
    [[ $status == 123 && $output == *"visible-only"* && $output == *"declared durable although the platform cannot"* ]]
}

@test "a declaration alone is warned of as that" {
    start direct_write_declared_wrong --platform adr --report report.json
    client direct_write_declared_right # asks the server's CPU
    await grep -q "direct write to persistent memory was declared, which this platform does not have" server.err
    run grep "bytes written" server.err
    [[ $status == 1 ]]
    run "$RPMA_FABRIC" report report.json
    [[ $status == 123 && $output == *"not durable:"*"nothing"*"declared durable although the platform cannot"* ]]
}

@test "what was flushed for nothing is told, with connection and time" {
    start no_flush_right --platform wsp --report report.json # where it arrives, it is durable
    client no_flush_right
    await has_finding '"connection"'
    run "$RPMA_FABRIC" report report.json
    [[ $status == 0 && $output == *"flushed for nothing"*": 2 times"*"after event 1, "*" s, connection "*"after event 2, "* ]]
}

@test "what was persisted for nothing is told, with its range" {
    "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/persisting" by_pmem_persist file
    run "$RPMA_FABRIC" report report.json
    [[ $output != *"for nothing"* ]]
    for report in report report.json; do
        rm file
        "$RPMA_FABRIC" run --platform adr --report "$report" -- "$PROGRAMS/persisting" by_pmem_persist_twice file
    done
    "$RPMA_FABRIC" report report.json >printed
    for report in report printed; do
        grep -A1 "persisted for nothing.*: 1 times" "$report" | grep -q "after event 1, .* s: .*/file, bytes [0-9]* to [0-9]*$"
    done
}

@test "a report to a pipe goes through it, which stays what it is" {
    mkfifo pipe
    cat pipe >report.json &
    "$RPMA_FABRIC" run --platform adr --report pipe -- "$PROGRAMS/persisting" not_by_nothing file
    wait $!
    [[ -p pipe && ! -e pipe.unfinished ]]
    grep -q not-persisted-store report.json
}

@test "after flush K" {
    start no_flush_right --platform adr,ddio=off --report report --power-fail-at 'after flush 2'
    run client no_flush_right
    [[ $status != 0 ]]
    killed
    grep -q "power failure (after a flush)" report
    grep -q "acked 1" client.out
    "$PROGRAMS/no_flush_right" check file client.out
    [[ $(tr -d -c AB <file | wc -c) == 384 ]]
}

@test "at an event, by the seed: nothing, everything" {
    for seed in 0 1; do
        rm -f file
        start no_flush_wrong --platform adr --report report --power-fail-at 1 --seed "$seed"
        run client no_flush_wrong
        killed
        [[ $(tr -d -c A <file | wc -c) == $((seed * 192)) ]]
    done
}

@test "at a time" {
    start no_flush_wrong --platform adr --power-fail-at 300ms
    killed
    grep -q "power failure at its time" server.err
}

@test "on demand" {
    start no_flush_wrong --platform adr
    client no_flush_wrong
    "$RPMA_FABRIC" power-fail --seed 0 "$server"
    killed
    [[ $(tr -d -c AB <file | wc -c) == 0 ]]
}

@test "the exit status of a program that forgets something" {
    run "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/persisting" not_by_nothing file
    [[ $status == 0 ]] # only its own stores
    has_finding not-persisted-store
    "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/own_read_wrong" file || status=$?
    [[ $status == 123 ]]
    run "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/own_read_right" file
    [[ $status == 0 ]]
}

@test "every way to persist is seen" {
    while read -r method; do
        rm -f file report.json
        "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/persisting" "$method" file
        stores=$(grep -c not-persisted-store report.json || true)
        echo "$method: $stores"
        case $method in
            by_*)
                [[ $stores == 0 ]]
                grep -q "useless_persists.*\"count\": $([[ $method == *twice ]] && echo 1 || echo 0)," report.json
                ;;
            not_by_*) [[ $stores -gt 0 ]] ;;
        esac
    done < <("$PROGRAMS/persisting" list)
}

@test "a plug-in may bring the libraries by which it persists" {
    for options in "" "--platform adr"; do
        # shellcheck disable=SC2086
        "$RPMA_FABRIC" run $options -- "$PROGRAMS/plugin_host" "$PROGRAMS/libpersisting_plugin.so"
    done
}

@test "what a file has grown by is kept account of" {
    for bytes in 0 2048 4096; do
        rm -f file report.json
        status=0
        "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/own_read_wrong" file "$bytes" || status=$?
        [[ $status == 123 ]]
        grep -q '"offset": 0, "length": 4096, "operation": "read"' report.json
    done
}

@test "a forked child that uses the device has an account of its own" {
    export TSAN_OPTIONS="${TSAN_OPTIONS:-} die_after_fork=0" # it would end the child
    run "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/own_read_wrong" file 4096 fork
    echo "$output"
    [[ $status == 123 ]]
    run "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/own_read_right" file 4096 fork
    [[ $status == 0 ]]
}

@test "what the program wants to be done at its exit is done, whatever the status" {
    run "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/own_read_wrong" file
    [[ $status == 123 && $output == *bye* ]]
}

@test "a report that cannot be written is said to be none" {
    [[ -c /dev/full ]]
    run "$RPMA_FABRIC" run --platform adr --report /dev/full -- "$PROGRAMS/own_read_wrong" file
    echo "$output"
    [[ $status == 123 && $output == *"cannot write the report to /dev/full: No space left"* && $output != *"the report is in"* ]]
}

@test "a report is JSON whatever the name of the file" {
    for name in $'\xff\xe2\x82' $'\xed\xa0\x80"\\\n' é$'\xf0\x9f\x92\xbe'; do
        rm -f report.json
        "$RPMA_FABRIC" run --platform adr --report report.json -- "$PROGRAMS/persisting" not_by_nothing "$name"
        python3 -c 'import json; assert json.load(open("report.json", encoding="utf-8"))["stores"]'
    done
}

@test "on eadr stores need no persisting" {
    "$RPMA_FABRIC" run --platform eadr --report report.json -- "$PROGRAMS/persisting" not_by_nothing file
    run has_finding not-persisted-store
    [[ $status != 0 ]]
}

@test "an area that is too large is left out, and said so" {
    run "$RPMA_FABRIC" run --platform adr,memory=4K --report report.json -- "$PROGRAMS/persisting" not_by_nothing file
    [[ $output == *"no account of persistent memory is kept of"*"memory=SIZE"* ]]
}

@test "wrong settings are refused" {
    for options in "--platform xdr" "--platform adr,ddio=maybe" "--platform adr --power-fail-at never" \
        "--power-fail-at 3" "--report file"; do
        # shellcheck disable=SC2086
        run "$RPMA_FABRIC" run $options -- true
        echo "$options: $output"
        [[ $status == 125 && ${#lines[@]} == 1 ]]
    done
    run "$RPMA_FABRIC" report 999999999
    [[ $status == 125 && $output == *"was it started with --platform"* ]]
    run "$RPMA_FABRIC" report no-such-file
    [[ $status == 125 ]]
    run "$RPMA_FABRIC" power-fail nobody
    [[ $status == 125 ]]
}

@test "a crash test that is wrong itself" {
    run "$RPMA_FABRIC" crash-test --server true
    [[ $status == 125 && $output == *"are needed"* ]]
    run "$RPMA_FABRIC" crash-test --server 'true {port}' --client true --check true
    [[ $status == 125 && $output == *"does not listen"* ]]
    run "$RPMA_FABRIC" crash-test --server 'server 12345' --client true --check true
    [[ $status == 125 && $output == *"names no {port}"* && ${#lines[@]} == 1 ]]
    for options in "--platform x" "--jobs 65" "--points 0" "--seeds 0"; do
        # shellcheck disable=SC2086
        run "$RPMA_FABRIC" crash-test $options --server 'true {port}' --client true --check true
        [[ $status == 125 && ${#lines[@]} == 1 ]]
    done
    run timeout 100 "$RPMA_FABRIC" crash-test --server "$EXAMPLES/write-flush-server 127.0.0.1 {port} {dir}/file" \
        --client "$EXAMPLES/write-flush-client 127.0.0.1 {port} text" --check true
    [[ $status == 125 && $output == *"let it serve until it is killed"* ]]
    run "$RPMA_FABRIC" crash-test --replay /dev/null
    [[ $status == 125 && $output == *"is no example"* ]]
    for text in '[]' '"x"' '{"format":1}' '{"format":"1"}' '{"format":1,"report":5,"mistake":"","explanation":""}' \
        '{"format":1,"report":{},"mistake":"","explanation":"","platform":5}'; do
        echo "$text" >damaged.json
        run "$RPMA_FABRIC" crash-test --replay damaged.json
        echo "$text: $output"
        [[ $status == 125 && $output == "rpma-fabric: damaged.json: is no example"* && ${#lines[@]} == 1 ]]
    done
    for text in '[]' '{"occasion":1}' '{"occasion":"x","process":1,"platform":"adr","events":0,"missing":[{}]}' '{"occasion":"x","missing":5}'; do
        echo "$text" >damaged.json
        run "$RPMA_FABRIC" report damaged.json
        echo "$text: $output"
        [[ $status == 125 && $output == "rpma-fabric: damaged.json: is no report"* && ${#lines[@]} == 1 ]]
    done
    run "$RPMA_FABRIC" crash-test --replay missing.json
    [[ $status == 125 && $output == "rpma-fabric: missing.json: No such file or directory" ]]
}

crash_test() {
    timeout 60 "$RPMA_FABRIC" crash-test --platform adr --server "$PROGRAMS/no_flush_wrong server 127.0.0.1 {port} {dir}/file" \
        --client "$PROGRAMS/no_flush_wrong client 127.0.0.1 {port}" --check "${check:-$PROGRAMS/no_flush_wrong check {dir\}/file {dir\}/client.out}" "$@"
}

@test "a check that cannot be run is no mistake of the program" {
    check=no-such-check
    run crash_test
    echo "$output"
    [[ $status == 125 && $output == *"the check cannot be run"*"not found"* && ! -e crash-test.json ]]
}

@test "an example that cannot be saved is described all the same" {
    run crash_test --shrink 0 --example /dev/full
    echo "$output"
    [[ $status == 1 && $output == *"mistake: no-flush"*"cannot write the example to /dev/full: No space left"* ]]
}

@test "a check that dies, or does not end, is said to" {
    # shellcheck disable=SC2016
    check='kill -s SEGV $$'
    run crash_test --shrink 0
    echo "$output"
    [[ $status == 1 && $output == *"it was killed by signal 11"* ]]
    check='sleep 60'
    run crash_test --shrink 0 --timeout 2
    [[ $status == 1 && $output == *"it did not end in time"* ]]
}

@test "one point is the one at which the client has been told most" {
    run crash_test --shrink 0 --points 1
    echo "$output"
    [[ $status == 1 && $output == *"mistake: connection-ended"*"acked 2"* ]]
}

@test "a test without anything to lose is none" {
    run timeout 60 "$RPMA_FABRIC" crash-test --platform adr,memory=64 --check true \
        --server "$PROGRAMS/no_flush_wrong server 127.0.0.1 {port} {dir}/file" --client "$PROGRAMS/no_flush_wrong client 127.0.0.1 {port}"
    echo "$output"
    [[ $status == 125 && $output == *"or none of which account is kept"*"memory=SIZE"* ]]
    run timeout 60 "$RPMA_FABRIC" crash-test --check true \
        --server "$PROGRAMS/no_flush_wrong server 127.0.0.1 {port} {dir}/file" --client true
    echo "$output"
    [[ $status == 125 && $output == *"no power failure can change anything"* ]]
}

@test "a client that has to be killed is told of" {
    run timeout 100 "$RPMA_FABRIC" crash-test --platform adr --grace 100 --points 2 --check true \
        --server "$PROGRAMS/no_flush_wrong server 127.0.0.1 {port} {dir}/file" \
        --client "$PROGRAMS/no_flush_wrong client 127.0.0.1 {port} || { sleep 30; false; }"
    echo "$output"
    [[ $status == 0 && $output == *"passed: "*"the client had not ended 100 ms after"* ]]
}

scratch_is_there() { compgen -G "$TMPDIR/rpma-crash-*/*" >/dev/null; }

@test "an interrupted crash test leaves nothing behind" {
    export TMPDIR=$PWD/scratch
    mkdir "$TMPDIR"
    long=9$BASHPID # seconds: nobody else's
    "$RPMA_FABRIC" crash-test --server "setsid sleep $long & sleep $long; : {port}" --client true --check true >out 2>&1 3>&- &
    test=$!
    await scratch_is_there
    await pgrep -P "$test" >/dev/null
    kill -TERM "$test"
    status=0
    wait "$test" || status=$?
    [[ $status == 143 && -z $(ls -A "$TMPDIR") ]]
    run pgrep -f "sleep $long"
    echo "$output"
    [[ -z $output ]]
}

@test "a server that goes into the background is ended, too" {
    long=9$BASHPID
    cat >server <<END
#!/bin/bash
setsid sleep $long &
END
    chmod +x server
    run "$RPMA_FABRIC" crash-test --server './server {port}' --client true --check true
    echo "$output"
    [[ $status == 125 ]]
    run pgrep -f "sleep $long"
    [[ -z $output ]]
}

@test "a power failure that never came is told of" {
    for when in 1000 100s 'after flush 50'; do
        run "$RPMA_FABRIC" run --platform adr --report report --power-fail-at "$when" -- "$PROGRAMS/persisting" by_pmem_persist file
        echo "$output"
        [[ $status == 0 && $output == *"has ended before its power failed"* ]]
    done
}

@test "points that leave the same are run once" {
    # With DDIO a read makes durable nothing, and a message neither: both are points, but no different ones.
    program=$PROGRAMS/answer_too_soon_right
    run timeout 60 "$RPMA_FABRIC" crash-test --platform adr --server "$program server 127.0.0.1 {port} {dir}/file" \
        --client "$program client 127.0.0.1 {port}" --check "$program check {dir}/file {dir}/client.out"
    echo "$output"
    [[ $status == 0 && $output =~ ([0-9]+)" points, "([0-9]+)" of them different, "([0-9]+)" cases" ]]
    [[ ${BASH_REMATCH[1]} -gt ${BASH_REMATCH[2]} && ${BASH_REMATCH[2]} -ge 4 ]]
}

@test "a failing example is made smaller, down to the lines that matter" {
    run crash_test
    echo "$output"
    [[ $status == 1 && $output == *"smallest loss: 1 of 3 lines of 64 bytes"*"bytes 1152 to 1215: write 1, connection"* ]]
    [[ $output == *"kept, although not durable:"*"bytes 1024 to 1151: write 1"* ]]
    run "$RPMA_FABRIC" crash-test --replay crash-test.json
    echo "$output"
    [[ $status == 1 && $output == *"mistake: no-flush"*"bytes 1152 to 1215: write 1"*"bytes 1024 to 1151: write 1"* ]]
    python3 - <<'END'
import json
example = json.load(open("crash-test.json"))
assert example["lose"] == example["report"]["lost_lines"] == "0:18", example
example["lose"] = "0:x"
json.dump(example, open("wrong.json", "w"))
END
    run "$RPMA_FABRIC" crash-test --replay wrong.json
    [[ $status == 125 && $output == *"names no lines"* ]]
}

@test "a failing example is left as it is, if that is wanted" {
    run crash_test --shrink 0
    [[ $status == 1 && $output == *"bytes 1024 to 1215: write 1"* && $output != *"smallest loss"* ]]
    python3 -c 'import json; assert "lose" not in json.load(open("crash-test.json"))'
}

@test "what fails whatever is lost is no missing flush" {
    check="grep -q acked {dir}/client.out && exit 1; exit 0"
    run crash_test
    echo "$output"
    [[ $status == 1 && $output == *"mistake: nothing-lost"*"smallest loss: 0 of 3 lines"*"nothing"* ]]
}

@test "the replicated log of the examples passes" {
    seq 1 2000 >source
    # the one that doc/crash-testing.md shows
    sed -n '/^#!\/bin\/bash$/,/^END$/p' "$BATS_TEST_DIRNAME/../../doc/crash-testing.md" | sed '$d' >check
    [[ $(wc -l <check) -gt 4 ]]
    chmod +x check
    for platform in adr adr,ddio=off eadr wsp; do
        run timeout 100 "$RPMA_FABRIC" crash-test --platform "$platform" --grace 200 --seeds 5 \
            --server "$EXAMPLES/append-log-server 127.0.0.1 {port} {dir}/file 100000" \
            --client "$EXAMPLES/append-log-client 127.0.0.1 {port} source" --check "./check {dir}/file {dir}/client.out"
        echo "$output"
        [[ $status == 0 ]]
    done
}
