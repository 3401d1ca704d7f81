#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fetch_debian_library.sh DIRECTORY FILE: unpacks Debian's librpma0 1.2.0 into DIRECTORY, where FILE then is its library.
set -eu
directory=$1
file=$2
version=1.2.0-1

if [ -f "$file" ]; then
    echo "already there: $file"
    exit 0
fi
mkdir -p "$directory"
scratch=$(mktemp -d "$directory/fetch-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
cd "$scratch"
if ! apt-get download "librpma0=$version" >log 2>&1 && ! { apt-get update >>log 2>&1 && apt-get download "librpma0=$version" >>log 2>&1; }; then
    cat log
    echo "FAILED: librpma0 $version could not be downloaded by apt-get: is Debian's archive reachable?"
    exit 1
fi
dpkg -x librpma0_*.deb "$directory"
test -f "$file"
