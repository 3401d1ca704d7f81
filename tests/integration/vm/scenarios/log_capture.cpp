// SPDX-License-Identifier: BSD-3-Clause
#include "vm/scenarios/log_capture.hpp"

#include <librpma.h>

#include <array>
#include <cstdarg>
#include <cstdio>

#include "common/rpma.hpp"

namespace it {
namespace {

std::vector<std::string>& errors() {
    static std::vector<std::string> list;
    return list;
}

[[gnu::format(printf, 5, 6)]] void keep(rpma_log_level level, const char*, int, const char*,
                                        const char* format, ...) {
    if (level > RPMA_LOG_LEVEL_ERROR) {
        return;
    }
    std::array<char, 2048> text{};
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "librpma says: %s\n", text.data());
    errors().emplace_back(text.data());
}

}  // namespace

void capture_log() {
    CHECK_OK(rpma_log_set_function(keep));
}

const std::vector<std::string>& errors_logged() {
    return errors();
}

void expect_one_error(const std::vector<std::string>& words) {
    CHECK_EQ(errors().size(), 1);
    for (const std::string& word : words) {
        if (errors().front().find(word) == std::string::npos) {
            FAIL("the error does not say '%s'", word.c_str());
        }
    }
}

}  // namespace it
