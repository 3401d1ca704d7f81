// SPDX-License-Identifier: BSD-3-Clause
#include "log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "uncancellable.hpp"

namespace fabric {
namespace {

constexpr std::array<const char*, 4> kNames = {"error", "warning", "info", "debug"};

void write_whole(int fd, const char* text, std::size_t size) {
    while (size > 0) {
        const ssize_t written = write(fd, text, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        size -= static_cast<std::size_t>(written);
    }
}

int open_log() {
    const Config& settings = config();
    int fd = STDERR_FILENO;
    if (!settings.log_file.empty()) {
        const int file =
            open(settings.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (file >= 0)
            fd = file;
    }
    if (!settings.complaint.empty()) {
        std::array<char, 256> line{};
        const int size = std::snprintf(line.data(), line.size(),
                                       "rpma-fabric: warning: %s; the default is used\n",
                                       settings.complaint.c_str());
        write_whole(fd, line.data(), std::min(line.size() - 1, static_cast<std::size_t>(size)));
    }
    return fd;
}

int log_descriptor() {
    static const int fd = open_log();
    return fd;
}

}  // namespace

bool log_enabled(LogLevel level) {
    return level <= config().log_level;
}

void log(LogLevel level, const char* format, ...) {
    if (!log_enabled(level))
        return;
    const Uncancellable guarded;
    const int saved = errno;
    std::array<char, 1024> line{};
    int used = std::snprintf(line.data(), line.size(), "rpma-fabric[%d]: %s: ", getpid(),
                             kNames[static_cast<std::size_t>(level)]);
    va_list arguments;
    va_start(arguments, format);
    used += std::vsnprintf(line.data() + used, line.size() - static_cast<std::size_t>(used), format,
                           arguments);
    va_end(arguments);
    const std::size_t size = std::min(static_cast<std::size_t>(used), line.size() - 2);
    line[size] = '\n';
    write_whole(log_descriptor(), line.data(), size + 1);
    errno = saved;
}

}  // namespace fabric
