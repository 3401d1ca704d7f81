// SPDX-License-Identifier: BSD-3-Clause
#include "memory/device_dax.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "memory/probe.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace fabric::memory {

namespace {

constexpr std::uint64_t kUsualAlignment = 2U << 20;

using Path = std::array<char, PATH_MAX>;

Path path_of(dev_t device, const char* sysfs, const char* name) {
    Path path{};
    std::snprintf(path.data(), path.size(), "%s/dev/char/%u:%u/%s", sysfs, major(device),
                  minor(device), name);
    return path;
}

std::optional<std::uint64_t> number_in(const Path& path) {
    std::array<char, 32> text{};
    const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return std::nullopt;
    }
    const ssize_t size = read(fd, text.data(), text.size());
    close(fd);
    std::uint64_t value = 0;
    const char* const end = text.data() + (size > 0 ? size : 0);
    const bool is_number = std::from_chars(text.data(), end, value).ec == std::errc{};
    return is_number && std::has_single_bit(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> dax_alignment(dev_t device, const char* sysfs) {
    Path target{};
    const ssize_t length =
        readlink(path_of(device, sysfs, "subsystem").data(), target.data(), target.size());
    const std::string_view subsystem(target.data(),
                                     static_cast<std::size_t>(length > 0 ? length : 0));
    if (subsystem.substr(subsystem.rfind('/') + 1) != "dax") {
        return std::nullopt;
    }
    for (const char* name : {"align", "device/align"}) {  // the latter before Linux 5.1
        if (const auto alignment = number_in(path_of(device, sysfs, name))) {
            return alignment;
        }
    }
    return kUsualAlignment;
}

bool write_back(const std::byte* address, std::size_t length) {
    if (!readable(address, length)) {
        return false;
    }
#if defined(__x86_64__)
    constexpr std::uintptr_t kLine = 64;
    const std::byte* const end = address + length;
    const auto before = reinterpret_cast<std::uintptr_t>(address) & (kLine - 1);
    for (const std::byte* line = address - before; line < end; line += kLine) {
        _mm_clflush(line);
    }
    _mm_sfence();
    return true;
#else
    return false;
#endif
}

}  // namespace fabric::memory
