#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the public header alone at every language level it promises. $1: the header.
set -eu
compiled=0
try() { # compiler language standard
	command -v "$1" >/dev/null || return 0
	"$1" -x "$2" -std="$3" -Wall -Wextra -pedantic -Werror -fsyntax-only "$header"
	compiled=$((compiled + 1))
}
header=$1
for standard in c99 c11; do
	try gcc c $standard
	try clang c $standard
done
for standard in c++11 c++14 c++17 c++20; do
	try g++ c++ $standard
	try clang++ c++ $standard
done
echo "$compiled combinations compiled"
[ "$compiled" -ge 6 ]
