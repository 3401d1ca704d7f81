// SPDX-License-Identifier: BSD-3-Clause
// An endpoint with a little registered memory in the middle of a larger block whose every other
// byte must stay as it is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "memory/table.hpp"
#include "rc/endpoint.hpp"

namespace fabric::fuzz {

inline constexpr std::size_t kZone = 4096;
inline constexpr std::size_t kMemory = 2048;
inline constexpr std::byte kPoison{0xa5};

class Victim final : public rc::Host {
public:
    static constexpr unsigned kOpen = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | 1U << 8;

    static constexpr std::uint32_t kFirstPsn = 0xfffff0;

    explicit Victim(std::uint8_t choices)
        : endpoint({.send_requests = 16,
                    .receive_requests = 8,
                    .send_sge = 4,
                    .receive_sge = 4,
                    .inline_bytes = 64,
                    .signal_all = (choices & 1) != 0},
                   *this) {
        block_.fill(kPoison);
        add(open, kZone, kOpen);
        add(closed, 3 * kZone, IBV_ACCESS_LOCAL_WRITE);
        connect(choices);
    }
    ~Victim() override {
        drop(open);
        drop(closed);
    }
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;

    // Back to the start, as a program does to use a queue pair again.
    void reset() {
        endpoint.set_state(IBV_QPS_RESET);
        slots_posted_ = 0;
        receives_posted_ = 0;
        connect(0);
    }

    void connect(std::uint8_t choices) {
        endpoint.set_attributes(
            {.qp_number = 2,
             .destination_qp = 3,
             .path_mtu = 256,
             .send_psn = kFirstPsn,
             .receive_psn = kFirstPsn,
             .max_rd_atomic = 4,
             .max_dest_rd_atomic = 4,
             .retry_count = 3,
             .rnr_retry = (choices & 2) != 0 ? std::uint8_t{7} : std::uint8_t{2},
             .min_rnr_timer = 1,
             .access = kOpen});
        endpoint.set_state(IBV_QPS_INIT);
        endpoint.set_state(IBV_QPS_RTR);
        endpoint.set_state(IBV_QPS_RTS);
    }

    void complete(const rc::Completion& completion) override {
        if (completion.send_side) {
            check_order(completion.wc.wr_id);
            slots_posted_ -= completion.send_slots;
            endpoint.release_send_slots(completion.send_slots);
        } else {
            --receives_posted_;
        }
        // Nothing may come back that was never given.
        if (slots_posted_ < 0 || receives_posted_ < 0) {
            std::abort();
        }
    }
    rc::ReceiveQueue& receive_queue() override { return endpoint.own_receive_queue(); }
    void async_event(ibv_event_type /*type*/) override {}
    void state_changed(ibv_qp_state /*state*/) override {}
    const ibv_pd* pd() const override { return &domain_; }

    // A post counts before it is made, since it may complete at once.
    int post(const ibv_send_wr& wr) {
        ++slots_posted_;
        const int error = endpoint.post_send(wr);
        slots_posted_ -= error != 0 ? 1 : 0;
        return error;
    }
    int post(const rc::Endpoint::NativeRequest& request) {
        ++slots_posted_;
        const int error = endpoint.post_native(request);
        slots_posted_ -= error != 0 ? 1 : 0;
        return error;
    }
    int post(const ibv_recv_wr& wr) {
        ++receives_posted_;
        const int error = endpoint.post_receive(wr);
        receives_posted_ -= error != 0 ? 1 : 0;
        return error;
    }

    void drop(memory::Region*& region) {
        if (region != nullptr) {
            memory::Table::instance().retire(region);
            memory::Table::instance().free(region);
            region = nullptr;
        }
    }
    std::byte* at(std::size_t offset) { return block_.data() + offset; }

    // The memory between and around the regions.
    void check_poison() const {
        const std::span<const std::byte> all(block_);
        for (const std::size_t zone : {std::size_t{0}, 2 * kZone, 4 * kZone}) {
            check(all.subspan(zone, kZone));
        }
        check(all.subspan(kZone + kMemory, kZone - kMemory));
        check(all.subspan(3 * kZone + kMemory, kZone - kMemory));
    }

    rc::Endpoint endpoint;
    memory::Region* open = nullptr;
    memory::Region* closed = nullptr;  // for this side only

private:
    void add(memory::Region*& region, std::size_t offset, unsigned access) {
        std::byte* const base = at(offset);
        const auto iova = reinterpret_cast<std::uintptr_t>(base);
        if (memory::Table::instance().add(&domain_, base, kMemory, iova, access, &region) != 0) {
            std::abort();
        }
    }
    static void check(std::span<const std::byte> zone) {
        if (!std::all_of(zone.begin(), zone.end(),
                         [](std::byte byte) { return byte == kPoison; })) {
            std::abort();
        }
    }

    // Completions of one queue come in the order of posting, each at most once.
    void check_order(std::uint64_t wr_id) {
        if (wr_id <= last_completed_) {
            std::abort();
        }
        last_completed_ = wr_id;
    }

    ibv_pd domain_{};
    std::uint64_t last_completed_ = 0;
    long slots_posted_ = 0;
    long receives_posted_ = 0;
    std::array<std::byte, 5 * kZone> block_;
};

}  // namespace fabric::fuzz
