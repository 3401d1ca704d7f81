// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "elf.hpp"

namespace launcher {
namespace {

constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";
constexpr int kMaxInterpreters =
    4;  // scripts whose interpreter is a script; the kernel has the same limit

bool is_executable_file(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           access(path.c_str(), X_OK) == 0;
}

std::string search_path(const std::string& name) {
    const char* list = std::getenv("PATH");
    std::istringstream directories(list != nullptr ? list : kDefaultPath);
    std::string not_executable;
    for (std::string directory; std::getline(directories, directory, ':');) {
        std::string path = (directory.empty() ? "." : directory) + "/" + name;
        if (is_executable_file(path)) {
            return path;
        }
        if (not_executable.empty() && access(path.c_str(), F_OK) == 0) {
            not_executable = path;
        }
    }
    return not_executable;
}

// The kernel sets AT_SECURE for such a program, and the loader then drops LD_PRELOAD.
const char* gained_privilege(const std::string& path, const struct stat& info) {
    if ((info.st_mode & S_ISUID) != 0 && info.st_uid != getuid()) {
        return "is set-user-ID";
    }
    if ((info.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && info.st_gid != getgid()) {
        return "is set-group-ID";
    }
    if (geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
        return "has file capabilities";
    }
    return nullptr;
}

tl::unexpected<Failure> cannot(const std::string& path, const char* why) {
    return failure(kExitNotExecutable, fmt::format("{}: {}", path, why));
}

Result<std::string> check_file(const std::string& path, int interpreters_left);

Result<std::string> check_content(const std::string& path, int interpreters_left) {
    std::string interpreter;
    switch (inspect(path, &interpreter)) {
        case FileKind::Static:
            return cannot(
                path,
                "is statically linked, so LD_PRELOAD has no effect and the fabric cannot reach it; "
                "link it dynamically with libibverbs and librdmacm");
        case FileKind::Foreign:
            return cannot(path,
                          "is built for another machine or word size than the fabric's library");
        case FileKind::Library:
            return cannot(path, "is a shared library, not a program");
        case FileKind::Script:
            if (interpreters_left == 0 || interpreter.empty()) {
                return cannot(path, "is a script without a usable interpreter");
            }
            if (auto checked = check_file(interpreter, interpreters_left - 1); !checked) {
                return failure(kExitNotExecutable, fmt::format("{}: its interpreter {}", path,
                                                               checked.error().message));
            }
            return path;
        case FileKind::Dynamic:
        case FileKind::Unreadable:  // may be executable all the same
        case FileKind::Other:       // execvp(3) hands it to the shell
            return path;
    }
    return path;
}

Result<std::string> check_file(const std::string& path, int interpreters_left) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
        const int error = errno;
        return failure(error == ENOENT || error == ENOTDIR ? kExitNotFound : kExitNotExecutable,
                       fmt::format("{}: {}", path, std::strerror(error)));
    }
    if (S_ISDIR(info.st_mode)) {
        return cannot(path, "is a directory");
    }
    if (access(path.c_str(), X_OK) != 0) {
        return cannot(path, "is not executable (Permission denied)");
    }
    if (const char* how = gained_privilege(path, info)) {
        return failure(
            kExitNotExecutable,
            fmt::format(
                "{}: {}, and the dynamic loader ignores LD_PRELOAD for such programs; start "
                "rpma-fabric with those rights instead (e.g. sudo rpma-fabric run -- ...)",
                path, how));
    }
    return check_content(path, interpreters_left);
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
    const std::string path = name.find('/') == std::string::npos ? search_path(name) : name;
    if (path.empty()) {
        return failure(kExitNotFound, fmt::format("{}: command not found", name));
    }
    return check_file(path, kMaxInterpreters);
}

}  // namespace launcher
