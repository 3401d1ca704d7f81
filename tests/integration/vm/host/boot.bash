# SPDX-License-Identifier: BSD-3-Clause
# Boots the guest under QEMU's software emulation.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the files that utils/vm sources

make_initramfs() {
    mkdir -p "$vm_build/boot"
    in_root /src/tests/integration/vm/guest/make-initramfs /build/boot/initramfs
}

share() {
    printf '%s\n' -fsdev "local,id=$1,path=$2,security_model=none,$3" -device "virtio-9p-pci,fsdev=$1,mount_tag=$1"
}

# nvdimm NUMBER [FILE]: 256 MB of persistent memory, in FILE or forgotten when the guest ends.
nvdimm() {
    local memory=memory-backend-ram
    [[ -z ${2:-} ]] || memory="memory-backend-file,share=on,mem-path=$2"
    printf '%s\n' -object "$memory,id=nv$1,size=256M" -device "nvdimm,id=nvdimm$1,memdev=nv$1"
}

# qemu_words RESULTS [FILE]: the command line, one word a line; FILE backs the first NVDIMM.
qemu_words() {
    local kernels=("$vm_root"/boot/vmlinuz-*-amd64)
    printf '%s\n' qemu-system-x86_64 -accel tcg,thread=multi -smp 2 \
        -machine pc,nvdimm=on -m 2G,slots=4,maxmem=8G \
        -kernel "${kernels[0]}" -initrd "$vm_build/boot/initramfs" \
        -append 'console=ttyS0 quiet panic=-1 nokaslr tsc=unstable no_timer_check' \
        -display none -nic none -no-reboot
    share root "$vm_root" readonly=on
    share source "$top" readonly=on
    share build "$vm_build" readonly=on
    share results "$1" readonly=off
    nvdimm 0 "${2:-}"
    nvdimm 1
}

show_hang() {
    echo "vm: the guest did not finish within $2 s, or died. Its console:"
    tail -n 60 "$1/console"
    echo "vm: and the output of its command:"
    [[ ! -e $1/output ]] || tail -n 60 "$1/output"
}

# end_guest RESULTS LIMIT [FILE]: boots the guest for the command in RESULTS and waits for its end, for LIMIT seconds at most.
# Its exit status is that of the command.
end_guest() {
    local words ended=0
    mapfile -t words < <(qemu_words "$1" "${3:-}")
    timeout -k 5 "$2" nice -n 5 "${words[@]}" -monitor none -serial "file:$1/console" </dev/null || ended=$?
    if [[ $ended != 0 || ! -s $1/status ]]; then
        echo "vm: QEMU ended with status $ended"
        show_hang "$1" "$2"
        return 1
    fi
    return "$(cat "$1/status")"
}

# boot_guest RESULTS LIMIT COMMAND: runs a shell command in the guest, with RESULTS as its writable share; what it prints is
# RESULTS/output.
boot_guest() {
    rm -rf "$1"
    mkdir -p "$1"
    printf '%s\n' "$3" >"$1/command"
    end_guest "$1" "$2"
}

# boot_shell RESULTS: the guest with a prompt on this terminal.
boot_shell() {
    local words
    rm -rf "$1"
    mkdir -p "$1"
    mapfile -t words < <(qemu_words "$1")
    "${words[@]}" -serial mon:stdio
}
