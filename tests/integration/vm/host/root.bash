# SPDX-License-Identifier: BSD-3-Clause
# Makes the guest's root: Debian 13, the packages, the other implementation of librpma, the siw module.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the files that utils/vm sources

bootstrap() {
    debootstrap --variant=minbase "$vm_release" "$vm_root" "$vm_mirror"
    mkdir -p "$vm_root"/{src,build,results}
    cp /etc/resolv.conf "$vm_root/etc/resolv.conf"
    echo force-unsafe-io >"$vm_root/etc/dpkg/dpkg.cfg.d/librpma-vm"
    printf 'path-exclude=/usr/share/%s/*\n' doc man locale >>"$vm_root/etc/dpkg/dpkg.cfg.d/librpma-vm"
    printf '#!/bin/sh\nexit 101\n' >"$vm_root/usr/sbin/policy-rc.d"
    chmod 755 "$vm_root/usr/sbin/policy-rc.d"
}

install_guest_packages() {
    local packages
    mapfile -t packages < <(guest_packages)
    in_root apt-get -q update
    in_root apt-get -q -y install --no-install-recommends "${packages[@]}"
}

# Not installed: it would be found by the build. Where it is, tests/integration/vm/CMakeLists.txt knows.
unpack_debian_librpma() {
    # shellcheck disable=SC2016
    in_root sh -euc 'cd /tmp && apt-get -q download librpma0 && dpkg -x librpma0_*.deb /opt/debian-librpma && rm librpma0_*.deb'
}

# Debian's kernels leave siw out. It is built from Debian's source of the same kernel, unpatched; nothing of it is distributed.
build_siw() {
    # shellcheck disable=SC2016
    in_root sh -euc '
        headers=$(echo /usr/src/linux-headers-*-amd64)
        release=${headers#/usr/src/linux-headers-}
        [ -d "/lib/modules/$release" ]
        mkdir -p /opt/siw
        cd /opt/siw
        apt-get -q download linux-source-6.12
        dpkg --fsys-tarfile linux-source-6.12_*.deb | tar -xO ./usr/src/linux-source-6.12.tar.xz |
            tar -xJ --strip-components=5 --wildcards "*/drivers/infiniband/sw/siw/*"
        rm linux-source-6.12_*.deb
        echo "obj-m := siw.o" >Makefile
        echo "siw-y := siw_cm.o siw_cq.o siw_main.o siw_mem.o siw_qp.o siw_qp_tx.o siw_qp_rx.o siw_verbs.o" >>Makefile
        make -s -C "$headers" M=/opt/siw modules
        mkdir -p "/lib/modules/$release/extra"
        mv siw.ko "/lib/modules/$release/extra/"
        depmod "$release"
        rm -r /opt/siw
    '
}

# A broken attempt is thrown away by the next one.
build_root() {
    local begin=$SECONDS
    mkdir -p "$vm_cache"
    exec {lock}>"$vm_cache/lock"
    flock "$lock"
    if [[ ! -e $vm_home/complete ]]; then
        echo "vm: making the guest's root in $vm_home; its log: $vm_home/root.log"
        rm -rf "$vm_home"
        mkdir -p "$vm_home"
        (set -e; bootstrap; install_guest_packages; unpack_debian_librpma; build_siw; in_root apt-get clean) \
            >"$vm_home/root.log" 2>&1 || { tail -n 40 "$vm_home/root.log" && die "the guest's root can not be made"; }
        touch "$vm_home/complete"
        echo "vm: the guest's root is ready after $((SECONDS - begin)) s"
    fi
    exec {lock}>&-
}
