# SPDX-License-Identifier: BSD-3-Clause
# Builds the project inside the root: by g++ 14, against rdma-core 56.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the files that utils/vm sources
vm_project=/build/project
# The same library as if rdma-core's headers knew no native operations, as on Debian 12: for mixed pairs.
vm_plain=/build/plain

configure_in_root() {
    in_root cmake -S /src -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER_LAUNCHER=ccache \
        -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
}

build_project() {
    configure_in_root -B $vm_project -DRPMA_VM_GUEST=ON -DRPMA_VM_PLAIN_LIBRARY=$vm_plain/src/librpma.so.0 \
        "-DRPMA_DEBIAN_LIBRARY=/opt/debian-librpma/usr/lib/x86_64-linux-gnu/librpma.so.0"
    in_root cmake --build $vm_project -j "${RPMA_CHECK_JOBS:-$(nproc)}"
    configure_in_root -B $vm_plain -DRPMA_HAVE_NATIVE_FLUSH=OFF -DRPMA_HAVE_NATIVE_ATOMIC_WRITE=OFF -DRPMA_BUILD_TESTS=OFF \
        -DRPMA_BUILD_EXAMPLES=OFF -DRPMA_BUILD_FABRIC=OFF
    in_root cmake --build $vm_plain -j "${RPMA_CHECK_JOBS:-$(nproc)}"
    in_root /src/tests/integration/vm/guest/list-cases $vm_project /build/cases
}

# unit_tests: those of the build in the root; they need no guest. So do the integration tests on the software device, which here
# flushes natively. Name spaces and tshark are not in the root.
unit_tests() {
    in_root ctest --test-dir $vm_project -R '^(unit|librpma|integration|persistence)\.' -E '\.namespaces$|^integration\.(link_cut|pcap)\.' \
        --no-tests=error --output-on-failure -j "${RPMA_CHECK_JOBS:-$(nproc)}"
}
