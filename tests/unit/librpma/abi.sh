#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The built library against what its users rely on. $1: librpma.so.0, $2: list of name@@node.
set -eu
export LC_ALL=C
fail() { echo "$*" >&2; exit 1; }
library=$1
[ "$(basename "$library")" = librpma.so.0 ] || fail "file name $(basename "$library")"
link=$(dirname "$library")/librpma.so
[ "$(readlink "$link")" = librpma.so.0 ] || fail "$link does not lead to librpma.so.0"
dynamic=$(readelf -dW "$library")
echo "$dynamic" | grep -q 'SONAME.*\[librpma.so.0\]' || fail "wrong SONAME"
needed=$(echo "$dynamic" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
[ "$needed" = "libc.so.6 libibverbs.so.1 librdmacm.so.1 " ] || fail "NEEDED: $needed"
exported=$(nm -D --defined-only --with-symbol-versions "$library" |
	awk '$2 != "A" { print $2, $3 }' | sort)
expected=$(sed 's/^/T /' "$2" | sort)
[ "$exported" = "$expected" ] || {
	echo "exported symbols differ (< library, > expected):" >&2
	a=$(mktemp) && b=$(mktemp)
	echo "$exported" >"$a" && echo "$expected" >"$b"
	diff "$a" "$b" >&2 || rm -f "$a" "$b"
	exit 1
}
# Not for threads, or not the library's to decide: the program's syslog settings and its environment.
forbidden=$(nm -D --undefined-only "$library" |
	awk '$2 ~ /^(strerror|openlog|closelog|getenv|secure_getenv|exit|abort)(@|$)/ { print $2 }')
[ -z "$forbidden" ] || fail "must not be used: $forbidden"
echo "$(echo "$exported" | wc -l) symbols"
