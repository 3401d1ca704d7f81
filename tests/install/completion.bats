#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What the shell offers behind rpma-fabric.   RPMA_SOURCE  the project

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
        _rpma_fabric
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$RPMA_SOURCE/fabric/launcher/completion.bash" "$@"
}

offers() {
    local word
    for word in "$@"; do
        grep -qxF -- "$word" <<<"$output" || { echo "not offered: $word" && return 1; }
    done
}

@test "subcommands" {
    complete_line rpma-fabric ""
    offers run info report power-fail crash-test --help --version
    complete_line rpma-fabric ru
    [[ $output == run ]]
}

@test "every option that --help shows is offered" {
    for subcommand in run info report power-fail crash-test; do
        complete_line rpma-fabric "$subcommand" --
        mapfile -t options < <("$RPMA_FABRIC" "$subcommand" --help | sed -nE 's/^ +(-h,)?(--[a-z-]+).*/\2/p')
        [[ ${#options[@]} -gt 1 ]]
        offers "${options[@]}"
    done
}

@test "values of options" {
    complete_line rpma-fabric run --log ""
    offers error warning info debug
    complete_line rpma-fabric info --native fl
    offers flush flush,atomic_write
    complete_line rpma-fabric run --faults d
    offers drop@ delay=
    cd "$BATS_TEST_TMPDIR"
    touch trace-of-mine
    complete_line rpma-fabric run --trace tra
    [[ $output == trace-of-mine ]]
}

@test "the program, then whatever that program's own completion says" {
    complete_line rpma-fabric run --log debug -- basena
    offers basename
    cd "$BATS_TEST_TMPDIR"
    touch a-file-of-mine
    complete_line rpma-fabric run -- cat a-fi
    [[ $output == a-file-of-mine ]]
}
