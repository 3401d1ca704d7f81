# SPDX-License-Identifier: BSD-3-Clause
# The same scenarios with the other implementation of the API, Debian's librpma0, on the server's side, the client's side and
# both. The library is chosen when the programs are started; nothing is built against it.
set(rpma_debian_root ${CMAKE_CURRENT_BINARY_DIR}/debian)
set(RPMA_DEBIAN_LIBRARY "" CACHE FILEPATH "The other implementation, if it is there already; else 1.2.0 is fetched")
set(rpma_debian_library ${rpma_debian_root}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/librpma.so.0)
if(RPMA_DEBIAN_LIBRARY)
  set(rpma_debian_library ${RPMA_DEBIAN_LIBRARY})
endif()
set(rpma_debian_library ${rpma_debian_library} CACHE INTERNAL "for tests of other directories, with fixture debian_librpma")
add_test(NAME interop.fetch_debian_library
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fetch_debian_library.sh ${rpma_debian_root} ${rpma_debian_library})
set_tests_properties(interop.fetch_debian_library PROPERTIES
  FIXTURES_SETUP debian_librpma LABELS "integration;interop" TIMEOUT 120)

# What holds for both implementations: scenarios about the defects of the other one are not among these.
set(rpma_interop_scenarios
  atomic_write both_directions_two_threads client_before_server disconnect_order event_without_completion
  flush_completion_on_error_only flush_types forked_child immediate_data large_transfer private_data_life
  records_survive_the_server rejected_request repeated_connections send_recv_sizes send_waits_for_receive
  separate_receive_queue server_killed shared_completion_channel shared_receive_queue sleeping_target
  write_read_sizes zero_length)
set(rpma_ours $<TARGET_FILE:librpma::librpma>)

function(rpma_interop_test name)
  set(args)
  set(pair)
  if(name MATCHES "killed|survive")
    set(pair --exit-server killed)
  endif()
  if(name STREQUAL "server_killed")
    set(args transfer)
  elseif(name STREQUAL "disconnect_order")
    set(args both)
  elseif(name STREQUAL "shared_receive_queue")
    set(pair --clients 2)
  endif()
  rpma_pair_test(NAME interop.debian_server.${name} SCENARIO ${name} ARGS ${args} LABELS interop FIXTURE debian_librpma
                 PAIR ${pair} --library-server ${rpma_debian_library} --library-client ${rpma_ours})
  rpma_pair_test(NAME interop.debian_client.${name} SCENARIO ${name} ARGS ${args} LABELS interop FIXTURE debian_librpma
                 PAIR ${pair} --library-server ${rpma_ours} --library-client ${rpma_debian_library})
  rpma_pair_test(NAME interop.debian_both.${name} SCENARIO ${name} ARGS ${args} LABELS interop FIXTURE debian_librpma
                 PAIR ${pair} --library ${rpma_debian_library})
endfunction()
foreach(name IN LISTS rpma_interop_scenarios)
  rpma_interop_test(${name})
endforeach()
