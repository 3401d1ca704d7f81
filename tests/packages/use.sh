# SPDX-License-Identifier: BSD-3-Clause
# In a fresh root, as its root: installs the packages, uses them as a user would, removes them.
# shellcheck shell=bash
fail() {
    echo "FAILED: $*"
    exit 1
}

# What apt says is shown only if it fails.
quietly() {
    "$@" >/tmp/log 2>&1 || { cat /tmp/log && fail "$*"; }
}

install() {
    quietly apt-get -q -y install --no-install-recommends "$@"
}

as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/tmp)

wait_until() {
    local end=$((SECONDS + 30))
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.05
    done
}

# pair DIRECTORY NAME "SERVER ARGUMENTS" "CLIENT ARGUMENTS": as an unprivileged user, on the fabric
pair() {
    local directory=$1 name=$2 server_arguments client_arguments
    read -ra server_arguments <<<"$3"
    read -ra client_arguments <<<"$4"
    "${as_user[@]}" rpma-fabric run -- "$directory/$name-server" 127.0.0.1 7471 "${server_arguments[@]}" >/tmp/server.out 2>&1 &
    server=$!
    wait_until grep -q '^listening' /tmp/server.out || { cat /tmp/server.out && fail "$name-server"; }
    "${as_user[@]}" timeout 60 rpma-fabric run -- "$directory/$name-client" 127.0.0.1 7471 "${client_arguments[@]}" >/tmp/client.out 2>&1 ||
        { cat /tmp/client.out && fail "$name-client"; }
}

echo "--- the device alone, as somebody who develops with another library would install it"
install /packages/rpma-fabric_*.deb
dpkg -s librpma0 >/dev/null 2>&1 && fail "rpma-fabric has brought librpma0"
"${as_user[@]}" rpma-fabric info | grep -q fabric0 || fail "rpma-fabric info"

echo "--- the library at run time"
install /packages/librpma0_*.deb
ldd /usr/lib/*/librpma.so.0 | grep -q 'not found' && fail "librpma0 lacks a dependency"

echo "--- development"
install /packages/librpma-dev_*.deb build-essential cmake pkg-config libpmem2-dev man-db
man -w rpma_flush >/dev/null || fail "man rpma_flush"
man -w 7 librpma >/dev/null || fail "man 7 librpma"
man rpma_flush 2>&1 | grep -q 'make earlier writes visible or durable' || fail "the page of rpma_flush"

cp -r /usr/share/doc/librpma-dev/examples /tmp/examples
cd /tmp/examples || exit

echo "--- the example of the README, by pkg-config"
# shellcheck disable=SC2046  # flags are words
cc -D_GNU_SOURCE 03-write-flush/client.c common/*.c $(pkg-config --cflags --libs librpma libpmem2) -o /tmp/client # as in the guide
mkdir /tmp/by-pc
read -ra flags <<<"$(pkg-config --cflags --libs librpma libpmem2)"
cc -std=c11 -D_GNU_SOURCE -o /tmp/by-pc/replicate-server replicate/{server,target}.c common/common.c "${flags[@]}"
cc -std=c11 -D_GNU_SOURCE -o /tmp/by-pc/replicate-client replicate/{client,source,timing}.c common/common.c "${flags[@]}"

echo "--- and all examples, by CMake"
quietly cmake -S . -B /tmp/by-cmake
quietly cmake --build /tmp/by-cmake --parallel 2

echo "--- a consumer of find_package"
mkdir /tmp/consumer
cat >/tmp/consumer/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES C)
find_package(librpma 1.4 REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE librpma::librpma)
END
echo '#include <librpma.h>
int main(void) { return rpma_err_2str(0)[0] != 83; }' >/tmp/consumer/main.c
quietly cmake -S /tmp/consumer -B /tmp/consumer/build
quietly cmake --build /tmp/consumer/build
/tmp/consumer/build/consumer || fail "the consumer"

for directory in /tmp/by-pc /tmp/by-cmake; do
    echo "--- replicating on the fabric with what is in $directory"
    rm -rf /tmp/replicas
    mkdir -m 777 /tmp/replicas
    head -c 3000000 /dev/urandom >/tmp/replicas/source
    pair "$directory" replicate "/tmp/replicas/replica 3000000" "/tmp/replicas/source"
    kill -KILL "$server"
    status=0
    wait "$server" 2>/dev/null || status=$?
    [[ $status -eq 137 ]] || fail "replicate-server had ended by itself, status $status"
    cmp /tmp/replicas/source /tmp/replicas/replica || fail "the replica differs"
    cat /tmp/client.out
done
pair /tmp/by-cmake connect "" "Anna"
wait "$server" || fail "connect-server"
grep -q 'welcome, Anna' /tmp/client.out || fail "connect"

echo "--- measurements"
install /packages/rpma-perf_*.deb
"${as_user[@]}" timeout 60 rpma-perf local --size 64 --queue-depth 1 --duration 0.05 --repeat 1 --report /tmp/report.html >/tmp/perf.out 2>&1 ||
    { cat /tmp/perf.out && fail "rpma-perf local"; }
grep -q '^rpma  flush' /tmp/perf.out || fail "the table of rpma-perf"
[[ -s /tmp/report.html ]] || fail "the report of rpma-perf"

echo "--- removal"
files=$(dpkg -L librpma0 librpma-dev rpma-fabric rpma-perf | sort -u)
quietly apt-get -q -y purge librpma0 librpma-dev rpma-fabric rpma-perf
while read -r file; do
    # directories may be shared with other packages
    if [[ -f $file || -L $file ]]; then
        fail "left behind: $file"
    fi
done <<<"$files"
find / -xdev \( -path /proc -o -path /dev -o -path /packages -o -path /tmp -o -path /var/log -o -path /var/lib/apt -o -path /var/cache \) -prune \
    -o \( -name '*librpma*' -o -name '*rpma-fabric*' -o -name '*rpma-perf*' -o -name 'rpma_*' \) -print >/tmp/left
[[ ! -s /tmp/left ]] || { cat /tmp/left && fail "left behind"; }
echo "installed, used and removed"
