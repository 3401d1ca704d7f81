// SPDX-License-Identifier: BSD-3-Clause
// An account of one small area, and operations on it in one line.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "cmocka.hpp"
#include "memory/persistence/model.hpp"
#include "memory/persistence/survival.hpp"

namespace fabric::test {

using namespace fabric::memory::persistence;

constexpr std::uint32_t kConnection = 7;
constexpr std::uint64_t kSize = 16384;

inline Platform platform(const char* text) {
    return parse_platform(text).value();
}

struct Account {
    explicit Account(const char* on, const Limits& limits = {})
        : memory(kSize), image(kSize), model(platform(on), limits) {
        model.add_area("file", memory.data(), image.data(), kSize, 0);
    }

    void fill(std::uint64_t begin, std::uint64_t length, char value) {
        std::memset(memory.data() + begin, value, length);
    }

    Operation* start(std::uint64_t begin, std::uint64_t length, std::uint32_t connection,
                     Kind kind = Kind::Write) {
        const Range range{0, begin, begin + length};
        return model.begin(connection, kind, {&range, 1}, 0, 0);
    }

    void write(std::uint64_t begin, std::uint64_t length, char value,
               std::uint32_t connection = kConnection, Kind kind = Kind::Write) {
        Operation* const operation = start(begin, length, connection, kind);
        fill(begin, length, value);
        model.end(operation, true);
    }

    void store(std::uint64_t begin, std::uint64_t length, char value) {
        fill(begin, length, value);  // by the CPU: the model is not told
    }

    void persist(std::uint64_t begin, std::uint64_t length) {
        model.persist({0, begin, begin + length});
    }

    bool durable(std::uint64_t begin, std::uint64_t length, char value) const {
        const auto first = image.begin() + static_cast<std::ptrdiff_t>(begin);
        return std::all_of(first, first + static_cast<std::ptrdiff_t>(length),
                           [value](std::byte byte) { return byte == std::byte(value); });
    }

    std::size_t at_risk() const { return model.operations().size(); }

    // All contents that the first eight bytes of a line can have after a power failure.
    std::set<std::string> survivors(std::uint64_t begin, std::size_t length = 8,
                                    std::uint64_t seeds = 200) const {
        std::set<std::string> found;
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            Survival::Line line{};
            Survival(model, seed).line(0, begin / kLine, line, nullptr);
            found.emplace(reinterpret_cast<const char*>(line.data()) + begin % kLine, length);
        }
        return found;
    }

    std::vector<std::byte> memory;
    std::vector<std::byte> image;
    Model model;
};

}  // namespace fabric::test
