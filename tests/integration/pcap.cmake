# SPDX-License-Identifier: BSD-3-Clause
# What --pcap records, read by tshark: recorded sessions of scenarios. Not zero_length: tshark 4.0 calls any SEND without payload
# malformed, whoever sent it.
rpma_scenarios(it_verbs every_operation)

function(rpma_pcap_test name)
  add_test(NAME integration.pcap.${name} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/pcap.py ${ARGN})
  set_tests_properties(integration.pcap.${name} PROPERTIES LABELS integration TIMEOUT 240 SKIP_RETURN_CODE 77
    ENVIRONMENT RPMA_TEST_TIME_SCALE=${rpma_time_scale})
endfunction()
rpma_pcap_test(every_operation exact $<TARGET_FILE:it_pair> ${rpma_launcher} $<TARGET_FILE:it_every_operation>)

# rpma_pcap_sound_test(scenario "display filter of what must be there" [pair options…] [-- arguments…])
function(rpma_pcap_sound_test scenario wanted)
  rpma_pcap_test(${scenario} sound $<TARGET_FILE:it_pair> ${rpma_launcher} ${wanted} $<TARGET_FILE:it_${scenario}> ${ARGN})
endfunction()
rpma_pcap_sound_test(remote_access_errors "infiniband.aeth.syndrome.error_code == 2")
rpma_pcap_sound_test(send_waits_for_receive "infiniband.aeth.syndrome >= 0x20 && infiniband.aeth.syndrome < 0x40")
rpma_pcap_sound_test(rejected_request "infiniband.mad.attributeid == 0x0012")
rpma_pcap_sound_test(atomic_write "infiniband.bth.opcode == 0x1d")
rpma_pcap_sound_test(write_read_sizes "ipv6 && infiniband.bth.opcode == 0x0a" --listen-address ::1 --connect-address ::1)
rpma_pcap_sound_test(forked_child "infiniband.mad.attributeid == 0x0010")
