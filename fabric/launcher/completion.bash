# SPDX-License-Identifier: BSD-3-Clause
# Completion of rpma-fabric for bash-completion(1).
# shellcheck shell=bash disable=SC2034,SC2207

# Sets `position` to the index of the program's name on the line, or to 0 if there is none yet.
_rpma_fabric_program() {
    local i
    position=0
    for ((i = 2; i <= COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --) position=$((i + 1)) && return ;;
            --trace | --pcap | --log | --native | --mtu | --faults | --platform | --power-fail-at | --seed | --report) i=$((i + 1)) ;; # and its value
            -*) ;;
            *) [[ ${COMP_WORDS[i]} == "" ]] || position=$i ; return ;;
        esac
    done
}

_rpma_fabric_value() {
    case $1 in
        --trace | --pcap | --report | --example | --replay) _filedir ;;
        --platform) mapfile -t COMPREPLY < <(compgen -W "adr adr,ddio=off eadr eadr,ddio=off wsp" -- "$cur") ;;
        --points) mapfile -t COMPREPLY < <(compgen -W "all" -- "$cur") ;;
        --power-fail-at | --seeds | --jobs | --timeout | --grace) ;;
        --server | --client | --check) _filedir ;;
        --log) mapfile -t COMPREPLY < <(compgen -W "error warning info debug" -- "$cur") ;;
        --native) mapfile -t COMPREPLY < <(compgen -W "none flush atomic_write flush,atomic_write" -- "$cur") ;;
        --mtu) mapfile -t COMPREPLY < <(compgen -W "256 1024 4096 32768 1048576 4194304" -- "$cur") ;;
        --faults) _rpma_fabric_faults ;;
        --seed) mapfile -t COMPREPLY < <(compgen -W "1 2 3" -- "$cur") ;;
        *) return 1 ;;
    esac
}

# The first fault, up to its when: what follows is cut into words at = and @.
_rpma_fabric_faults() {
    mapfile -t COMPREPLY < <(compgen -W "drop@ delay= cut-write@ nak= nak@ rnr@ unreachable@ reject@
        refuse-mr@ refuse-qp@ refuse-cq@ refuse-srq@" -- "$cur")
    compopt -o nospace 2>/dev/null || true
}

_rpma_fabric() {
    local cur prev words cword position options="--native --mtu --log --help"
    _init_completion -n : || return
    if [[ $cword -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "run info report power-fail crash-test --help --version" -- "$cur")
        return
    fi
    _rpma_fabric_program
    if [[ ${words[1]} == run && $position -gt 0 && $position -le $COMP_CWORD ]]; then
        _command_offset "$position"
        return
    fi
    _rpma_fabric_value "$prev" && return
    case ${words[1]} in
        run) options+=" --trace --pcap --faults --seed --print --platform --power-fail-at --report --" ;;
        info) options+=" --real" ;;
        report) options="--json --help" ;;
        power-fail) options="--seed --help" ;;
        crash-test)
            options="--platform --server --client --check --points --seeds --jobs --timeout --grace --example --shrink --replay --keep --help"
            ;;
        *) return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}
complete -F _rpma_fabric rpma-fabric
