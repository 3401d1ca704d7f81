# SPDX-License-Identifier: BSD-3-Clause
# What the project needs from the system, with the package that provides it.
include(CheckCXXSourceCompiles)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# rpma_require(TARGET name PKG module DEBIAN package FEDORA package): an imported target PkgConfig::TARGET.
function(rpma_require)
  cmake_parse_arguments(arg "" "TARGET;PKG;DEBIAN;FEDORA" "" ${ARGN})
  pkg_check_modules(${arg_TARGET} IMPORTED_TARGET GLOBAL ${arg_PKG})
  if(NOT ${arg_TARGET}_FOUND)
    message(FATAL_ERROR "${arg_PKG} was not found. "
                        "Debian and Ubuntu: apt install ${arg_DEBIAN}. Fedora: dnf install ${arg_FEDORA}")
  endif()
endfunction()

rpma_require(TARGET IBVERBS PKG libibverbs DEBIAN libibverbs-dev FEDORA rdma-core-devel)
rpma_require(TARGET RDMACM PKG librdmacm DEBIAN librdmacm-dev FEDORA rdma-core-devel)

# Native operations: what the headers of the installed rdma-core know.
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::IBVERBS)
check_cxx_source_compiles("#include <infiniband/verbs.h>
int main() { ibv_qp_ex *q = nullptr; ibv_wr_atomic_write(q, 0, 0, nullptr); return IBV_QP_EX_WITH_ATOMIC_WRITE == 0; }"
  RPMA_HAVE_NATIVE_ATOMIC_WRITE)
check_cxx_source_compiles("#include <infiniband/verbs.h>
int main() { ibv_qp_ex *q = nullptr; ibv_wr_flush(q, 0, 0, 0, 0, 0); return IBV_ACCESS_FLUSH_GLOBAL == 0; }"
  RPMA_HAVE_NATIVE_FLUSH)
unset(CMAKE_REQUIRED_LIBRARIES)
message(STATUS "native atomic write in rdma-core's headers: ${RPMA_HAVE_NATIVE_ATOMIC_WRITE}")
message(STATUS "native flush in rdma-core's headers: ${RPMA_HAVE_NATIVE_FLUSH}")
