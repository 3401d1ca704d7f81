// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/platform.hpp"

#include <algorithm>
#include <charconv>

namespace fabric::memory::persistence {

namespace {

// Cuts off what stands before the next comma.
std::string_view next_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    return word;
}

std::optional<Domain> domain_of(std::string_view word) {
    if (word == "adr") {
        return Domain::Adr;
    }
    if (word == "eadr") {
        return Domain::Eadr;
    }
    if (word == "wsp") {
        return Domain::Wsp;
    }
    return std::nullopt;
}

bool set_switch(std::string_view value, bool& out) {
    out = value == "on";
    return out || value == "off";
}

bool set(std::string_view name, std::string_view value, Platform& out) {
    if (name == "ddio") {
        return set_switch(value, out.ddio);
    }
    if (name == "native-flush") {
        return set_switch(value, out.native_flush);
    }
    const auto size = name == "memory" ? parse_size(value) : std::nullopt;
    out.memory = size.value_or(out.memory);
    return size.has_value();
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    unsigned shift = 0;
    if (end - rest == 1) {
        shift = *rest == 'K' ? 10 : *rest == 'M' ? 20 : *rest == 'G' ? 30 : 0;
    }
    const bool whole = rest == end || shift != 0;
    if (error != std::errc{} || !whole || value == 0 || value > (~0ULL >> shift)) {
        return std::nullopt;
    }
    return value << shift;
}

std::optional<Platform> parse_platform(std::string_view text) {
    Platform out;
    const auto domain = domain_of(next_word(text));
    if (!domain) {
        return std::nullopt;
    }
    out.domain = *domain;
    while (!text.empty()) {
        const std::string_view word = next_word(text);
        const std::size_t equals = std::min(word.find('='), word.size());
        if (!set(word.substr(0, equals), word.substr(std::min(equals + 1, word.size())), out)) {
            return std::nullopt;
        }
    }
    return out;
}

const char* describe(const Platform& platform) {
    switch (platform.domain) {
        case Domain::Adr:
            return platform.ddio ? "adr, DDIO on" : "adr, DDIO off";
        case Domain::Eadr:
            return platform.ddio ? "eadr, DDIO on" : "eadr, DDIO off";
        default:
            return platform.ddio ? "wsp, DDIO on" : "wsp, DDIO off";
    }
}

}  // namespace fabric::memory::persistence
