# SPDX-License-Identifier: BSD-3-Clause
# The tests as ctest on the host sees them: a fixture boots the guest for a suite, and each test reads its own result.
set(vm ${PROJECT_SOURCE_DIR}/utils/vm)
set(vm_results ${PROJECT_SOURCE_DIR}/build/vm/results)

# vm_step(NAME SECONDS command… [NEEDS fixture] [MAKES fixture]): a guest is ended, and its console shown, before ctest ends all.
function(vm_step name seconds)
  cmake_parse_arguments(t "" "NEEDS;MAKES" "" ${ARGN})
  math(EXPR ctest_limit "${seconds} + 60")
  add_test(NAME vm.${name} COMMAND ${vm} ${t_UNPARSED_ARGUMENTS})
  set_tests_properties(vm.${name} PROPERTIES LABELS vm TIMEOUT ${ctest_limit} ENVIRONMENT RPMA_VM_LIMIT=${seconds}
    FIXTURES_REQUIRED "${t_NEEDS}" FIXTURES_SETUP "${t_MAKES}")
endfunction()

# A suite is booted, its results are read, and then the number of skipped ones is judged.
function(vm_suite suite seconds)
  vm_step(boot.${suite} ${seconds} suite ${suite} NEEDS vm_build MAKES vm_${suite})
  vm_step(skipped.${suite} 10 skipped ${suite} NEEDS vm_${suite})
endfunction()

function(vm_result suite name)
  add_test(NAME vm.${suite}.${name} COMMAND ${vm} result ${suite} ${name})
  set_tests_properties(vm.${suite}.${name} PROPERTIES LABELS vm FIXTURES_REQUIRED vm_${suite} SKIP_RETURN_CODE 77)
endfunction()

function(vm_case suite name)
  vm_result(${suite} ${name})
endfunction()

function(vm_command suite name)
  vm_result(${suite} ${name})
endfunction()

# Whether not-in-guest leaves a test out of a suite.
function(vm_left_out suite name out)
  file(STRINGS not-in-guest lines REGEX "^(all|${suite}) ")
  set(${out} NO PARENT_SCOPE)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^[a-z]+ ([^ ]+) " _ "${line}")
    if(name MATCHES "^integration\\.(${CMAKE_MATCH_1})$")
      set(${out} YES PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# vm_results_of(SUITE PATTERN): the results of those integration tests whose names match, without what is left out.
function(vm_results_of suite pattern)
  get_property(names DIRECTORY .. PROPERTY TESTS)
  foreach(name IN LISTS names)
    vm_left_out(${suite} ${name} left_out)
    if(name MATCHES "^(${pattern})$" AND NOT left_out)
      string(REGEX REPLACE "^([^.]*)\\.(.*)$" "\\2" name ${name})
      vm_result(${suite} ${name})
    endif()
  endforeach()
endfunction()

vm_step(root 1500 root MAKES vm_root)
vm_step(build 1800 build NEEDS vm_root MAKES vm_build)
vm_step(unit 600 unit NEEDS vm_build)
vm_step(self_test 120 suite self NEEDS vm_build)
vm_suite(pmem 300)
vm_suite(rxe 600)
vm_suite(siw 600)
vm_suite(mixed 450)
vm_step(power_cut 600 power-cut 10 NEEDS vm_build)
vm_step(perf 400 perf NEEDS vm_build)
set_tests_properties(vm.perf PROPERTIES RUN_SERIAL ON)
vm_results_of(rxe "integration\\..*")
vm_results_of(siw "integration\\..*")
vm_results_of(mixed "interop\\.debian_(server|client)\\..*")
