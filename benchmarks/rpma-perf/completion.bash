# SPDX-License-Identifier: BSD-3-Clause
# Completion of rpma-perf for bash-completion(1).
# shellcheck shell=bash disable=SC2034,SC2207

_rpma_perf_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

# The last word of a list with commas; what stands before it stays.
_rpma_perf_list() {
    local before=
    [[ $cur != *,* ]] || before=${cur%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
    compopt -o nospace 2>/dev/null || true
}

# Options behind a dash, else what a command offers.
_rpma_perf_options() {
    if [[ $cur == -* ]]; then
        _rpma_perf_words "$1"
    else
        "${@:2}"
    fi
}

_rpma_perf_value() {
    case $1 in
        --op) _rpma_perf_list "read write flush commit send pingpong persist all" ;;
        --api) _rpma_perf_list "rpma verbs tcp" ;;
        --flush) _rpma_perf_list "visibility persistent" ;;
        --wait) _rpma_perf_words "poll event" ;;
        --native) _rpma_perf_words "none flush atomic_write flush,atomic_write" ;;
        --json | --csv | --report | --library | --memory | --output | -o) _filedir ;;
        --size | --queue-depth | --batch | --connections | --threads | --warm-up | --duration | --count | --repeat) ;;
        --port | --data-port | --address | --memory-size | --mtu) ;;
        *) return 1 ;;
    esac
}

_rpma_perf() {
    local cur prev words cword
    local measuring="--op --api --flush --size --queue-depth --batch --connections --threads --wait --verify --warm-up --duration"
    measuring+=" --count --repeat --json --csv --report --library"
    local memory="--memory --memory-size --direct-write"
    _init_completion -n : || return
    if [[ $cword -eq 1 ]]; then
        _rpma_perf_words "local server run compare report --help --version"
        return
    fi
    _rpma_perf_value "$prev" && return
    case ${words[1]} in
        local) _rpma_perf_words "$measuring $memory --native --mtu --help" ;;
        server) _rpma_perf_words "$memory --address --port --data-port --library --help" ;;
        run) _rpma_perf_options "$measuring --port --help" _known_hosts_real -- "$cur" ;;
        compare) _rpma_perf_options "--help" _filedir json ;;
        report) _rpma_perf_options "--output --help" _filedir json ;;
    esac
}
complete -F _rpma_perf rpma-perf
