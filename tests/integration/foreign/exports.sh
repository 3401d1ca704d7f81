#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# exports.sh PROGRAM LIBRARY: every function that libibverbs and librdmacm export is in exports.txt or called by PROGRAM (the one
# that expects refusals), none is in neither, and LIBRARY (the fabric's) has those that are not "theirs", under the same versions.
set -euo pipefail
program=$1
library=$2
table=$(dirname "$0")/exports.txt

version=$(dpkg-query -f '${Version}' -W libibverbs1)
if [[ $version != 44.* ]]; then
    echo "SKIPPED: the table is for rdma-core 44, installed is $version"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# exports LIBRARY: NAME@@VERSION (or NAME@VERSION for those that only old programs use)
exports() {
    nm --dynamic --defined-only "$1" | awk '$3 ~ /@@?(IBVERBS|RDMACM)_[0-9]/ { print $3 }' | sort -u
}

# The files that the loader finds.
for name in libibverbs librdmacm; do
    exports "$(ldconfig -p | awk -v name="$name.so.1" '$1 == name { print $NF; exit }')"
done >"$work/theirs"
exports "$library" >"$work/ours"
grep -v '^#' "$table" >"$work/table"
"$program" --names | sort -u >"$work/refused"

sed 's/@.*//' "$work/theirs" | sort -u >"$work/all"
awk '{ print $2 }' "$work/table" | sort - "$work/refused" -u >"$work/known"
comm -23 "$work/all" "$work/known" | sed 's/$/: exported, and neither in the table nor called/' >"$work/wrong"
awk '{ print $2 }' "$work/table" | sort -u | comm -13 "$work/all" - | sed 's/$/: in the table, and not exported/' >>"$work/wrong"

# What is ours or refused must be in the fabric's library, as the default version of that name.
awk '$1 == "ours" { print $2 }' "$work/table" | sort - "$work/refused" -u | comm -12 "$work/all" - >"$work/needed"
while read -r name; do
    wanted=$(grep "^$name@@" "$work/theirs")
    grep -qx "$wanted" "$work/ours" || echo "$wanted: not in the fabric's library" >>"$work/wrong"
done <"$work/needed"

echo "$(wc -l <"$work/theirs") symbols, $(wc -l <"$work/all") functions, $(wc -l <"$work/needed") answered by the fabric"
[[ $(wc -l <"$work/needed") -gt 100 && ! -s $work/wrong ]] || { cat "$work/wrong" && exit 1; }
