// SPDX-License-Identifier: BSD-3-Clause
// The times that the five-bit code of an RNR NAK stands for (IBTA vol. 1, table 45).
#pragma once

#include <chrono>
#include <cstdint>

namespace fabric::rc {

std::chrono::microseconds rnr_delay(
    std::uint8_t code);  // of the code, only the low five bits count

}  // namespace fabric::rc
