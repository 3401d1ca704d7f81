// SPDX-License-Identifier: BSD-3-Clause
#include "case.hpp"

#include <array>
#include <utility>

#include "error.hpp"
#include "units.hpp"

namespace perf {
namespace {

template <typename T, std::size_t N>
using Names = std::array<std::pair<T, std::string_view>, N>;

constexpr Names<Api, 3> kApis{{{Api::rpma, "rpma"}, {Api::verbs, "verbs"}, {Api::tcp, "tcp"}}};
constexpr Names<Op, 7> kOps{{{Op::read, "read"},
                             {Op::write, "write"},
                             {Op::flush, "flush"},
                             {Op::commit, "commit"},
                             {Op::send, "send"},
                             {Op::pingpong, "pingpong"},
                             {Op::persist, "persist"}}};
constexpr Names<FlushType, 2> kFlushTypes{
    {{FlushType::visibility, "visibility"}, {FlushType::persistent, "persistent"}}};
constexpr Names<Wait, 2> kWaits{{{Wait::poll, "poll"}, {Wait::event, "event"}}};

template <typename T, std::size_t N>
std::string_view find_name(const Names<T, N>& names, T value) {
    for (const auto& [known, name] : names) {
        if (known == value) {
            return name;
        }
    }
    return "?";
}

template <typename T, std::size_t N>
T find_value(const Names<T, N>& names, std::string_view what, std::string_view name) {
    std::string known_names;
    for (const auto& [known, known_name] : names) {
        if (known_name == name) {
            return known;
        }
        known_names += fmt::format("{}{}", known_names.empty() ? "" : ", ", known_name);
    }
    fail("'{}' is no {}: known are {}", name, what, known_names);
}

}  // namespace

std::string_view name_of(Api value) {
    return find_name(kApis, value);
}
std::string_view name_of(Op value) {
    return find_name(kOps, value);
}
std::string_view name_of(FlushType value) {
    return find_name(kFlushTypes, value);
}
std::string_view name_of(Wait value) {
    return find_name(kWaits, value);
}
Api parse_api(std::string_view name) {
    return find_value(kApis, "API", name);
}
Op parse_op(std::string_view name) {
    return find_value(kOps, "operation", name);
}
FlushType parse_flush_type(std::string_view name) {
    return find_value(kFlushTypes, "kind of flush", name);
}
Wait parse_wait(std::string_view name) {
    return find_value(kWaits, "way of waiting", name);
}

std::vector<std::string> op_names() {
    std::vector<std::string> names;
    for (const auto& [op, name] : kOps) {
        names.emplace_back(name);
    }
    return names;
}

void check(const Case& point) {
    if (point.size == 0 || point.size > kMaxSize) {
        fail("size {}: it must be from 1 byte to {}", point.size, format_size(kMaxSize));
    }
    if (point.queue_depth == 0 || point.queue_depth > kMaxDepth) {
        fail("queue depth {}: it must be from 1 to {}", point.queue_depth, kMaxDepth);
    }
    if (point.batch == 0 || point.queue_depth % point.batch != 0) {
        fail("queue depth {} is not a multiple of batch {}", point.queue_depth, point.batch);
    }
    if (point.connections == 0 || point.connections > kMaxConnections) {
        fail("{} connections: it must be from 1 to {}", point.connections, kMaxConnections);
    }
    if (point.threads == 0 || point.threads > point.connections) {
        fail("{} threads for {} connections: each thread needs one of its own", point.threads,
             point.connections);
    }
}

std::string describe(const Case& point) {
    std::string text = fmt::format("{} {} {}, depth {}", name_of(point.api), name_of(point.op),
                                   format_size(point.size), point.queue_depth);
    if (point.flushes() && point.flush == FlushType::persistent) {
        text += ", persistent";
    }
    if (point.batch > 1) {
        text += fmt::format(", batch {}", point.batch);
    }
    if (point.connections > 1) {
        text += fmt::format(", {} connections", point.connections);
    }
    if (point.threads > 1) {
        text += fmt::format(", {} threads", point.threads);
    }
    return text;
}

void to_json(nlohmann::json& out, const Case& point) {
    out = {{"api", name_of(point.api)},        {"op", name_of(point.op)},
           {"flush", name_of(point.flush)},    {"size", point.size},
           {"queue_depth", point.queue_depth}, {"batch", point.batch},
           {"connections", point.connections}, {"threads", point.threads},
           {"wait", name_of(point.wait)},      {"verify", point.verify}};
}

void from_json(const nlohmann::json& in, Case& point) {
    point.api = parse_api(in.at("api").get<std::string>());
    point.op = parse_op(in.at("op").get<std::string>());
    point.flush = parse_flush_type(in.at("flush").get<std::string>());
    point.size = in.at("size").get<std::uint64_t>();
    point.queue_depth = in.at("queue_depth").get<std::uint32_t>();
    point.batch = in.at("batch").get<std::uint32_t>();
    point.connections = in.at("connections").get<std::uint32_t>();
    point.threads = in.at("threads").get<std::uint32_t>();
    point.wait = parse_wait(in.at("wait").get<std::string>());
    point.verify = in.at("verify").get<bool>();
}

}  // namespace perf
