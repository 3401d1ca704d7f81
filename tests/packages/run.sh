#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154  # root_path comes from root.sh
# run.sh PACKAGES SCRIPT: runs SCRIPT in a fresh Debian root that holds the packages in /packages. Nothing of it is left.
set -euo pipefail
packages=$(realpath "$1")
script=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
# shellcheck source=/dev/null
. "$here/root.sh"

[[ $EUID -eq 0 ]] || { echo "FAILED: chroot and mount need root" && exit 1; }
make_root

scratch=$(mktemp -d "$packages/run-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch"/{upper,work,root}
cp "$script" "$scratch/script"

# The mounts are private to this command and vanish with it.
# shellcheck disable=SC2016  # expanded by the inner shell
unshare --mount --pid --fork --propagation private bash -euc '
    lower=$1 scratch=$2 packages=$3
    mount -t overlay overlay -o "lowerdir=$lower,upperdir=$scratch/upper,workdir=$scratch/work" "$scratch/root"
    root=$scratch/root
    mkdir "$root/packages"
    cp "$packages"/*.deb "$root/packages/"
    cp "$scratch/script" "$root/script"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        chroot "$root" bash -euo pipefail /script
' bash "$root_path" "$scratch" "$packages"
