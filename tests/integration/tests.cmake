# SPDX-License-Identifier: BSD-3-Clause
# How the scenarios are run. Labels: integration (all), interop, foreign, valgrind.
set(rpma_launcher $<TARGET_FILE:rpma-fabric>)

# Slow tools get more time, and every limit inside the scenarios grows with it.
set(rpma_time_scale 1)
if(RPMA_SANITIZER OR RPMA_VM_GUEST)
  set(rpma_time_scale 4)
endif()

# rpma_pair_test(NAME name SCENARIO scenario [ARGS word…] [PAIR driver option…] [NO_LAUNCHER] [TIMEOUT seconds] [SCALE n]
#                [LABELS label…] [FIXTURE name] [PREFIX command…])
function(rpma_pair_test)
  cmake_parse_arguments(t "NO_LAUNCHER" "NAME;SCENARIO;TIMEOUT;SCALE;FIXTURE" "ARGS;PAIR;LABELS;PREFIX" ${ARGN})
  if(NOT t_TIMEOUT)
    set(t_TIMEOUT 60)
  endif()
  if(NOT t_SCALE)
    set(t_SCALE ${rpma_time_scale})
  endif()
  set(launcher --launcher ${rpma_launcher})
  if(t_NO_LAUNCHER)
    set(launcher)
  endif()
  math(EXPR limit "${t_TIMEOUT} * ${t_SCALE}")
  math(EXPR ctest_limit "${limit} + 30")
  add_test(NAME ${t_NAME} COMMAND ${t_PREFIX} $<TARGET_FILE:it_pair> ${launcher} --timeout ${limit} ${t_PAIR}
                                  $<TARGET_FILE:it_${t_SCENARIO}> ${t_ARGS})
  set_tests_properties(${t_NAME} PROPERTIES
    LABELS "integration;${t_LABELS}" TIMEOUT ${ctest_limit} SKIP_RETURN_CODE 77
    ENVIRONMENT RPMA_TEST_TIME_SCALE=${t_SCALE})
  if(t_FIXTURE)
    set_tests_properties(${t_NAME} PROPERTIES FIXTURES_REQUIRED ${t_FIXTURE})
  endif()
endfunction()

# --- every scenario on the software device

# Plain ones: two processes that end well.
foreach(name IN ITEMS
    atomic_write both_directions_two_threads client_before_server completion_queue_overrun delete_without_disconnect
    deregistered_while_writing descriptor_alignment event_without_completion events_follow_the_id
    every_address_in_one_process fenced_write_after_read flush_at_region_end flush_completion_on_error_only flush_types
    forked_child full_send_queue gather_and_scatter huge_pages immediate_data inline_data interrupted_waits large_transfer local_protection_errors
    memory_advice misspelt_host nonblocking_descriptors parents_deleted_first private_data_lengths private_data_life ranges_are_checked receive_only_region
    registration_sizes rejected_request remote_access_errors repeated_connections request_is_gone_after_connect
    send_recv_sizes send_waits_for_receive separate_receive_queue shared_completion_channel sixteen_threads sleeping_target
    solicited_events write_read_sizes zero_length)
  rpma_pair_test(NAME integration.${name} SCENARIO ${name})
endforeach()

foreach(how IN ITEMS waiting transfer later)
  rpma_pair_test(NAME integration.server_killed.${how} SCENARIO server_killed ARGS ${how} PAIR --exit-server killed)
endforeach()
rpma_pair_test(NAME integration.client_killed SCENARIO client_killed PAIR --clients 2 --exit-client-0 killed)
foreach(who IN ITEMS server client)
  rpma_pair_test(NAME integration.stopped_process.${who} SCENARIO stopped_process ARGS ${who})
endforeach()
foreach(order IN ITEMS client both silent)
  rpma_pair_test(NAME integration.disconnect_order.${order} SCENARIO disconnect_order ARGS ${order})
endforeach()
foreach(place IN ITEMS tmp shm)
  rpma_pair_test(NAME integration.records_survive_the_server.${place} SCENARIO records_survive_the_server ARGS ${place}
                 PAIR --exit-server killed)
endforeach()
rpma_pair_test(NAME integration.garbage_on_the_port SCENARIO garbage_on_the_port PAIR --clients 2)
rpma_pair_test(NAME integration.listen_again SCENARIO listen_again)
rpma_pair_test(NAME integration.listen_again.processes SCENARIO listen_again ARGS processes)
rpma_pair_test(NAME integration.many_clients SCENARIO many_clients PAIR --clients 64 TIMEOUT 120)
rpma_pair_test(NAME integration.remote_atomics SCENARIO remote_atomics PAIR --clients 4)
rpma_pair_test(NAME integration.shared_receive_queue SCENARIO shared_receive_queue PAIR --clients 2)
rpma_pair_test(NAME integration.no_device SCENARIO no_device NO_LAUNCHER)

# Flush and atomic write by reads and inline writes, as on devices without the native operations.
foreach(name IN ITEMS atomic_write flush_at_region_end flush_completion_on_error_only flush_types large_transfer
    sleeping_target write_read_sizes)
  rpma_pair_test(NAME integration.${name}.emulated SCENARIO ${name} PAIR --env RPMA_FABRIC_NATIVE=none)
