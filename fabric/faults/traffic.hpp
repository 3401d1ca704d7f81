// SPDX-License-Identifier: BSD-3-Clause
// The faults that one connection of this process meets. Counts what goes by; packets that are sent
// again, as after a receiver was not ready, count once.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "faults/plan.hpp"
#include "rc/endpoint.hpp"
#include "rc/filter.hpp"

namespace fabric::faults {

// Not thread-safe: called under the queue pair's lock. `link` is for the trace.
class Traffic final : public rc::RequestFilter {
public:
    // nullptr: no fault that was asked for is about connections.
    static std::unique_ptr<Traffic> create();

    Traffic(const Plan& plan, std::uint64_t connection) : plan_(plan), connection_(connection) {}

    void set_link(std::uint64_t link) { link_ = link; }
    void restart();  // the next packets are those of another connection; counting goes on

    // The next request packet is ready to be sent: how long it has to wait. Asked again for the
    // same packet: 0.
    std::chrono::microseconds wait();
    // A packet goes out: how many bytes of its frame do, before the connection is cut;
    // rc::OutPacket::kWhole: all, and it is not cut.
    std::uint32_t limit(const rc::OutPacket& packet);

    // rc::RequestFilter
    rc::RequestFilter::Answer answer(const wire::Header& header) override;

private:
    class Progress {  // through the numbers of one direction's requests
    public:
        bool is_new(std::uint32_t psn);
        void restart() { newest_.reset(); }

    private:
        std::optional<std::uint32_t> newest_;
    };

    const Fault* met(Kind kind, std::uint64_t count) const;
    std::uint32_t cut_write(const rc::OutPacket& packet);

    const Plan& plan_;
    const std::uint64_t connection_;
    std::uint64_t link_ = 0;

    Progress sending_;
    std::uint64_t packets_ = 0;
    std::uint64_t waited_for_ = 0;
    std::uint64_t writes_ = 0;
    std::optional<std::uint32_t> left_;  // of a write that is to be cut: bytes that still go out

    Progress receiving_;
    std::uint64_t requests_ = 0;
    std::uint64_t receives_ = 0;
};

}  // namespace fabric::faults
