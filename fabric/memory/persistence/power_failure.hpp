// SPDX-License-Identifier: BSD-3-Clause
// The plug is pulled: this process stops, its files get what survives, it dies.
#pragma once

#include <string>

#include "memory/persistence/report.hpp"

namespace fabric::memory::persistence {

// `file` gets the report; empty: stderr has a summary only. Called with the account's lock held,
// which is never given back.
[[noreturn]] void fail_power(const Situation& now, const PowerFailure& how,
                             const std::string& file);

}  // namespace fabric::memory::persistence
