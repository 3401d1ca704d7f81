# SPDX-License-Identifier: BSD-3-Clause
# Language levels, warnings and sanitizers, the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(rpma_warnings INTERFACE)
target_compile_definitions(rpma_warnings INTERFACE _GNU_SOURCE)
target_compile_options(rpma_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wformat=2 -Wconversion -Wsign-conversion -Wcast-align
  -Wundef -Wvla -Werror)

if(RPMA_SANITIZER)
  set(rpma_sanitize -fsanitize=${RPMA_SANITIZER} -fno-omit-frame-pointer)
  if(RPMA_SANITIZER MATCHES "undefined")
    list(APPEND rpma_sanitize -fno-sanitize-recover=undefined)
  endif()
  add_compile_options(${rpma_sanitize})
  add_link_options(${rpma_sanitize})
endif()
