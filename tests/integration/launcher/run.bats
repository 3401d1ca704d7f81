#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016  # expanded by the program that is started
# rpma-fabric run: what it starts, what it refuses, and how it says so.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

@test "the program gets the fabric's library by LD_PRELOAD" {
    run -0 "$RPMA_FABRIC" run -- sh -c 'echo "$LD_PRELOAD"'
    [[ $output == *librpma-fabric.so ]]
}

@test "the library is really loaded" {
    run -0 "$RPMA_FABRIC" run -- grep -c librpma-fabric.so /proc/self/maps
}

@test "what was to be preloaded already stays, behind the library" {
    run -0 env LD_PRELOAD=libm.so.6 "$RPMA_FABRIC" run -- sh -c 'echo "$LD_PRELOAD"'
    [[ $output == *librpma-fabric.so:libm.so.6 ]]
}

@test "arguments arrive as they were given" {
    run -0 "$RPMA_FABRIC" run -- printf '[%s]' 'a b' '' "it's" $'two\nlines' -- --trace
    [[ $output == "[a b][][it's][two"$'\n'"lines][--][--trace]" ]]
    run -0 "$RPMA_FABRIC" run printf '[%s]' '[1,2]' '{}' '"q"' -- --help
    [[ $output == '[[1,2]][{}]["q"][--][--help]' ]]
}

@test "the exit status is the program's" {
    run -7 "$RPMA_FABRIC" run -- sh -c 'exit 7'
    run -143 "$RPMA_FABRIC" run -- sh -c 'kill -TERM $$'
}

@test "each option reaches the program as its variable" {
    run -0 "$RPMA_FABRIC" run --trace t --log debug:l --native none --mtu 1024 -- env
    [[ $output == *"RPMA_FABRIC_TRACE=$PWD/t"* ]]
    [[ $output == *"RPMA_FABRIC_LOG=debug:$PWD/l"* ]]
    [[ $output == *"RPMA_FABRIC_NATIVE=none"* ]]
    [[ $output == *"RPMA_FABRIC_MTU=1024"* ]]
    run -0 "$RPMA_FABRIC" run --faults drop@3,delay=5ms@10% --seed 7 -- env
    [[ $output == *"RPMA_FABRIC_FAULTS=drop@3,delay=5ms@10%"* ]]
    [[ $output == *"RPMA_FABRIC_SEED=7"* ]]
    run -0 "$RPMA_FABRIC" run --pcap frames -- sh -c 'env; echo "number $$"'
    [[ $output == *"RPMA_FABRIC_PCAP=$PWD/frames"* ]]
    [[ $output =~ RPMA_FABRIC_PCAP_PID=([0-9]+) && $output == *"number ${BASH_REMATCH[1]}"* ]]
}

@test "options that were not given set nothing" {
    run -0 env -u RPMA_FABRIC_TRACE -u RPMA_FABRIC_LOG -u RPMA_FABRIC_NATIVE -u RPMA_FABRIC_MTU \
        -u RPMA_FABRIC_FAULTS -u RPMA_FABRIC_SEED "$RPMA_FABRIC" run -- env
    [[ $output != *RPMA_FABRIC_TRACE* && $output != *RPMA_FABRIC_LOG* ]]
    [[ $output != *RPMA_FABRIC_NATIVE* && $output != *RPMA_FABRIC_MTU* ]]
    [[ $output != *RPMA_FABRIC_FAULTS* && $output != *RPMA_FABRIC_SEED* ]]
}

@test "the trace file is emptied at the start" {
    echo old >trace
    run -0 "$RPMA_FABRIC" run --trace trace -- true
    run -1 grep old trace
}

@test "a record of frames that cannot be written is refused" {
    run -125 "$RPMA_FABRIC" run --pcap missing/frames -- touch started
    [[ $output == *"missing/frames: No such file or directory"* ]]
    [[ ! -e started ]]
}

@test "a trace that cannot be written is refused" {
    run -125 "$RPMA_FABRIC" run --trace missing/trace -- touch started
    [[ $output == *"missing/trace: No such file or directory"* ]]
    [[ ! -e started ]]
}

@test "settings that the fabric would not understand are refused" {
    run -125 "$RPMA_FABRIC" run --log loud -- touch started
    [[ $output == "rpma-fabric: --log (RPMA_FABRIC_LOG): the level must be"* ]]
    run -125 "$RPMA_FABRIC" run --native teleport -- touch started
    [[ $output == "rpma-fabric: --native (RPMA_FABRIC_NATIVE): must be"* ]]
    run -125 "$RPMA_FABRIC" run --mtu 1000 -- touch started
    [[ $output == "rpma-fabric: --mtu (RPMA_FABRIC_MTU): must be"* ]]
    run -125 "$RPMA_FABRIC" run --platform none -- touch started
    [[ $output == "rpma-fabric: --platform (RPMA_FABRIC_PLATFORM): must be"* ]]
    run -125 "$RPMA_FABRIC" run --platform adr --power-fail-at noon -- touch started
    [[ $output == "rpma-fabric: --power-fail-at (RPMA_FABRIC_POWER_FAIL): must be"* ]]
    run -125 "$RPMA_FABRIC" run --faults drop@3,explode@1 -- touch started
    [[ $output == *"--faults: 'explode@1' is none of drop, delay"* ]]
    run -125 "$RPMA_FABRIC" run --faults drop@1 --seed soon -- touch started
    [[ $output == *"--seed: 'soon' is not a number"* ]]
    run -125 env -u RPMA_FABRIC_FAULTS "$RPMA_FABRIC" run --seed 1 -- touch started
    [[ $output == *"without --faults"* ]]
    [[ ! -e started ]]
}

