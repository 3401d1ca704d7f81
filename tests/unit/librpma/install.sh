#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the library into a temporary folder and builds a program against it, by pkg-config and by
# find_package(librpma). $1: cmake, $2: build folder.
set -eu
cmake=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build/src" --prefix "$work/usr" >/dev/null
pc=$(find "$work/usr" -name librpma.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
pc() { pkg-config --define-variable=prefix="$work/usr" "$@" librpma; }
libdir=$(pc --variable=libdir)
ls "$libdir/librpma.so.0" "$libdir/librpma.so" "$work/usr/include/librpma.h" >/dev/null
cat >"$work/main.c" <<'END'
#include <librpma.h>
#include <string.h>
int main(void)
{
	struct rpma_peer_cfg *cfg = NULL;
	if (rpma_peer_cfg_new(&cfg) != 0 || rpma_peer_cfg_delete(&cfg) != 0)
		return 1;
	return strcmp(rpma_err_2str(0), "Success");
}
END
# shellcheck disable=SC2046
cc -o "$work/by_pc" "$work/main.c" $(pc --cflags --libs) -Wl,-rpath,"$libdir"
"$work/by_pc"
cat >"$work/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(librpma REQUIRED)
add_executable(by_cmake main.c)
target_link_libraries(by_cmake PRIVATE librpma::librpma)
END
"$cmake" -S "$work" -B "$work/build" -Dlibrpma_DIR="$libdir/cmake/librpma" >/dev/null
"$cmake" --build "$work/build" >/dev/null
"$work/build/by_cmake"
echo "installed, found and used"
