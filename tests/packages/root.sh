# SPDX-License-Identifier: BSD-3-Clause
# A fresh Debian root to install the packages in. It is made once, kept outside of the project, and never written to by a
# test: each run gets an overlay that is thrown away. Sourced.
# shellcheck shell=bash
root_release=bookworm
root_mirror=${RPMA_PACKAGES_MIRROR:-http://deb.debian.org/debian}
root_cache=${RPMA_PACKAGES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/librpma-packages}

# What the tests install in the root from Debian's archive, with all that it depends on: the files are kept in the root's
# apt cache, nothing of it is installed there.
root_downloads=(build-essential bash-completion cmake libfmt9 libibverbs-dev libpmem2-dev librdmacm-dev man-db pkg-config)

root_key() {
    sha256sum <"${BASH_SOURCE[0]}" | cut -c 1-16
}
root_home=$root_cache/$root_release-$(root_key)
root_path=$root_home/root

in_chroot() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$@"
}

bootstrap_root() {
    debootstrap --variant=minbase "$root_release" "$root_path" "$root_mirror"
    cp /etc/resolv.conf "$root_path/etc/resolv.conf"
    echo force-unsafe-io >"$root_path/etc/dpkg/dpkg.cfg.d/test"
    printf 'Binary::apt::APT::Keep-Downloaded-Packages "true";\n' >"$root_path/etc/apt/apt.conf.d/keep"
    in_chroot "$root_path" apt-get -q update
    in_chroot "$root_path" apt-get -q -y install --download-only --no-install-recommends "${root_downloads[@]}"
}

# A broken attempt is thrown away by the next one.
make_root() {
    mkdir -p "$root_cache"
    exec {lock}>"$root_cache/lock"
    flock "$lock"
    if [[ ! -e $root_home/complete ]]; then
        rm -rf "$root_home"
        mkdir -p "$root_home"
        (set -e && bootstrap_root) >"$root_home/root.log" 2>&1 || {
            tail -n 40 "$root_home/root.log"
            echo "the root cannot be made (log: $root_home/root.log)"
            return 1
        }
        touch "$root_home/complete"
    fi
    exec {lock}>&-
}
