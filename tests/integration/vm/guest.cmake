# SPDX-License-Identifier: BSD-3-Clause
# The build in the guest's root: each case is a test that the guest's runner takes from ctest's list.
function(vm_case suite name scenario)
  cmake_parse_arguments(t "" "" "ARGS;PAIR;PREFIX" ${ARGN})
  rpma_pair_test(NAME guest_${suite}.${name} SCENARIO ${scenario} NO_LAUNCHER SCALE 1
                 ARGS ${t_ARGS} PAIR ${t_PAIR} PREFIX ${t_PREFIX})
endfunction()

# vm_command(SUITE NAME command…)
function(vm_command suite name)
  add_test(NAME guest_${suite}.${name} COMMAND ${ARGN})
endfunction()