@test "a program that does not exist: 127" {
    run -127 "$RPMA_FABRIC" run -- no-such-program
    [[ $output == "rpma-fabric: no-such-program: command not found" ]]
    run -127 "$RPMA_FABRIC" run -- ./no-such-program
    [[ $output == *"No such file or directory"* ]]
}

@test "something that cannot be executed: 126" {
    touch plain
    run -126 "$RPMA_FABRIC" run -- ./plain
    [[ $output == *"not executable"* ]]
    run -126 "$RPMA_FABRIC" run -- /
    [[ $output == *"is a directory"* ]]
}

@test "a statically linked program: 126, with the reason" {
    run -126 "$RPMA_FABRIC" run -- /sbin/ldconfig --version
    [[ $output == *"statically linked"* ]]
}

@test "a set-user-ID program: 126, with the reason" {
    program=$(command -v su)
    if [[ $EUID -eq 0 ]]; then # for root a program that is set-user-ID root gains nothing
        cp "$(type -P true)" other
        chown nobody other
        chmod u+s,a+x other
        program=./other
    fi
    run -126 "$RPMA_FABRIC" run -- "$program"
    [[ $output == *"set-user-ID"* && $output == *"ignores LD_PRELOAD"* ]]
}

@test "a shared library instead of a program: 126" {
    cp "$RPMA_BUILD"/fabric/librpma-fabric.so library
    chmod +x library
    run -126 "$RPMA_FABRIC" run -- ./library
    [[ $output == *"a shared library"* ]]
}

@test "scripts run, with and without a first line that names the interpreter" {
    printf '#!/bin/sh\necho named "$1"\n' >named
    printf 'echo unnamed "$1"\n' >unnamed
    chmod +x named unnamed
    run -0 "$RPMA_FABRIC" run -- ./named x
    [[ $output == "named x" ]]
    run -0 "$RPMA_FABRIC" run -- ./unnamed x
    [[ $output == "unnamed x" ]]
}

@test "a script without its interpreter: 126, which one" {
    printf '#!/no/such/shell\n' >script
    chmod +x script
    run -126 "$RPMA_FABRIC" run -- ./script
    [[ $output == *"/no/such/shell"* ]]
}

@test "a library that is missing or none: 125, nothing is started" {
    run -125 env RPMA_FABRIC_LIBRARY=/no/such.so "$RPMA_FABRIC" run -- touch started
    [[ $output == *"/no/such.so"* ]]
    echo text >text.so
    run -125 env RPMA_FABRIC_LIBRARY=text.so "$RPMA_FABRIC" run -- touch started
    [[ $output == *"not a readable shared library"* ]]
    [[ ! -e started ]]
}

@test "a library that LD_PRELOAD cannot name: 125" {
    mkdir 'with space'
    cp "$RPMA_BUILD"/fabric/librpma-fabric.so 'with space/'
    run -125 env RPMA_FABRIC_LIBRARY='with space/librpma-fabric.so' "$RPMA_FABRIC" run -- true
    [[ $output == *"space or a colon"* ]]
}

@test "a launcher without its library says where it looked: 125" {
    cp "$RPMA_FABRIC" alone
    run -125 env -u RPMA_FABRIC_LIBRARY ./alone run -- true
    [[ $output == *"looked for"* ]]
}

@test "--print gives a shell line that does the same" {
    line=$("$RPMA_FABRIC" run --mtu 512 --print -- sh -c 'echo "$RPMA_FABRIC_MTU $1"' x "it's")
    run -0 sh -c "$line"
    [[ $output == "512 it's" ]]
}

@test "a launcher below a launcher works" {
    run -0 "$RPMA_FABRIC" run --mtu 512 -- "$RPMA_FABRIC" run -- sh -c 'echo "$RPMA_FABRIC_MTU"'
    [[ $output == 512 ]]
}

@test "an installed tree works from wherever it is moved to" {
    cmake --install "$RPMA_BUILD" --prefix "$PWD/first" >/dev/null
    mv first second
    run -0 env -u RPMA_FABRIC_LIBRARY second/bin/rpma-fabric run -- sh -c 'echo "$LD_PRELOAD"'
    [[ $output == *"$PWD/second/"*librpma-fabric.so ]]
}

@test "no command, or an unknown one: 125 and a hint" {
    run -125 "$RPMA_FABRIC"
    [[ $output == *--help* ]]
    run -125 "$RPMA_FABRIC" run
    run -125 "$RPMA_FABRIC" fly
    [[ $output == "rpma-fabric: fly: no such command; see rpma-fabric --help" ]]
    run -125 "$RPMA_FABRIC" run --fast -- true
    [[ $output == *"unknown option --fast"* ]]
}
