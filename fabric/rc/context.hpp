// SPDX-License-Identifier: BSD-3-Clause
// What the two halves of an endpoint share.
#pragma once

#include "memory/persistence/door.hpp"
#include "rc/endpoint.hpp"
#include "rc/filter.hpp"

namespace fabric::rc {

// The queue pair as both halves see it.
class Context {
public:
    Context(const Capacity& sizes, Host& around) : host(around), capacity(sizes) {}
    virtual ~Context() = default;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // One half failed and has completed the request that is to blame: moves to ERR and flushes all
    // the rest.
    virtual void enter_error() = 0;

    bool sending() const { return state == IBV_QPS_RTS || state == IBV_QPS_SQD; }
    bool receiving() const { return state == IBV_QPS_RTR || sending(); }

    Host& host;
    const Capacity capacity;
    Attributes attributes;
    ibv_qp_state state = IBV_QPS_RESET;
    TimePoint now{};
    bool link_up = true;
    RequestFilter* filter = nullptr;
};

// The packet between begin() and end().
struct Inbound {
    enum class Owner : std::uint8_t { Nobody, Requester, Responder };

    Owner owner = Owner::Nobody;  // Nobody: its payload is thrown away
    wire::Header header;
    std::uint32_t payload = 0;
    std::uint32_t segment_count = 0;
    std::array<memory::Segment, kMaxSge> segments;
    alignas(8) std::array<std::byte, 8> word{};           // the value of an ATOMIC WRITE
    memory::persistence::Operation* operation = nullptr;  // the account of the payload, if any

    memory::Target target() const { return {segments.data(), segment_count}; }
};

}  // namespace fabric::rc
