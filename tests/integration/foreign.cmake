# SPDX-License-Identifier: BSD-3-Clause
# Programs that were not written for the fabric, as Debian ships them: ibverbs-utils, rdmacm-utils, perftest, fio, python3-pyverbs.
# Label: foreign.
#
# What the device does not have, by the functions of libibverbs and librdmacm: each is called, and each function they export is
# known to be answered or refused.
add_executable(it_refusals foreign/refusals.cpp foreign/refusals_verbs.cpp foreign/refusals_cm.cpp)
target_link_libraries(it_refusals PRIVATE rpma_warnings PkgConfig::IBVERBS PkgConfig::RDMACM)
add_test(NAME foreign.refusals COMMAND ${rpma_launcher} run -- $<TARGET_FILE:it_refusals>)
add_test(NAME foreign.exports
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/foreign/exports.sh $<TARGET_FILE:it_refusals> $<TARGET_FILE:rpma_fabric>)
set_tests_properties(foreign.refusals foreign.exports PROPERTIES LABELS "integration;foreign" TIMEOUT 60 SKIP_RETURN_CODE 77)

# Not with ThreadSanitizer: these programs race with themselves (rping destroys its event channel while its own thread comes back to
# it), their code is not instrumented, and such a report would say nothing about the fabric.
if(RPMA_SANITIZER STREQUAL "thread")
  return()
endif()

# What foreign programs leak is not our matter.
set(rpma_foreign_environment "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0")

# rpma_foreign_test(NAME name SERVER "command" CLIENT "command" [OPTIONS driver option…])
function(rpma_foreign_test)
  cmake_parse_arguments(t "" "NAME;SERVER;CLIENT" "OPTIONS" ${ARGN})
  math(EXPR limit "200 * ${rpma_time_scale}")
  math(EXPR ctest_limit "${limit} + 30")
  add_test(NAME foreign.${t_NAME}
    COMMAND it_foreign_pair --launcher ${rpma_launcher} --timeout ${limit}
      --server ${t_SERVER} --client ${t_CLIENT} ${t_OPTIONS})
  set_tests_properties(foreign.${t_NAME} PROPERTIES LABELS "integration;foreign" TIMEOUT ${ctest_limit}
    ENVIRONMENT "${rpma_foreign_environment}")
endfunction()

# --- ibverbs-utils: queue pairs made and connected by hand. With -c each message is compared.

# rpma_pingpong_test(program [words…])
function(rpma_pingpong_test program)
  string(REPLACE "ibv_" "" name ${program})
  list(JOIN ARGN " " words)
  string(REGEX REPLACE "[^a-z0-9]+" "" suffix "${words}")
  rpma_foreign_test(NAME ${name}.${suffix}
    SERVER "${program} -g 0 -p {port} -n 500 ${words}"
    CLIENT "${program} -g 0 -p {port} -n 500 ${words} {address}"
    OPTIONS --expect-server "remote address:.*QPN 0x.*500 iters in" --expect-client "remote address:.*QPN 0x.*500 iters in"
            --reject-server "invalid data|error" --reject-client "invalid data|error")
endfunction()
rpma_pingpong_test(ibv_rc_pingpong -s 4096)
rpma_pingpong_test(ibv_rc_pingpong -e -c)
rpma_pingpong_test(ibv_rc_pingpong -N -t)
rpma_pingpong_test(ibv_rc_pingpong -o -P)
rpma_pingpong_test(ibv_rc_pingpong -m 1024 -s 100000 -r 16)
rpma_pingpong_test(ibv_srq_pingpong -q 4)
rpma_pingpong_test(ibv_srq_pingpong -q 16 -e -c)
# Completion times are in order: a step back would show as a huge difference.
rpma_foreign_test(NAME rc_pingpong.times
  SERVER "ibv_rc_pingpong -g 0 -p {port} -n 5000 -t"
  CLIENT "ibv_rc_pingpong -g 0 -p {port} -n 5000 -t {address}"
  OPTIONS --expect-client "Max receive completion clock cycles" --reject-client "cycles = 184467440" --reject-server "cycles = 184467440")

# --- rdmacm-utils

# rping's client may come back to its event channel after it has destroyed it; then it ends with an error when all is done.
# rpma_rping_test(name "server words" "client words" [driver option…])
function(rpma_rping_test name server client)
  rpma_foreign_test(NAME rping.${name}
    SERVER "rping -s -a {address} -p {port} ${server}"
    CLIENT "rping -c -a {address} -p {port} ${client}"
    OPTIONS --reject-client "mismatch|error" --reject-server "mismatch|error"
            --excuse "rdma_get_cm_event: Bad file descriptor" ${ARGN})
endfunction()
rpma_rping_test(checked "-V -C 1000" "-V -C 1000")
rpma_rping_test(verbose "-V -v -C 10 -S 65535" "-V -v -C 10 -S 65535"
  --expect-client "ping data: rdma-ping-9" --expect-server "server ping data: rdma-ping-9")
rpma_rping_test(persistent "-P -V" "-V -C 10" --stop-server 15)
rpma_rping_test(debug "-d -V -C 10" "-d -V -C 10"
  --expect-client "rdma_connect successful" --expect-server "ESTABLISHED")
