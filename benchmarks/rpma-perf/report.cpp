// SPDX-License-Identifier: BSD-3-Clause
#include "page.hpp"
#include "writers.hpp"

namespace perf {
namespace {

// Text for inside of <script>: nothing in it may end the element.
std::string for_script(std::string text) {
    std::size_t at = 0;
    while ((at = text.find('<', at)) != std::string::npos) {
        text.replace(at, 1, "\\u003c");
    }
    return text;
}

void put(std::string& page, std::string_view mark, std::string_view content) {
    page.replace(page.find(mark), mark.size(), content);
}

}  // namespace

std::string as_report(const std::vector<Named>& all) {
    nlohmann::json data = nlohmann::json::array();
    for (const Named& one : all) {
        data.push_back({{"name", one.name}, {"results", one.results}});
    }
    std::string page(page::kFrame);
    put(page, "/*STYLE*/", page::kStyle);
    put(page, "/*LIBRARY*/", page::kLibrary);
    put(page, "/*SCRIPT*/", page::kScript);
    put(page, "/*DATA*/",
        for_script(data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
    return page;
}

}  // namespace perf
