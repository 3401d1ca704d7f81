// SPDX-License-Identifier: BSD-3-Clause
#include "local.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "child.hpp"
#include "error.hpp"
#include "perf_config.hpp"

namespace perf {
namespace {

constexpr const char* kMark = "RPMA_PERF_ON_FABRIC";  // of the second start
constexpr const char* kAddress = "127.0.0.1";
constexpr const char* kSelf = "/proc/self/exe";

namespace fs = std::filesystem;

// Beside this program where both are installed, in its place in a build, or by PATH.
std::string find_launcher() {
    std::error_code error;
    const fs::path here = fs::read_symlink(kSelf, error).parent_path();
    for (const fs::path& path : {here / "rpma-fabric", here / config::kLauncherFromBuild}) {
        if (access(path.c_str(), X_OK) == 0) {
            return path.lexically_normal().string();
        }
    }
    return "rpma-fabric";
}

[[noreturn]] void start_again(const LocalOptions& local, char** argv) {
    const std::string launcher = find_launcher();
    std::error_code error;
    const std::string self = fs::read_symlink(kSelf, error).string();
    std::vector<std::string> words{launcher, "run"};
    if (!local.native.empty()) {
        words.insert(words.end(), {"--native", local.native});
    }
    if (!local.mtu.empty()) {
        words.insert(words.end(), {"--mtu", local.mtu});
    }
    words.insert(words.end(), {"--", self});
    for (char** argument = argv + 1; *argument != nullptr; argument++) {
        words.emplace_back(*argument);
    }
    (void)setenv(kMark, "1", 1);
    execvp(launcher.c_str(), c_strings(words).data());
    fail("{}: {}; it starts the software device, and comes with the package rpma-fabric", launcher,
         errno_text());
}

std::vector<std::string> server_command(const ServerOptions& server) {
    std::vector<std::string> words{
        kSelf,    "server", "--address",     kAddress,
        "--port", "0",      "--memory-size", std::to_string(server.memory.size)};
    if (!server.memory.path.empty()) {
        words.insert(words.end(), {"--memory", server.memory.path});
    }
    if (server.memory.direct_write) {
        words.emplace_back("--direct-write");
    }
    return words;
}

// From "listening on ADDRESS port N, ..."
int port_in(const std::string& line) {
    constexpr std::string_view kBefore = " port ";
    const std::size_t at = line.find(kBefore);
    int port = 0;
    if (at != std::string::npos) {
        std::from_chars(line.data() + at + kBefore.size(), line.data() + line.size(), port);
    }
    return port;
}

}  // namespace

void go_on_fabric(const LocalOptions& local, char** argv) {
    if (std::getenv(kMark) == nullptr) {
        start_again(local, argv);
    }
}

int run_local(const ServerOptions& server, RunOptions run) {
    constexpr int kStartMs = 10'000;
    Child child(server_command(server));
    const std::string line = child.read_line(kStartMs);
    run.host = kAddress;
    run.port = port_in(line);
    if (run.port == 0) {
        fail("the server did not start");
    }
    return run_client(run);
}

}  // namespace perf
