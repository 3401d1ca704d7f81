// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mappings.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "memory/device_dax.hpp"
#include "memory/maps_reader.hpp"
#include "memory/pages.hpp"

namespace fabric::memory {

namespace {

// Where /proc is not mounted: MS_ASYNC starts no output, but the kernel walks the range and reports
// holes. Permissions stay unknown.
Mapped check_holes(const void* base, std::uint64_t length) {
    const PageRange pages = pages_of(base, length);
    return {::msync(pages.begin, pages.length, MS_ASYNC) == 0 ? 0 : EFAULT, true};
}

bool is_device_dax(const Mapping& mapping) {
    if (!mapping.shared_file || !mapping.path.starts_with("/dev/")) {
        return false;
    }
    struct stat named {};
    return stat(std::string(mapping.path).c_str(), &named) == 0 && S_ISCHR(named.st_mode) &&
           dax_alignment(named.st_rdev).has_value();
}

}  // namespace

Mapped check_mapped(const void* base, std::uint64_t length, bool writable) {
    std::uint64_t at = reinterpret_cast<std::uintptr_t>(base);
    const std::uint64_t end = at + length;
    MapsReader maps;
    if (!maps.opened()) {
        return check_holes(base, length);
    }
    Mapped result;
    while (at < end) {
        const auto mapping = maps.next();
        if (!mapping || mapping->begin > at) {
            return {EFAULT};
        }
        if (mapping->end <= at) {
            continue;
        }
        if (!mapping->readable || (writable && !mapping->writable)) {
            return {EFAULT};
        }
        result.shared_file = result.shared_file || mapping->shared_file;
        result.device_dax = result.device_dax || is_device_dax(*mapping);
        at = mapping->end;
    }
    return result;
}

}  // namespace fabric::memory
