// SPDX-License-Identifier: BSD-3-Clause
// What is measured: one point of the field of options.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace perf {

enum class Api { rpma, verbs, tcp };
enum class Op { read, write, flush, commit, send, pingpong, persist };
enum class FlushType { visibility, persistent };
enum class Wait { poll, event };

struct Case {
    Api api = Api::rpma;
    Op op = Op::flush;
    FlushType flush = FlushType::visibility;  // of Op::flush and Op::commit
    std::uint64_t size = 4096;                // bytes of one operation
    std::uint32_t queue_depth = 1;            // operations in flight on a connection
    std::uint32_t batch = 1;                  // operations per completion (and per flush)
    std::uint32_t connections = 1;
    std::uint32_t threads = 1;
    Wait wait = Wait::poll;
    bool verify = false;

    bool operator==(const Case&) const = default;

    // Batches in flight on a connection.
    [[nodiscard]] std::uint32_t slots() const { return queue_depth / batch; }
    [[nodiscard]] bool flushes() const { return op == Op::flush || op == Op::commit; }
};

// Limits that keep the memory of both sides bounded; the server checks them again.
inline constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 30;
inline constexpr std::uint32_t kMaxDepth = 4096;
inline constexpr std::uint32_t kMaxConnections = 1024;

// Throws Error that says what is wrong.
void check(const Case& point);

std::string describe(const Case& point);  // "rpma flush 4 KiB, depth 16"

std::string_view name_of(Api value);
std::string_view name_of(Op value);
std::string_view name_of(FlushType value);
std::string_view name_of(Wait value);

// Throw Error that lists the known names.
Api parse_api(std::string_view name);
Op parse_op(std::string_view name);
FlushType parse_flush_type(std::string_view name);
Wait parse_wait(std::string_view name);

std::vector<std::string> op_names();

void to_json(nlohmann::json& out, const Case& point);
void from_json(const nlohmann::json& in, Case& point);

}  // namespace perf