endforeach()
# One side only has them. A client that flushes natively needs a server's device that does so too.
set(rpma_lone_sides client)
if(NOT RPMA_HAVE_NATIVE_FLUSH)
  list(APPEND rpma_lone_sides server)
endif()
foreach(side IN LISTS rpma_lone_sides)
  rpma_pair_test(NAME integration.atomic_write.emulated_${side} SCENARIO atomic_write
                 PAIR --env-${side} RPMA_FABRIC_NATIVE=none)
  rpma_pair_test(NAME integration.flush_types.emulated_${side} SCENARIO flush_types
                 PAIR --env-${side} RPMA_FABRIC_NATIVE=none)
endforeach()

# IPv6, another user, two network name spaces.
rpma_pair_test(NAME integration.write_read_sizes.ipv6 SCENARIO write_read_sizes
               PAIR --listen-address ::1 --connect-address ::1)
set(rpma_as_root ${CMAKE_CURRENT_SOURCE_DIR}/as_root_only.sh)
set(rpma_as_nobody --before "setpriv --reuid=65534 --regid=65534 --clear-groups")
rpma_pair_test(NAME integration.write_read_sizes.unprivileged SCENARIO write_read_sizes PREFIX ${rpma_as_root}
               PAIR ${rpma_as_nobody})
rpma_pair_test(NAME integration.records_survive_the_server.unprivileged SCENARIO records_survive_the_server
               PREFIX ${rpma_as_root} PAIR ${rpma_as_nobody} --exit-server killed)
set(rpma_in_namespaces ${rpma_as_root} ${CMAKE_CURRENT_SOURCE_DIR}/two_namespaces.sh)
foreach(name IN ITEMS write_read_sizes private_data_life)
  rpma_pair_test(NAME integration.${name}.namespaces SCENARIO ${name} PREFIX ${rpma_in_namespaces})
endforeach()
foreach(how IN ITEMS short long)
  rpma_pair_test(NAME integration.link_cut.${how} SCENARIO link_cut ARGS ${how} TIMEOUT 120 PREFIX ${rpma_in_namespaces})
endforeach()
rpma_pair_test(NAME integration.many_clients.namespaces SCENARIO many_clients PREFIX ${rpma_in_namespaces}
               PAIR --clients 16)

# --- what goes wrong because it was asked for
# rpma_faults_test(NAME name SIDE side FAULTS spec ARGS word…)
function(rpma_faults_test)
  cmake_parse_arguments(t "" "NAME;SIDE;FAULTS" "ARGS" ${ARGN})
  rpma_pair_test(NAME integration.asked_for_faults.${t_NAME} SCENARIO asked_for_faults ARGS ${t_ARGS}
                 PAIR --env-${t_SIDE} RPMA_FABRIC_FAULTS=${t_FAULTS})
endfunction()
rpma_faults_test(NAME drop SIDE client FAULTS drop@1/3 ARGS drop)
rpma_faults_test(NAME delay SIDE client FAULTS delay=20ms@50%,delay=1ms@1+)
rpma_faults_test(NAME cut_write SIDE client FAULTS cut-write@1/1 ARGS cut-write)
foreach(answer IN ITEMS operation access invalid)
  rpma_faults_test(NAME nak.${answer} SIDE server FAULTS nak=${answer}@1/2 ARGS nak ${answer})
endforeach()
rpma_faults_test(NAME rnr SIDE server FAULTS rnr@50% ARGS rnr)
rpma_faults_test(NAME unreachable SIDE client FAULTS unreachable@1 ARGS unreachable)
rpma_faults_test(NAME reject SIDE server FAULTS reject@1 ARGS reject)
rpma_faults_test(NAME refuse_mr SIDE client FAULTS refuse-mr=EFAULT@2 ARGS refuse-mr)
# A queue pair with native operations, and the one without that librpma tries then.
rpma_faults_test(NAME refuse_qp SIDE client FAULTS refuse-qp@1,refuse-qp=EINVAL@2 ARGS refuse-connection-parts)
rpma_faults_test(NAME refuse_cq SIDE client FAULTS refuse-cq@1 ARGS refuse-connection-parts)
add_test(NAME integration.asked_for_faults.same_seed COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/same_seed.sh
  $<TARGET_FILE:it_pair> --launcher ${rpma_launcher} $<TARGET_FILE:it_asked_for_faults> rnr)
set_tests_properties(integration.asked_for_faults.same_seed PROPERTIES LABELS integration TIMEOUT 180
  ENVIRONMENT RPMA_TEST_TIME_SCALE=${rpma_time_scale})

include(foreign.cmake)
include(load.cmake)
include(pcap.cmake)

# --- against Debian's librpma0 1.2.0, and under Valgrind: not with a sanitizer's runtime in the process
if(NOT RPMA_SANITIZER)
  include(interop.cmake)
  include(valgrind.cmake)
endif()
