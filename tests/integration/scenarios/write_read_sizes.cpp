// SPDX-License-Identifier: BSD-3-Clause
// Writes and reads of sizes around the packet size: each arrives whole and changes no byte beside
// its range.
#include <array>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::array<std::size_t, 15> kSizes = {
    1, 2, 7, 8, 9, 4095, 4096, 4097, 8192, 32767, 32768, 32769, 65536, 65537, (1U << 20U) + 1};
constexpr std::size_t kMargin = 64;
constexpr std::size_t kSpace = kSizes.back() + 2 * kMargin;
constexpr std::byte kUntouched{0xee};

// Bytes around the written range.
void check_margins(it::Bytes bytes, std::size_t size) {
    it::check_all(bytes.first(kMargin), kUntouched);
    it::check_all(bytes.subspan(kMargin + size, kMargin), kUntouched);
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSpace);
    for (const std::size_t size : kSizes) {
        std::fill(served.region.bytes().begin(), served.region.bytes().end(), kUntouched);
        role.peer().signal("prepared");
        role.peer().await("written");
        it::check_filled(served.region.bytes(kMargin, size), size);
        check_margins(served.region.bytes(), size);
    }
    role.peer().signal("checked");
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSpace);
    for (const std::size_t size : kSizes) {
        role.peer().await("prepared");
        // An odd local place for the source: nothing needs to be aligned.
        it::fill(attached.local.bytes(1, size), size);
        attached.write(kMargin, 1, size);
        attached.flush(kMargin, size);
        std::fill(attached.local.bytes().begin(), attached.local.bytes().end(), kUntouched);
        attached.read(kMargin, kMargin, size);
        it::check_filled(attached.local.bytes(kMargin, size), size);
        check_margins(attached.local.bytes(), size);
        role.peer().signal("written");
    }
    role.peer().await("checked");
    it::disconnect(attached.conn());
}
