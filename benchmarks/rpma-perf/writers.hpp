// SPDX-License-Identifier: BSD-3-Clause
// Results as people and programs read them.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace perf {

std::string as_table(const Results& results);
std::string as_json(const Results& results);
std::string as_csv(const Results& results);  // a line for each run

// One HTML page that needs no network, of one or several results, each with a name.
struct Named {
    std::string name;
    Results results;
};
std::string as_report(const std::vector<Named>& all);

}  // namespace perf
