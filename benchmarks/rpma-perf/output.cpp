// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

#include "error.hpp"
#include "unique_fd.hpp"

namespace perf {
namespace {

constexpr mode_t kMode = 0666;  // less the umask

// Devices and pipes are written to as they are.
bool is_replaceable(const std::string& path) {
    struct stat about {};
    return stat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode);
}

// 0 or errno.
int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        content.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
    return 0;
}

int write_to(const std::string& path, int flags, std::string_view content) {
    UniqueFd fd(open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, kMode));
    if (!fd) {
        return errno;
    }
    const int error = write_all(fd.get(), content);
    return error != 0 || !S_ISREG([&] {
               struct stat about {};
               (void)fstat(fd.get(), &about);
               return about.st_mode;
           }())
               ? error
               : (fsync(fd.get()) == 0 ? 0 : errno);
}

int replace(const std::string& path, std::string_view content) {
    const std::string scratch = fmt::format("{}.{}.new", path, getpid());
    int error = write_to(scratch, O_CREAT | O_TRUNC, content);
    if (error == 0 && std::rename(scratch.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        (void)unlink(scratch.c_str());
    }
    return error;
}

}  // namespace

void check_writable(const std::string& path) {
    if (path.empty() || path == "-") {
        return;
    }
    std::error_code error;
    const auto directory = std::filesystem::absolute(path, error).parent_path();
    if (std::filesystem::is_directory(path, error)) {
        fail("{}: {}", path, errno_text(EISDIR));
    }
    const bool exists = std::filesystem::exists(path, error);
    if (access(exists ? path.c_str() : directory.c_str(), W_OK) != 0) {
        fail("{}: {}", path, errno_text());
    }
}

void write_file(const std::string& path, std::string_view content) {
    int error = 0;
    if (path == "-") {
        (void)std::fflush(stdout);
        error = write_all(STDOUT_FILENO, content);
    } else {
        error = is_replaceable(path) ? replace(path, content) : write_to(path, 0, content);
    }
    if (error != 0) {
        fail("cannot write {}: {}", path == "-" ? "standard output" : path, errno_text(error));
    }
}

}  // namespace perf
