// SPDX-License-Identifier: BSD-3-Clause
// Makes a failing example smaller: keeps more and more of what it has lost, as long as the check
// fails.
#pragma once

#include <nlohmann/json.hpp>

#include "crash/options.hpp"
#include "crash/workload.hpp"

namespace launcher::crash {

// `example` is of the case `which`. Takes options.shrink runs at most; a run that cannot be made
// proves nothing.
nlohmann::json shrink(const Options& options, const Workload& workload, const Case& which,
                      const nlohmann::json& example);

}  // namespace launcher::crash
