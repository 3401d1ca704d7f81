// SPDX-License-Identifier: BSD-3-Clause
// msync, fsync, fdatasync, syncfs, sync: where memory is no persistent memory they persist.
#include <sys/mman.h>

#include <cstddef>

#include "calls/following.hpp"
#include "memory/persistence/door.hpp"

using namespace fabric::calls;
using namespace fabric::memory;

namespace {

bool told() {
    return persistence::on() && !persistence::Inside::is();
}

}  // namespace

FABRIC_CALL int msync(void* address, std::size_t length, int flags) {
    static auto* const next = following<int(void*, std::size_t, int)>("msync");
    const int result = next(address, length, flags);
    if (result == 0 && (flags & MS_SYNC) != 0 && told()) {
        persistence::persisted_pages(address, length);
    }
    return result;
}

FABRIC_CALL int fsync(int fd) {
    static auto* const next = following<int(int)>("fsync");
    const int result = next(fd);
    if (result == 0 && told()) {
        persistence::persisted_file(fd);
    }
    return result;
}

FABRIC_CALL int fdatasync(int fd) {
    static auto* const next = following<int(int)>("fdatasync");
    const int result = next(fd);
    if (result == 0 && told()) {
        persistence::persisted_file(fd);
    }
    return result;
}

FABRIC_CALL int syncfs(int fd) noexcept {
    static auto* const next = following<int(int)>("syncfs");
    const int result = next(fd);
    if (result == 0 && told()) {
        persistence::persisted_file_system(fd);
    }
    return result;
}

FABRIC_CALL void sync() noexcept {
    static auto* const next = following<void()>("sync");
    next();
    if (told()) {
        persistence::persisted_everything();
    }
}
