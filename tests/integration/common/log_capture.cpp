// SPDX-License-Identifier: BSD-3-Clause
#include "common/log_capture.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>

#include "common/rpma.hpp"

namespace it {
namespace {

[[gnu::format(printf, 5, 6)]] void keep(rpma_log_level, const char*, int, const char*,
                                        const char* format, ...) {
    std::array<char, 2048> text{};
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): started in the line above
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "librpma says: %s", text.data());
    logged().emplace_back(text.data());
}

}  // namespace

void capture_log(rpma_log_level level) {
    CHECK_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, level));
    CHECK_OK(rpma_log_set_function(keep));
}

std::vector<std::string>& logged() {
    static std::vector<std::string> lines;
    return lines;
}

void expect_one_error(const std::vector<std::string>& words) {
    CHECK_EQ(logged().size(), 1);
    for (const std::string& word : words) {
        if (logged().front().find(word) == std::string::npos) {
            FAIL("the error does not say '%s'", word.c_str());
        }
    }
}

}  // namespace it
