#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run.sh LAUNCHER JOBS SERVER CLIENT EXPECTED [RW]: runs a pair of job files on the fabric, shortened, on a port of its own, with
# the client's rw=RW if that is given. EXPECTED must be in the client's output. The fio is $RPMA_FIO, or the one on PATH; without librpma engines the test is skipped.
set -euo pipefail
launcher=$1
jobs=$2
server_job=$3
client_job=$4
expected=$5
rw=${6:-}
fio=${RPMA_FIO:-$(command -v fio || true)}

if [[ -z $fio || $("$fio" --enghelp 2>/dev/null) != *"librpma_${client_job%%-*}_client"* ]]; then
    echo "SKIPPED: no fio with librpma engines (RPMA_FIO names one)"
    exit 77
fi

work=$(mktemp -d)
server=
clean_up() {
    if [[ -n $server ]] && kill -0 "$server" 2>/dev/null; then kill -KILL "$server"; fi
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work"
export SERVER=127.0.0.1 FILE=malloc
if [[ -n $rw ]] && ! grep -q '^rw=' "$jobs/$client_job.fio"; then
    echo "FAILED: $client_job.fio has no rw= to be replaced"
    exit 1
fi
if [[ $server_job == gpspm-* && $(ldd "$fio") == *libpmem2* && $("$fio" --version) == fio-3.33 ]]; then
    echo "SKIPPED: the gpspm server of fio 3.33 crashes when built with libpmem2 (it uses the mapping before it has made it)"
    exit 77
fi

listening() {
    [[ $(ss -ltn) == *":$port "* ]]
}

for attempt in {1..10}; do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    for job in "$server_job" "$client_job"; do
        sed "s/^port=.*/port=$port/; s/^runtime=.*/runtime=2/; s/^ramp_time=.*/ramp_time=0/" "$jobs/$job.fio" >"$job.fio"
    done
    [[ -z $rw ]] || sed -i "s/^rw=.*/rw=$rw/" "$client_job.fio"
    "$launcher" run -- "$fio" "$server_job.fio" >server.out 2>&1 &
    server=$!
    for ((i = 0; i < 600; i++)); do
        { listening || ! kill -0 "$server" 2>/dev/null; } && break
        sleep 0.05
    done
    listening && break
    wait "$server" || echo "the server ended with status $?"
    server=
    echo "no server after attempt $attempt"
done
[[ -n $server ]] || { cat server.out && exit 1; }
timeout 60 "$launcher" run -- "$fio" "$client_job.fio" >client.out 2>&1 || { cat client.out server.out && exit 1; }
wait "$server" || { cat server.out && exit 1; }
server=
grep -E "$expected" client.out || { cat client.out && exit 1; }
grep -q 'err= 0' client.out || { cat client.out && exit 1; }
