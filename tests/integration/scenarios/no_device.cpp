// SPDX-License-Identifier: BSD-3-Clause
// A machine without an RDMA device: looking one up fails at once, with a provider error and a log
// line that names the cause. One process: the client role does nothing.
#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "common/session.hpp"

namespace {

std::string& log_text() {
    static std::string text;
    return text;
}

[[gnu::format(printf, 5, 6)]] void keep_log(rpma_log_level, const char*, const int, const char*,
                                            const char* format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): started in the line above
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_text() += line;
}

bool machine_has_device() {
    int count = 0;
    ibv_device** devices = ibv_get_device_list(&count);
    if (devices != nullptr) {
        ibv_free_device_list(devices);
    }
    return count > 0;
}

}  // namespace

void server(it::Role&) {
    if (machine_has_device()) {
        it::skip("this machine has an RDMA device");
    }
    CHECK_OK(rpma_log_set_function(keep_log));
    for (const char* address : {"127.0.0.1", "::1", "localhost", "192.0.2.1"}) {
        for (const auto side : {RPMA_UTIL_IBV_CONTEXT_LOCAL, RPMA_UTIL_IBV_CONTEXT_REMOTE}) {
            log_text().clear();
            auto* untouched = reinterpret_cast<ibv_context*>(&log_text());
            ibv_context* device = untouched;
            CHECK_CODE(rpma_utils_get_ibv_context(address, side, &device), RPMA_E_PROVIDER);
            CHECK(device == untouched);
            std::fputs(log_text().c_str(), stderr);
            CHECK(log_text().find("no RDMA device") != std::string::npos);
            CHECK(log_text().find("rpma-fabric run --") != std::string::npos);
            CHECK_EQ(std::count(log_text().begin(), log_text().end(), '\n'), 1);
        }
    }
}

void client(it::Role&) {}
