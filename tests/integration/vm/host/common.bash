# SPDX-License-Identifier: BSD-3-Clause
# Where things are on the host. Sourced by utils/vm, which sets `top`.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the files that utils/vm sources
vm_source=$top/tests/integration/vm
vm_cache=${RPMA_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/librpma-vm}
vm_release=trixie
vm_mirror=${RPMA_VM_MIRROR:-http://deb.debian.org/debian}

die() {
    echo "vm: $*" >&2
    exit 1
}

# What is installed in the guest. Run time and build needs are the same as anywhere.
guest_packages() {
    sed -n 's/^\(run\|build\) //p' "$top/utils/packages"
    grep -v '^#' "$vm_source/packages"
}

# Another list of packages, or another way of installing them, is another root.
root_key() {
    { guest_packages | sort && cat "$vm_source/host/root.bash"; } | sha256sum | cut -c 1-16
}

vm_home=$vm_cache/$(root_key)
vm_root=$vm_home/root
vm_build=$vm_home/build

require_host_tools() {
    local program missing=()
    [[ $EUID -eq 0 ]] || die "chroot and mount need root: run it with sudo"
    for program in qemu-system-x86_64 debootstrap unshare; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    [[ ${#missing[@]} -eq 0 ]] || die "missing: ${missing[*]}. Debian: utils/install-packages vm"
}

# in_root COMMAND…: runs it inside the root, with the source at /src (read-only) and the build directory at /build. The mounts
# are private to the command and vanish with it.
in_root() {
    mkdir -p "$vm_build"
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --propagation private sh -euc '
        root=$1 source=$2 build=$3
        shift 3
        mount --bind -o ro "$source" "$root/src"
        mount --bind "$build" "$root/build"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive INITRD=No \
            CCACHE_DIR=/build/ccache chroot "$root" "$@"
    ' sh "$vm_root" "$top" "$vm_build" "$@"
}
