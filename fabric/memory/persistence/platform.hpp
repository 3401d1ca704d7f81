// SPDX-License-Identifier: BSD-3-Clause
// What a target's platform promises about power failures (doc/persistence-model.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fabric::memory::persistence {

enum class Domain : std::uint8_t {
    Adr,   // the memory controller survives
    Eadr,  // the CPU's caches, too
    Wsp,   // the adapter's buffers, too
};

inline constexpr std::uint64_t kDefaultMemory = 1ULL << 30;

struct Platform {
    Domain domain = Domain::Adr;
    bool ddio = true;
    bool native_flush = true;               // false: the device must not offer it
    std::uint64_t memory = kDefaultMemory;  // bytes of regions that are kept account of

    // A read behind a write makes it durable, not only visible.
    bool read_persists() const { return domain != Domain::Adr || !ddio; }
    // What the CPU can see is durable.
    bool caches_survive() const { return domain != Domain::Adr; }
};

// "adr", "eadr,ddio=off", "adr,ddio=on,native-flush=off,memory=64M"; nothing if it is none.
std::optional<Platform> parse_platform(std::string_view text);

// The same in words, for reports: "adr, DDIO on".
const char* describe(const Platform& platform);

// A number of bytes with an optional K, M or G; nothing if it is none, or 0.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace fabric::memory::persistence
