// SPDX-License-Identifier: BSD-3-Clause
// Two endpoints, the memory they use, and a wire that delivers, drops, repeats and changes their
// packets.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "memory/table.hpp"
#include "rc/endpoint.hpp"

namespace fabric::test {

inline constexpr unsigned kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | 3U << 8;

// Registered memory, 8-byte aligned, filled with a pattern that depends on the seed.
class Block {
public:
    Block(const ibv_pd* pd, std::size_t size, unsigned access = kAllAccess, unsigned seed = 1);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    void deregister();
    std::byte* data() const { return reinterpret_cast<std::byte*>(words_.get()); }
    std::span<std::byte> bytes() const { return {data(), size_}; }
    std::uint64_t& word(std::size_t index) const { return words_[index]; }
    std::uint64_t address(std::size_t offset = 0) const {
        return reinterpret_cast<std::uintptr_t>(data()) + offset;
    }
    std::uint32_t key() const { return key_; }
    ibv_sge sge(std::size_t offset, std::size_t length) const;
    const memory::Region* region() const { return region_; }

private:
    std::unique_ptr<std::uint64_t[]> words_;
    std::size_t size_;
    memory::Region* region_ = nullptr;
    std::uint32_t key_ = 0;
};

// A shared receive queue.
class SharedReceives final : public rc::ReceiveQueue {
public:
    bool pop(rc::ReceiveRequest& out) override;
    std::deque<rc::ReceiveRequest> posted;
};

struct Setup {
    rc::Capacity capacity{.send_requests = 16,
                          .receive_requests = 16,
                          .send_sge = 4,
                          .receive_sge = 4,
                          .inline_bytes = 300,
                          .signal_all = false};
    rc::Attributes a{.qp_number = 11,
                     .destination_qp = 22,
                     .path_mtu = 256,
                     .send_psn = 0xfffffe,
                     .receive_psn = 7,
                     .max_rd_atomic = 4,
                     .max_dest_rd_atomic = 4,
                     .retry_count = 3,
                     .rnr_retry = 7,
                     .min_rnr_timer = 12,
                     .access = kAllAccess};
    rc::Attributes b{.qp_number = 22,
                     .destination_qp = 11,
                     .path_mtu = 256,
                     .send_psn = 7,
                     .receive_psn = 0xfffffe,
                     .max_rd_atomic = 4,
                     .max_dest_rd_atomic = 4,
                     .retry_count = 3,
                     .rnr_retry = 7,
                     .min_rnr_timer = 12,
                     .access = kAllAccess};
    SharedReceives* b_receives = nullptr;  // nullptr: b has its own receive queue
};

// One end: an endpoint and what its host was told.
class Side final : public rc::Host {
public:
    Side(const rc::Capacity& capacity, const rc::Attributes& attributes, SharedReceives* shared);

    void complete(const rc::Completion& completion) override;
    rc::ReceiveQueue& receive_queue() override;
    void async_event(ibv_event_type type) override { events.push_back(type); }
    void state_changed(ibv_qp_state state) override { states.push_back(state); }
    const ibv_pd* pd() const override { return &domain; }

    // Takes the oldest completion of a side; fails the test if there is none.
    rc::Completion sent();
    rc::Completion received();
    void receive(std::uint64_t wr_id, std::vector<ibv_sge> sges);

    ibv_pd domain{};
    rc::Endpoint endpoint;
    std::deque<rc::Completion> sends;
    std::deque<rc::Completion> receives;
    std::vector<ibv_event_type> events;
    std::vector<ibv_qp_state> states;

private:
    SharedReceives* shared_;
};

struct Packet {
    wire::Header header;
    std::vector<std::byte> payload;
    bool to_b = true;
};

class Pair {
public:
    explicit Pair(const Setup& setup = {});

    // Pulls every packet both sides want to send now into `flight`.
    bool collect();
    // Hands a packet to its destination; false: that side calls the peer broken.
    bool deliver(const Packet& packet);
    // Moves packets, and the clock, until nothing happens any more (or `rounds` are over). Packets
    // that `filter` returns false for are lost; it may change them.
    void run(int rounds = 10000);
    // The same without ever waiting for a timer.
    void exchange();
    void set_now(rc::TimePoint now);
    // Opcodes seen in one direction since the last call.
    std::vector<wire::Opcode> seen(bool to_b);

    Side a;
    Side b;
    std::deque<Packet> flight;
    std::vector<Packet> log;
    std::function<bool(Packet&)> filter;
    bool fatal = false;
    rc::TimePoint now{};

private:
    bool pull(Side& side, bool to_b);
    bool advance_clock();
    std::size_t seen_[2] = {0, 0};
};

// Work requests in one line.
struct Request {
    ibv_wr_opcode opcode = IBV_WR_SEND;
    std::uint64_t wr_id = 1;
    unsigned flags = IBV_SEND_SIGNALED;
    std::vector<ibv_sge> sges{};
    std::uint64_t remote = 0;
    std::uint32_t rkey = 0;
    std::uint32_t immediate = 0;
    std::uint64_t compare_add = 0;
    std::uint64_t swap = 0;
};
int post(Side& side, Request request);

bool equal(std::span<const std::byte> left, std::span<const std::byte> right);

}  // namespace fabric::test
