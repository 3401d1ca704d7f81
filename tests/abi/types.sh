#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# types.sh compare|write LIBRARY HEADERS STORED: the types and functions of the built library against the stored ones. What
# belongs to rdma-core and libc is theirs to keep.
set -eu
what=$1 library=$2 headers=$3 stored=$4
here=$(dirname "$(readlink -f "$0")")
built=$(mktemp)
trap 'rm -f "$built"' EXIT
abidw --headers-dir "$headers" --drop-private-types --exported-interfaces-only --drop-undefined-syms --no-show-locs \
    --no-corpus-path --no-comp-dir-path --no-parameter-names --type-id-style hash --out-file "$built" "$library"
functions=$(grep -c "<function-decl name='rpma_.*elf-symbol-id=" "$built") || functions=0
if [ "$functions" -ne 84 ]; then
    echo "$functions functions with types, not 84: has the library no debugging information?"
    exit 1
fi
if [ "$what" = write ]; then
    sed "s| path='[^']*/src/| path='src/|" "$built" >"$stored" # wherever it was built
    exit 0
fi
if ! abidiff --suppressions "$here/foreign_types.ini" "$stored" "$built"; then
    echo "The ABI is not what $stored has. If it may only grow, and did: cmake --build BUILD --target abi"
    exit 1
fi
echo "$functions functions as stored"
