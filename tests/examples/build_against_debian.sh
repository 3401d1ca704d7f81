#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build_against_debian.sh EXAMPLES DIRECTORY: builds the examples as a user of Debian's librpma-dev would. The packages are
# unpacked in DIRECTORY, not installed; the programs are in DIRECTORY/build.
set -eu
examples=$1
directory=$2
version=1.2.0-1

fetch() {
    apt-get download "librpma0=$version" "librpma-dev=$version"
}

mkdir -p "$directory"
if [ ! -e "$directory/root" ]; then
    scratch=$(mktemp -d "$directory/fetch-XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    chmod 755 "$scratch" # for apt's own user
    cd "$scratch"
    fetch >log 2>&1 || { apt-get update >>log 2>&1 && fetch >>log 2>&1; } || {
        cat log
        echo "FAILED: librpma $version could not be downloaded by apt-get: is Debian's archive reachable?"
        exit 1
    }
    for package in *.deb; do
        dpkg -x "$package" unpacked
    done
    mv unpacked "$directory/root"
fi

library=$(dirname "$(find "$directory/root" -name librpma.so.0)")
test -z "$(nm -D "$library/librpma.so.0" | grep LIBRPMA_1.4 || true)" # theirs, not ours
# The sysroot is put before the paths in librpma.pc; those of other packages are the system's and found anyway.
export PKG_CONFIG_PATH="$library/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$directory/root"
cmake -S "$examples" -B "$directory/build" -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" -DCMAKE_BUILD_RPATH="$library" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo
cmake --build "$directory/build"
for program in connect-server append-log-client; do
    ldd "$directory/build/$program" | grep -q "librpma.so.0 => $library/librpma.so.0"
done
