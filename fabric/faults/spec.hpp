// SPDX-License-Identifier: BSD-3-Clause
// What a user asks for with --faults: the text, and what it means. Pure.
//
//   SPEC  = FAULT { "," FAULT }
//   FAULT = NAME [ "=" VALUE ] "@" WHEN
//   WHEN  = [ C "/" ] WHICH  of the C-th connection only (one per queue pair, in the order of their
//                            making); not for what is counted in the process
//   WHICH = N       the N-th, counted from 1
//         | N "+"   the N-th and all after it
//         | P "%"   this share, up to three decimals; the seed decides which
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric::faults {

enum class Kind : std::uint8_t {
    // Of what this side sends; request packets of each connection are counted.
    Drop,
    Delay,
    CutWrite,  // counts RDMA writes
    // Of what this side answers; requests of each connection are counted.
    Nak,
    Rnr,  // counts messages that need a receive
    // Of connections; counted in the process.
    Unreachable,
    Reject,
    // Of what the program asks of its device; counted in the process.
    RefuseMr,
    RefuseQp,
    RefuseCq,
    RefuseSrq,
};
inline constexpr std::size_t kKinds = 11;

enum class Answer : std::uint8_t { Operation, Access, Invalid };

struct When {
    std::uint64_t connection = 0;  // 0: of each
    std::uint64_t first = 0;       // 0: a share
    bool onwards = false;
    std::uint32_t share = 0;  // of kAll
};
inline constexpr std::uint32_t kAll = 100'000;

struct Fault {
    Kind kind{};
    When when;
    std::chrono::microseconds delay{0};  // Delay
    Answer answer{};                     // Nak
    int error = 0;                       // Refuse...: the errno
};

struct Spec {
    std::vector<Fault> faults;
    std::string complaint;  // what is wrong with the text (it has no faults then); empty: nothing
};

inline constexpr std::size_t kMaxFaults = 32;
inline constexpr std::chrono::seconds kMaxDelay{60};
inline constexpr std::uint64_t kDefaultSeed = 1;

Spec parse_spec(std::string_view text);
std::optional<std::uint64_t> parse_seed(std::string_view text);

// The kind counts what each connection does, not what the process does.
constexpr bool is_of_connection(Kind kind) {
    return kind <= Kind::Rnr;
}

// The name of a kind as it is written in a specification.
const char* name_of(Kind kind);

}  // namespace fabric::faults
