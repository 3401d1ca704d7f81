// SPDX-License-Identifier: BSD-3-Clause
// Reports as JSON, made readable.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace launcher {

// One line and its explanation per finding of a list of a report.
std::string text_of_findings(const nlohmann::json& findings);

std::string text_of(const nlohmann::json& report);

// Nothing is missing and nothing wrong was declared.
bool clean(const nlohmann::json& report);

}  // namespace launcher
