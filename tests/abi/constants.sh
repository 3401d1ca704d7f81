#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# constants.sh HEADER TABLE: every macro, enumerator, size and offset of TABLE holds for the compilers of C and of C++. The
# sources are made from TABLE; a wrong value does not compile.
set -eu
header=$1 table=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

{
    cat <<END
#include "$header"
#include <stddef.h>
#ifdef __cplusplus
#define HOLDS(claim) static_assert(claim, #claim)
#define HOLDS_IN_C(claim) HOLDS(true) /* a value of the enumeration may be converted to int first */
#else
#define HOLDS(claim) _Static_assert(claim, #claim)
#define HOLDS_IN_C HOLDS
#endif
END
    awk -F '\t' '
        $1 == "macro" && $4 ~ /null pointer/ { print "HOLDS(sizeof(" $2 ") == sizeof(void *));"; next }
        $1 == "macro" || $1 == "enumerator" { print "HOLDS((" $2 ") == (" $3 "));" }
        $1 == "macro" && $2 != "LIBRPMA_H" { print "HOLDS(sizeof(" $2 ") == 4);" }
        $1 == "enum" { print "HOLDS(sizeof(enum " $2 ") == 4);" }
        $1 == "enum" && $4 ~ /unsigned/ { print "HOLDS_IN_C((enum " $2 ")-1 > (enum " $2 ")0);" }
        $1 == "struct" { print "HOLDS(sizeof(struct " $2 ") == " $3 ");" }
        $1 == "member" { split($2, name, "."); print "HOLDS(offsetof(struct " name[1] ", " name[2] ") == " $3 ");" }
    ' "$table"
} >"$scratch/constants.c"
claims=$(grep -c '^HOLDS' "$scratch/constants.c")
[ "$claims" -ge 75 ]

compiled=0
try() { # compiler language standard
    command -v "$1" >/dev/null || return 0
    "$1" -x "$2" -std="$3" -Wall -Wextra -Werror -fsyntax-only "$scratch/constants.c"
    compiled=$((compiled + 1))
}
for compiler in gcc clang; do
    try $compiler c c11
done
for compiler in g++ clang++; do
    try $compiler c++ c++17
done
[ "$compiled" -ge 2 ]

# A wrong value must not compile, or all of this proves nothing.
sed 's/(RPMA_E_INVAL) == (-100004)/(RPMA_E_INVAL) == (-100005)/' "$scratch/constants.c" >"$scratch/wrong.c"
if cmp -s "$scratch/constants.c" "$scratch/wrong.c" || cc -x c -std=c11 -fsyntax-only "$scratch/wrong.c" 2>/dev/null; then
    echo "a wrong value compiles"
    exit 1
fi
echo "$claims claims hold, compiled $compiled times"
