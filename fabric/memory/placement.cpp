// SPDX-License-Identifier: BSD-3-Clause
#include "memory/placement.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "memory/device_dax.hpp"
#include "memory/pages.hpp"
#include "memory/persistence/door.hpp"
#include "memory/probe.hpp"
#include "memory/words.hpp"

namespace fabric::memory {

namespace {

constexpr std::uint8_t kPersistent = 2;

// Calls use(piece of the segment, offset in the whole) for each segment's share of [offset, offset
// + length). False as soon as one call gives false.
template <typename Use>
bool each_piece(Target target, std::size_t offset, std::size_t length, Use use) {
    std::size_t done = 0;
    for (const Segment& segment : target) {
        if (offset >= segment.length) {
            offset -= segment.length;
            continue;
        }
        const std::size_t piece = std::min(segment.length - offset, length - done);
        if (piece == 0) {
            break;
        }
        if (!use(std::span(segment.address + offset, piece), done, segment.region != nullptr)) {
            return false;
        }
        done += piece;
        offset = 0;
    }
    return true;
}

// A fence that ThreadSanitizer's runtime does not choke on.
void full_barrier() {
    __sync_synchronize();
}

std::uint64_t* word_of(const Segment& segment) {
    return reinterpret_cast<std::uint64_t*>(segment.address);
}

}  // namespace

bool copy(Target target, std::size_t offset, std::span<const std::byte> bytes) {
    return each_piece(target, offset, bytes.size(),
                      [bytes](std::span<std::byte> piece, std::size_t at, bool registered) {
                          if (registered && !writable(piece.data(), piece.size())) {
                              return false;
                          }
                          store_words(piece.data(), bytes.data() + at, piece.size());
                          return true;
                      });
}

bool fetch(Target source, std::size_t offset, std::span<std::byte> out) {
    return each_piece(source, offset, out.size(),
                      [out](std::span<const std::byte> piece, std::size_t at, bool registered) {
                          if (registered && !readable(piece.data(), piece.size())) {
                              return false;
                          }
                          load_words(out.data() + at, piece.data(), piece.size());
                          return true;
                      });
}

std::size_t window(Target target, std::size_t offset, std::span<iovec> out) {
    std::size_t count = 0;
    for (const Segment& segment : target) {
        if (count == out.size()) {
            break;
        }
        if (offset >= segment.length) {
            offset -= segment.length;
            continue;
        }
        out[count++] = {segment.address + offset, segment.length - offset};
        offset = 0;
    }
    return count;
}

// The kernel wrote these bytes. They must not be seen later than a completion or a response that
// tells of them.
void arrived(Target /*target*/, std::size_t /*offset*/, std::size_t /*bytes*/) {
    full_barrier();
}

bool compare_swap(const Segment& word, std::uint64_t compare, std::uint64_t swap,
                  std::uint64_t* original) {
    if (!writable(word.address, sizeof(std::uint64_t))) {
        return false;
    }
    *original = compare;
    __atomic_compare_exchange_n(word_of(word), original, swap, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return true;
}

bool fetch_add(const Segment& word, std::uint64_t add, std::uint64_t* original) {
    if (!writable(word.address, sizeof(std::uint64_t))) {
        return false;
    }
    *original = __atomic_fetch_add(word_of(word), add, __ATOMIC_SEQ_CST);
    return true;
}

bool atomic_write(const Segment& word, std::span<const std::byte, 8> value) {
    if (!writable(word.address, value.size())) {
        return false;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, value.data(), sizeof bits);
    __atomic_store_n(word_of(word), bits, __ATOMIC_SEQ_CST);
    return true;
}

// msync makes the pages of a shared file mapping durable, with or without DAX. It fails if a page
// is no longer mapped, or if the storage reports an error. Device DAX has no such operation: there
// it is enough to write the caches back. Other memory has nothing that could outlive a power
// failure.
bool flush(const Segment& range, std::uint8_t type) {
    full_barrier();
    const bool durable =
        (type & kPersistent) != 0 && range.region != nullptr && range.region->shared_file;
    if (!durable || range.length == 0) {
        return true;
    }
    if (range.region->device_dax) {
        return write_back(range.address, range.length);
    }
    const persistence::Inside inside;  // the device does it, not the program
    const PageRange pages = pages_of(range.address, range.length);
    return ::msync(pages.begin, pages.length, MS_SYNC) == 0;
}

}  // namespace fabric::memory
