#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` writes, what others can do with it, and that it can be taken away again.
#   RPMA_BUILD   the build directory
#   RPMA_SOURCE  the project

bats_require_minimum_version 1.5.0

setup_file() {
    export installed=$BATS_FILE_TMPDIR/installed
    cmake --install "$RPMA_BUILD" --prefix "$installed" >/dev/null
    pkgconfig=$(dirname "$(find "$installed" -name librpma.pc)")
    export PKG_CONFIG_PATH=$pkgconfig
    export libraries=${pkgconfig%/pkgconfig}
    export fabric=$installed/bin/rpma-fabric
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# The .pc file names the prefix of the configuration; this is another one.
pc() {
    pkg-config --define-prefix "$@"
}

runs_on_the_fabric() {
    run -0 timeout 60 "$fabric" run -- "$1"
    [[ $output == "descriptor of 21 bytes" ]]
}

needs_librpma() {
    readelf -d "$1" | grep -q 'NEEDED.*librpma\.so\.0'
}

@test "everything has its place" {
    cd "$installed"
    for file in include/librpma.h bin/rpma-fabric share/man/man3/rpma_write.3 share/man/man7/librpma.7 \
        share/man/man7/librpma-fabric.7 share/man/man1/rpma-fabric.1 share/bash-completion/completions/rpma-fabric \
        bin/rpma-perf share/man/man1/rpma-perf.1 share/bash-completion/completions/rpma-perf \
        share/doc/librpma/examples/CMakeLists.txt share/doc/librpma/examples/01-connect/client.c; do
        [[ -s $file ]] || { echo "missing: $file" && return 1; }
    done
    [[ $(find share/man/man3 -name 'rpma_*.3' | wc -l) -eq 84 ]]
    [[ $(readlink "$libraries/librpma.so") == librpma.so.0 && -s $libraries/librpma.a ]]
    [[ -s $libraries/librpma/librpma-fabric.so ]]
    run -1 grep -rIl "$RPMA_SOURCE\|$RPMA_BUILD" .
}

@test "pkg-config, shared" {
    [[ $(pc --modversion librpma) == 1.4.0 ]]
    read -ra flags <<<"$(pc --cflags --libs librpma)"
    cc -std=c11 -Wall -Wextra -Werror -o program "$RPMA_SOURCE/tests/install/consumer/main.c" "${flags[@]}" \
        -Wl,-rpath,"$libraries"
    needs_librpma program
    runs_on_the_fabric ./program
}

@test "pkg-config, static" {
    mkdir static
    cp "$libraries/librpma.a" static/ # beside a shared library the linker would take that
    read -ra flags <<<"$(pc --cflags --libs --static librpma)"
    cc -std=c11 -Wall -Wextra -Werror -o program "$RPMA_SOURCE/tests/install/consumer/main.c" -L static "${flags[@]}"
    run -1 needs_librpma program
    runs_on_the_fabric ./program
}

@test "pkg-config, C++, each compiler and standard" {
    local compiler standard flags
    read -ra flags <<<"$(pc --cflags --libs librpma)"
    for compiler in g++ clang++; do
        for standard in c++11 c++14 c++17 c++20; do
            "$compiler" -std=$standard -Wall -Wextra -pedantic -Werror -o program \
                "$RPMA_SOURCE/tests/install/consumer/main.cpp" "${flags[@]}" -Wl,-rpath,"$libraries"
            needs_librpma program
            nm -D --undefined-only program | grep -q ' rpma_peer_new@LIBRPMA_1.0' # not mangled
            runs_on_the_fabric ./program
        done
    done
}

@test "pkg-config does not ask for other packages' .pc files" {
    run -0 env PKG_CONFIG_LIBDIR="$PKG_CONFIG_PATH" PKG_CONFIG_PATH= pkg-config --define-prefix --cflags --libs --static librpma
    [[ $output == *"-lrpma -libverbs -lrdmacm"* ]]
}

@test "what is missing is named, with the package that brings it" {
    run -1 env PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH= cmake -S "$RPMA_SOURCE" -B build
    output=$(tr -s ' \n' ' ' <<<"$output") # cmake breaks lines
    [[ $output == *"libibverbs was not found"*"apt install libibverbs-dev. Fedora: dnf install rdma-core-devel"* ]]
}

@test "find_package, shared and static" {
    cmake -S "$RPMA_SOURCE/tests/install/consumer" -B build -DCMAKE_PREFIX_PATH="$installed" >/dev/null
    cmake --build build >/dev/null
    needs_librpma build/shared
    runs_on_the_fabric build/shared
    run -1 needs_librpma build/static
    runs_on_the_fabric build/static
}

@test "find_package refuses another major version" {
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES C)
find_package(librpma 2.0 REQUIRED)
END
    run -1 cmake -S . -B build -DCMAKE_PREFIX_PATH="$installed"
    [[ $output == *"compatible with requested version"* ]]
}

@test "the sessions of the guide and of the course, typed in a copy of the examples, print what they say" {
    cp -r "$installed/share/doc/librpma/examples" copy
    cd copy
    sed -i "s|^prefix=.*|prefix=$installed|" "$PKG_CONFIG_PATH/librpma.pc"
    PATH=$installed/bin:$PATH "$RPMA_SOURCE/tests/install/typed.py" "$RPMA_SOURCE/doc/getting-started.md" 3>&-
    [[ $(find build -name '*-client' -type f | wc -l) -eq 13 ]]
    needs_librpma build/connect-client
    needs_librpma client
    cd build
    PATH=$installed/bin:$PATH "$RPMA_SOURCE/tests/install/typed.py" "$RPMA_SOURCE/examples/README.md" 3>&-
}

@test "man finds the pages" {
    run -0 env MANPATH="$installed/share/man" man -w rpma_flush
    [[ $output == "$installed/share/man/man3/rpma_flush.3" ]]
    run -0 env MANPATH="$installed/share/man" man -w 1 rpma-fabric
}

@test "rpma-perf measures from where it was installed to" {
    run -0 timeout 60 "$installed/bin/rpma-perf" local --size 64 --queue-depth 1 --duration 0.05 --repeat 1 --json results
    [[ $output == *"librpma over raw verbs"* ]]
    grep -q "\"path\": \"$libraries/librpma.so.0\"" results
}

@test "uninstall takes away what was installed, and nothing else" {
    DESTDIR=$PWD/root cmake --install "$RPMA_BUILD" --prefix /usr >/dev/null
    mkdir -p root/usr/share/doc/librpma
    echo mine >root/usr/share/doc/librpma/notes
    cp "$RPMA_BUILD/install_manifest.txt" .
    # In a directory of its own: other tests install from the same build.
    DESTDIR=$PWD/root cmake -P "$RPMA_SOURCE/cmake/Uninstall.cmake" >/dev/null
    [[ $(find root -type f) == root/usr/share/doc/librpma/notes ]]
    run -0 find root -type d -name 'librpma*'
    [[ $output == root/usr/share/doc/librpma ]]
    run -1 cmake -P "$RPMA_SOURCE/cmake/Uninstall.cmake"
    [[ $output == *"nothing to uninstall"* ]]
}
