// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "elf.hpp"
#include "launcher_config.hpp"

namespace launcher {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates() {
    if (const char* named = std::getenv("RPMA_FABRIC_LIBRARY");
        named != nullptr && *named != '\0') {
        return {fs::absolute(named)};
    }
    std::error_code error;
    const fs::path own_directory = fs::read_symlink("/proc/self/exe", error).parent_path();
    return {(own_directory / config::kLibraryFromBuild).lexically_normal(),
            (own_directory / config::kLibraryFromInstall).lexically_normal()};
}

// The loader splits LD_PRELOAD at these and has no way to quote them.
bool can_be_preloaded(const std::string& path) {
    return path.find_first_of(" :") == std::string::npos;
}

Result<std::string> check(const std::string& path) {
    std::string interpreter;
    if (inspect(path, &interpreter) != FileKind::Library) {
        return failure(kExitFailure,
                       fmt::format("{}: is not a readable shared library for this machine", path));
    }
    if (!can_be_preloaded(path)) {
        return failure(
            kExitFailure,
            fmt::format(
                "{}: LD_PRELOAD cannot carry a path with a space or a colon; move the library",
                path));
    }
    return path;
}

}  // namespace

Result<std::string> find_library() {
    std::string tried;
    for (const fs::path& path : candidates()) {
        std::error_code error;
        if (fs::exists(path, error)) {
            return check(path.string());
        }
        tried += fmt::format("\n  looked for {}", path.string());
    }
    return failure(
        kExitFailure,
        fmt::format(
            "the fabric's library was not found; build it, or name it in RPMA_FABRIC_LIBRARY{}",
            tried));
}

std::string preload_list(const std::string& library, const char* existing) {
    std::string list;
    if (*config::kSanitizerRuntime != '\0') {
        list = fmt::format("{}:", config::kSanitizerRuntime);
    }
    list += library;
    if (existing != nullptr && *existing != '\0') {
        list += fmt::format(":{}", existing);
    }
    return list;
}

}  // namespace launcher
