#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What the shell offers behind rpma-perf.   RPMA_PERF  the program,  RPMA_SOURCE  the project

bats_require_minimum_version 1.5.0

# complete_line WORD...: the last one is being typed
complete_line() {
    # shellcheck disable=SC2016  # expanded by the inner shell
    run -0 bash --norc -c '
        . /usr/share/bash-completion/bash_completion
        . "$1"
        shift
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        COMP_LINE=$*
        COMP_POINT=${#COMP_LINE}
        _rpma_perf
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$RPMA_SOURCE/benchmarks/rpma-perf/completion.bash" "$@"
}

offers() {
    local word
    for word in "$@"; do
        grep -qxF -- "$word" <<<"$output" || { echo "not offered: $word" && return 1; }
    done
}

@test "subcommands" {
    complete_line rpma-perf ""
    offers local server run compare report --help --version
}

@test "every option that --help shows is offered, and no other" {
    local subcommand options
    for subcommand in local server run compare report; do
        complete_line rpma-perf "$subcommand" --
        mapfile -t options < <("$RPMA_PERF" "$subcommand" --help | sed -nE 's/^ +(-[a-z],)?(--[a-z-]+).*/\2/p')
        [[ ${#options[@]} -gt 0 ]]
        offers "${options[@]}"
        [[ ${#lines[@]} -eq ${#options[@]} ]]
    done
}

@test "values of options" {
    complete_line rpma-perf local --op p
    offers pingpong persist
    complete_line rpma-perf local --op read,fl
    [[ $output == read,flush ]]
    complete_line rpma-perf run --wait ""
    offers poll event
    cd "$BATS_TEST_TMPDIR"
    touch mine.json mine.txt
    complete_line rpma-perf compare mi
    [[ $output == mine.json ]]
    complete_line rpma-perf local --json mine.t
    [[ $output == mine.txt ]]
}
