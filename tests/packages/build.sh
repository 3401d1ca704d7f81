#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build.sh SOURCE DIRECTORY: builds the Debian packages from a copy of the source; they are in DIRECTORY afterwards.
set -euo pipefail
source=$1
directory=$2

copy_source() {
    if git -C "$source" rev-parse --git-dir >/dev/null 2>&1; then
        git -C "$source" ls-files -z | tar -C "$source" --null --files-from - --ignore-failed-read -c
    else
        tar -C "$source" --exclude ./build -c .
    fi | tar -C "$directory/source" -x
}

rm -rf "$directory"
mkdir -p "$directory/source"
copy_source
cd "$directory/source"
export DEB_BUILD_OPTIONS="parallel=${RPMA_CHECK_JOBS:-2} ${DEB_BUILD_OPTIONS-}"
dpkg-buildpackage --no-sign --build=binary
cd ..
rm -rf source
ls ./*.deb
