#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build.sh BUILD DIRECTORY: builds Debian 12's fio (3.33) in DIRECTORY against the library that `cmake --install BUILD` writes,
# with the engines that Debian leaves out. The program is DIRECTORY/fio/fio.
set -euo pipefail
build=$1
directory=$2
version=3.33-3

mkdir -p "$directory"
cd "$directory"
# Again each time: the header and the library are what is tested.
cmake --install "$build" --prefix "$directory/librpma" >install.log
pkgconfig=$(dirname "$(find "$directory/librpma" -name librpma.pc)")
libraries=${pkgconfig%/pkgconfig}

# With package lists of its own: the machine need not have those of sources.
fetch_source() {
    local apt=(apt-get -q -o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$PWD/lists" -o APT::Sandbox::User=root)
    mkdir -p lists/partial
    echo "deb-src ${RPMA_DEBIAN_MIRROR:-http://deb.debian.org/debian} bookworm main" >sources.list
    "${apt[@]}" update && "${apt[@]}" source --download-only "fio=$version"
}

if [[ ! -e fio_${version%-*}.orig.tar.gz ]]; then
    fetch_source >fetch.log 2>&1 || {
        cat fetch.log
        echo "FAILED: the source of fio $version could not be fetched: is Debian's archive reachable?"
        exit 1
    }
fi
if [[ ! -e fio/fio ]]; then
    mkdir -p fio
    tar -xf "fio_${version%-*}.orig.tar.gz" --strip-components=1 -C fio
fi
# The gpspm server of this version crashes when built with libpmem2; with libpmem it works.
mkdir -p without
echo '#error "not with libpmem2"' >without/libpmem2.h
cd fio
LDFLAGS="-L$libraries -Wl,-rpath,$libraries" ./configure --disable-native \
    --extra-cflags="-I$directory/without -I$directory/librpma/include" >../configure.log 2>&1
grep -E '^librpma.*(engine|yes|no)$' ../configure.log
make -j2 >../make.log 2>&1 || { tail -30 ../make.log && exit 1; }
engines=$(./fio --enghelp)
for engine in librpma_apm_client librpma_apm_server librpma_gpspm_client librpma_gpspm_server; do
    [[ $engines == *$engine* ]] || { echo "fio was built without $engine" && exit 1; }
done
ldd ./fio | grep -F "librpma.so.0 => $libraries/librpma.so.0"
