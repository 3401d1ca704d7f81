# SPDX-License-Identifier: BSD-3-Clause
# What runs in the guest on top of the integration tests. Read twice: by the build in the guest's root, where vm_case() is a test
# of its own, and on the host, where it is the result of that test.
#   vm_case(SUITE NAME SCENARIO [ARGS word…] [PAIR driver option…] [PREFIX command…])
#   vm_command(SUITE NAME command…)
if(NOT COMMAND vm_case)
  return()
endif()

# --- persistent memory, on rxe
set(dax /dev/dax0.0)
set(traced ${CMAKE_CURRENT_SOURCE_DIR}/guest/traced)
# Packets by their opcodes: a write, a flush to visibility and one to persistence, an atomic write.
vm_case(pmem native_operations native_operations ARGS ${dax} native
        PREFIX ${traced} "write=1 flush_visibility=1 flush_persistence=1 atomic_write=1 read=0")
# A client that knows no native operations: reads instead of flushes, a plain write instead of an atomic one.
vm_case(pmem emulated_operations native_operations ARGS ${dax} emulated PAIR --library-client ${RPMA_VM_PLAIN_LIBRARY}
        PREFIX ${traced} "write=2 flush_visibility=0 flush_persistence=0 atomic_write=0 read=2")
vm_case(pmem flush_types flush_types ARGS ${dax})
vm_case(pmem dax_file_is_refused refused_registration ARGS dax /run/dax/region)
vm_case(pmem memory_is_refused refused_registration ARGS memory)
vm_case(pmem persistent_flush_is_refused refused_flush)

vm_command(pmem rpma_perf_on_device_dax ${CMAKE_CURRENT_SOURCE_DIR}/guest/device-dax perf)
vm_command(pmem persistence_model_on_device_dax ${CMAKE_CURRENT_SOURCE_DIR}/guest/device-dax model)

# --- the example programs as they were built, on rxe
vm_command(rxe replicate ${CMAKE_CURRENT_SOURCE_DIR}/guest/replicate)

# --- both implementations, or libraries with and without native operations, on rxe
set(debian ${RPMA_DEBIAN_LIBRARY})
set(plain ${RPMA_VM_PLAIN_LIBRARY})
set(ours $<TARGET_FILE:librpma::librpma>)
vm_case(mixed plain_client_ours flush_only_region ARGS works PAIR --library-server ${ours} --library-client ${plain})
vm_case(mixed debian_client_ours flush_only_region ARGS works PAIR --library-server ${ours} --library-client ${debian})
# What the other implementation gets wrong: a region for flushes only cannot be flushed by a read.
vm_case(mixed plain_client_debian flush_only_region ARGS refused PAIR --library-server ${debian} --library-client ${plain})
vm_case(mixed plain_client_debian_region make_connection ARGS made PAIR --library-server ${debian} --library-client ${plain})

# --- iWARP
vm_case(siw ours_connects make_connection ARGS made PAIR --library ${ours})
vm_case(siw debian_does_not_connect make_connection ARGS refused PAIR --library-client ${debian})
