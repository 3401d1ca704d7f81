# SPDX-License-Identifier: BSD-3-Clause
# Many connections, many operations. The numbers are counts; how long it takes is asserted nowhere. Longer runs, by hand:
#   it_pair --launcher RPMA_FABRIC --timeout 700 it_mixed_operations 600
# With a sanitizer there are fewer: each connection costs many times as much.
set(rpma_load_many 1000)
set(rpma_load_rounds 10000)
if(NOT rpma_time_scale EQUAL 1)
  set(rpma_load_many 100)
  set(rpma_load_rounds 500)
endif()
rpma_pair_test(NAME load.many_connections SCENARIO many_connections ARGS ${rpma_load_many} LABELS load TIMEOUT 120)
rpma_pair_test(NAME load.connections_at_once SCENARIO connections_at_once ARGS 200 LABELS load)
rpma_pair_test(NAME load.repeated_connections SCENARIO repeated_connections ARGS ${rpma_load_rounds} LABELS load TIMEOUT 300)
rpma_pair_test(NAME load.one_peer_stalls SCENARIO one_peer_stalls LABELS load PAIR --clients 2)
rpma_pair_test(NAME load.mixed_operations SCENARIO mixed_operations ARGS 5 LABELS load)
rpma_pair_test(NAME load.mixed_operations.emulated SCENARIO mixed_operations ARGS 3 2 LABELS load
               PAIR --env RPMA_FABRIC_NATIVE=none)
