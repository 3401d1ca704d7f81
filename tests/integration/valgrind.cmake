# SPDX-License-Identifier: BSD-3-Clause
# Both roles under Valgrind: memcheck, and Helgrind for what has threads.
find_program(RPMA_VALGRIND valgrind REQUIRED)
set(rpma_memcheck "${RPMA_VALGRIND} -q --vgdb=no --fair-sched=try --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
--errors-for-leak-kinds=definite,indirect --track-fds=no --suppressions=${CMAKE_CURRENT_SOURCE_DIR}/valgrind.supp")
foreach(name IN ITEMS
    atomic_write client_before_server descriptor_alignment event_without_completion events_follow_the_id
    fenced_write_after_read flush_at_region_end flush_types full_send_queue gather_and_scatter immediate_data inline_data
    local_protection_errors memory_advice nonblocking_descriptors parents_deleted_first private_data_lengths private_data_life
    ranges_are_checked receive_only_region rejected_request remote_access_errors request_is_gone_after_connect
    send_recv_sizes send_waits_for_receive separate_receive_queue shared_completion_channel solicited_events
    write_read_sizes zero_length)
  rpma_pair_test(NAME valgrind.${name} SCENARIO ${name} SCALE 6 LABELS valgrind PAIR --wrap ${rpma_memcheck})
endforeach()
rpma_pair_test(NAME valgrind.shared_receive_queue SCENARIO shared_receive_queue SCALE 6 LABELS valgrind
               PAIR --wrap ${rpma_memcheck} --clients 2)
rpma_pair_test(NAME valgrind.server_killed SCENARIO server_killed ARGS later SCALE 6 LABELS valgrind
               PAIR --wrap ${rpma_memcheck} --exit-server killed)

set(rpma_helgrind "${RPMA_VALGRIND} --tool=helgrind -q --vgdb=no --fair-sched=try --error-exitcode=99 \
--suppressions=${CMAKE_CURRENT_SOURCE_DIR}/helgrind.supp")
foreach(name IN ITEMS both_directions_two_threads sixteen_threads)
  rpma_pair_test(NAME helgrind.${name} SCENARIO ${name} SCALE 6 LABELS valgrind PAIR --wrap ${rpma_helgrind})
endforeach()
