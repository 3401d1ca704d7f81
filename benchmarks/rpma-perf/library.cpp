// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "error.hpp"
#include "machine.hpp"

namespace perf {
namespace {

constexpr const char* kMark = "RPMA_PERF_LIBRARY";  // of the second start

void check_loadable(const std::string& path) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        fail("--library: {}", dlerror());
    }
    if (dlsym(handle, "rpma_peer_new") == nullptr ||
        dlsym(handle, "rpma_atomic_write") == nullptr) {
        fail("--library {}: is no librpma 1.0 or later", path);
    }
    dlclose(handle);
}

}  // namespace

void use_library(const std::string& path, char** argv) {
    if (path.empty()) {
        return;
    }
    std::error_code error;
    const std::string wanted = std::filesystem::canonical(path, error).string();
    if (error) {
        fail("--library {}: {}", path, error.message());
    }
    if (wanted == librpma_path()) {
        return;
    }
    if (std::getenv(kMark) != nullptr) {
        fail("--library {}: the dynamic loader took {} instead; its SONAME must be librpma.so.0",
             path, librpma_path());
    }
    check_loadable(wanted);
    if (wanted.find_first_of(": ") != std::string::npos) {
        fail("--library {}: LD_PRELOAD cannot carry a path with a space or a colon", path);
    }
    const char* const before = std::getenv("LD_PRELOAD");
    const std::string list =
        before != nullptr && *before != '\0' ? fmt::format("{}:{}", before, wanted) : wanted;
    (void)setenv("LD_PRELOAD", list.c_str(), 1);
    (void)setenv(kMark, wanted.c_str(), 1);
    execv("/proc/self/exe", argv);
    fail("--library {}: cannot start again: {}", path, errno_text());
}

}  // namespace perf
