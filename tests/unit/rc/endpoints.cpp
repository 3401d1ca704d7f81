// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints.hpp"

#include <algorithm>
#include <cstring>

#include "cmocka.hpp"
#include "memory/placement.hpp"

namespace fabric::test {

Block::Block(const ibv_pd* pd, std::size_t size, unsigned access, unsigned seed)
    : words_(new std::uint64_t[(size + 7) / 8]), size_(size) {
    for (std::size_t i = 0; i < size; ++i) {
        data()[i] = static_cast<std::byte>(i * 7 + seed);
    }
    const int error = memory::Table::instance().add(pd, data(), size, address(), access, &region_);
    assert_int_equal(error, 0);
    key_ = region_->key;
}

Block::~Block() {
    deregister();
}

void Block::deregister() {
    if (region_ != nullptr) {
        memory::Table::instance().retire(region_);
        memory::Table::instance().free(region_);
        region_ = nullptr;
    }
}

ibv_sge Block::sge(std::size_t offset, std::size_t length) const {
    return {address(offset), static_cast<std::uint32_t>(length), key_};
}

bool SharedReceives::pop(rc::ReceiveRequest& out) {
    if (posted.empty()) {
        return false;
    }
    out = posted.front();
    posted.pop_front();
    return true;
}

Side::Side(const rc::Capacity& capacity, const rc::Attributes& attributes, SharedReceives* shared)
    : endpoint(capacity, *this), shared_(shared) {
    endpoint.set_attributes(attributes);
    for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
        endpoint.set_state(state);
    }
}

void Side::complete(const rc::Completion& completion) {
    (completion.send_side ? sends : receives).push_back(completion);
}

rc::ReceiveQueue& Side::receive_queue() {
    if (shared_ != nullptr) {
        return *shared_;
    }
    return endpoint.own_receive_queue();
}

namespace {

rc::Completion take(std::deque<rc::Completion>& from) {
    assert_false(from.empty());
    const rc::Completion first = from.front();
    from.pop_front();
    return first;
}

}  // namespace

rc::Completion Side::sent() {
    return take(sends);
}

rc::Completion Side::received() {
    return take(receives);
}

void Side::receive(std::uint64_t wr_id, std::vector<ibv_sge> sges) {
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = sges.data();
    wr.num_sge = static_cast<int>(sges.size());
    assert_int_equal(endpoint.post_receive(wr), 0);
}

Pair::Pair(const Setup& setup)
    : a(setup.capacity, setup.a, nullptr), b(setup.capacity, setup.b, setup.b_receives) {
    set_now(rc::TimePoint{} + std::chrono::seconds(1));
}

void Pair::set_now(rc::TimePoint time) {
    now = time;
    a.endpoint.set_now(time);
    b.endpoint.set_now(time);
}

bool Pair::pull(Side& side, bool to_b) {
    bool any = false;
    auto out = std::make_unique<rc::OutPacket>();
    while (side.endpoint.next_packet(*out)) {
        any = true;
        Packet packet;
        const auto header = wire::decode(std::span(out->header_data).first(out->header_size));
        assert_true(header.has_value());
        packet.header = *header;
        packet.payload.resize(out->payload_size);
        packet.to_b = to_b;
        const memory::Target source(out->segments.data(), out->segment_count);
        assert_true(memory::fetch(source, 0, packet.payload));
        log.push_back(packet);
        flight.push_back(std::move(packet));
    }
    return any;
}

bool Pair::collect() {
    const bool from_a = pull(a, true);
    return pull(b, false) || from_a;
}

bool Pair::deliver(const Packet& packet) {
    Side& side = packet.to_b ? b : a;
    const auto begun = side.endpoint.begin(packet.header, packet.payload.size());
    if (begun.fatal) {
        fatal = true;
        return false;
    }
    side.endpoint.end(begun.target.empty() || memory::copy(begun.target, 0, packet.payload));
    return true;
}

void Pair::exchange() {
    for (int rounds = 0; rounds < 100000 && (collect() || !flight.empty()); ++rounds) {
        while (!flight.empty()) {
            Packet packet = std::move(flight.front());
            flight.pop_front();
            if (!filter || filter(packet)) {
                deliver(packet);
            }
        }
    }
}

bool Pair::advance_clock() {
    const auto first = a.endpoint.deadline();
    const auto second = b.endpoint.deadline();
    if (!first && !second) {
        return false;
    }
    set_now(first && second ? std::min(*first, *second) : first ? *first : *second);
    return true;
}

void Pair::run(int rounds) {
    exchange();
    for (int round = 0; round < rounds && advance_clock(); ++round) {
        exchange();
    }
}

std::vector<wire::Opcode> Pair::seen(bool to_b) {
    std::vector<wire::Opcode> opcodes;
    std::size_t& from = seen_[to_b ? 1 : 0];
    for (; from < log.size(); ++from) {
        if (log[from].to_b == to_b) {
            opcodes.push_back(log[from].header.opcode);
        }
    }
    return opcodes;
}

int post(Side& side, Request request) {
    ibv_send_wr wr{};
    wr.wr_id = request.wr_id;
    wr.opcode = request.opcode;
    wr.send_flags = request.flags;
    wr.sg_list = request.sges.data();
    wr.num_sge = static_cast<int>(request.sges.size());
    wr.imm_data = request.immediate;
    if (request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
        request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = request.remote;
        wr.wr.atomic.rkey = request.rkey;
        wr.wr.atomic.compare_add = request.compare_add;
        wr.wr.atomic.swap = request.swap;
    } else {
        wr.wr.rdma.remote_addr = request.remote;
        wr.wr.rdma.rkey = request.rkey;
    }
    return side.endpoint.post_send(wr);
}

bool equal(std::span<const std::byte> left, std::span<const std::byte> right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

}  // namespace fabric::test