# -q: the program makes the queue pair and moves it through its states, on both sides or on one.
rpma_rping_test(own_queue_pairs "-q -V -C 50" "-q -V -C 50")
rpma_rping_test(own_queue_pair_of_server "-q -V -C 50 -S 60000" "-V -C 50 -S 60000")
rpma_rping_test(own_queue_pair_of_client "-V -C 50 -S 60000" "-q -V -C 50 -S 60000")

rpma_foreign_test(NAME ucmatose
  SERVER "ucmatose -p {port} -c 5 -C 10 -S 4000 -b {address}"
  CLIENT "ucmatose -p {port} -c 5 -C 10 -S 4000 -s {address}"
  OPTIONS --expect-client "data transfers complete.*return status 0" --expect-server "data transfers complete.*return status 0")
rpma_foreign_test(NAME ucmatose.migrate
  SERVER "ucmatose -p {port} -c 20 -C 3 -m -b {address}"
  CLIENT "ucmatose -p {port} -c 20 -C 3 -m -s {address}"
  OPTIONS --expect-client "migrating.*return status 0" --expect-server "migrating.*return status 0")
rpma_foreign_test(NAME rdma_client
  SERVER "rdma_server -p {port}" CLIENT "rdma_client -s {address} -p {port}"
  OPTIONS --expect-client "rdma_client: end 0" --expect-server "rdma_server: end 0")
rpma_foreign_test(NAME rdma_xclient
  SERVER "rdma_xserver -p {port} -c r" CLIENT "rdma_xclient -s {address} -p {port} -c r"
  OPTIONS --expect-client "rdma_xclient: end 0" --expect-server "rdma_xserver: end 0")
# cmtime's server asks for events for ever (its loop has no other way out than a failing rdma_get_cm_event), on every device.
rpma_foreign_test(NAME cmtime
  SERVER "cmtime -p {port} -c 100" CLIENT "cmtime -p {port} -c 100 -s {address}"
  OPTIONS --stop-server 15 --expect-client "connect.*disconnect.*destroy")

# --- perftest

set(rpma_perftest_line "#bytes +#iterations.*\n +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+")
# rpma_perftest(test [words…])
function(rpma_perftest test)
  list(JOIN ARGN " " words)
  string(REGEX REPLACE "[^A-Za-z0-9]+" "" suffix "${words}")
  rpma_foreign_test(NAME perftest.${test}.${suffix}
    SERVER "ib_${test} -F -p {port} ${words}"
    CLIENT "ib_${test} -F -p {port} ${words} {address}"
    OPTIONS --expect-client ${rpma_perftest_line} --reject-client "error|[Ff]ailed|Couldn" --reject-server "error|[Ff]ailed|Couldn")
endfunction()
foreach(test IN ITEMS write_lat write_bw read_lat read_bw send_lat send_bw atomic_lat atomic_bw)
  rpma_perftest(${test} -n 500)
  rpma_perftest(${test} -R -n 500)
endforeach()
foreach(test IN ITEMS read_lat read_bw send_lat send_bw atomic_lat atomic_bw) # those that write cannot wait for events
  rpma_perftest(${test} -e -n 500)
endforeach()
foreach(test IN ITEMS write_bw read_bw send_bw) # every size from 2 bytes to 8 MiB
  rpma_perftest(${test} -a -n 10)
endforeach()
# Those that measure latency take a second for each size to measure the CPU's clock first.
rpma_perftest(send_lat -a -n 10)
foreach(test IN ITEMS write_bw read_bw send_bw atomic_bw)
  rpma_perftest(${test} -q 8 -n 200)
  rpma_perftest(${test} -q 4 -R -n 200)
endforeach()
rpma_perftest(write_bw -b -q 2 -n 200) # both directions
rpma_perftest(send_bw -q 4 --use-srq -r 64 -n 200)
rpma_perftest(atomic_bw -A CMP_AND_SWAP -n 200)
rpma_perftest(send_lat -I 200 -s 200 -n 200)

# Until a signal comes. The server learns it by its TCP connection to the client (write, read), or waits on.
foreach(test IN ITEMS write_bw read_bw send_bw)
  rpma_foreign_test(NAME perftest.${test}.infinitely
    SERVER "stdbuf -oL ib_${test} -F -p {port} --run_infinitely -D 1"
    CLIENT "stdbuf -oL ib_${test} -F -p {port} --run_infinitely -D 1 {address}"
    OPTIONS --interrupt-client 2 --interrupt-at " 65536 " --stop-server 15 --exit-server 1
            --expect-client "65536 +[1-9]" --reject-client "error|[Ff]ailed")
endforeach()

# --- one process, or a result that has to be compared: scripts
foreach(suite IN ITEMS programs fio)
  add_test(NAME foreign.${suite} COMMAND ${RPMA_BATS} ${CMAKE_CURRENT_SOURCE_DIR}/foreign/${suite}.bats)
  set_tests_properties(foreign.${suite} PROPERTIES LABELS "integration;foreign" TIMEOUT 300
    ENVIRONMENT "RPMA_FABRIC=${rpma_launcher};${rpma_foreign_environment}")
endforeach()

# --- rdma-core's own tests of a device. The Python of Debian's packages, wherever else one may be.
add_test(NAME foreign.pyverbs COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/foreign/run_pyverbs.py ${rpma_launcher})
set_tests_properties(foreign.pyverbs PROPERTIES LABELS "integration;foreign" TIMEOUT 240 SKIP_RETURN_CODE 77
  ENVIRONMENT "${rpma_foreign_environment}")
