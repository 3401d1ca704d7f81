// SPDX-License-Identifier: BSD-3-Clause
// Everything a request packet must fulfil before a byte of it is placed or an operation is done.
#include "memory/table.hpp"
#include "rc/limits.hpp"
#include "rc/native.hpp"
#include "rc/psn.hpp"
#include "rc/request_shape.hpp"
#include "rc/responder.hpp"
#include "rc/scatter_gather.hpp"

namespace fabric::rc {

using wire::Opcode;

namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);

bool grants(const wire::Header& header, const ibv_pd* pd, std::uint64_t length, unsigned access) {
    return length == 0 ||
           memory::Table::instance().find(header.rkey, pd, header.remote_address, length, access);
}

// In a region that begins at address 0 (IBV_ACCESS_ZERO_BASED) a word can lie elsewhere in memory
// than its address says.
bool lies_across_words(const wire::Header& header, const ibv_pd* pd, unsigned access) {
    const auto word =
        memory::Table::instance().find(header.rkey, pd, header.remote_address, kWord, access);
    return word && reinterpret_cast<std::uintptr_t>(word->address) % kWord != 0;
}

}  // namespace

Responder::Fault Responder::check_filtered(const wire::Header& header, std::uint32_t payload) {
    switch (context_.filter->answer(header)) {
        case RequestFilter::Answer::NotReady:
            return Fault::NotReady;
        case RequestFilter::Answer::InvalidRequest:
            return Fault::InvalidRequest;
        case RequestFilter::Answer::RemoteAccess:
            return Fault::RemoteAccess;
        case RequestFilter::Answer::Operation:
            return Fault::Operation;
        default:
            return check(header, payload);
    }
}

Responder::Fault Responder::check(const wire::Header& header, std::uint32_t payload) {
    if (is_send(header.opcode)) {
        return check_send(header, payload);
    }
    if (is_write(header.opcode)) {
        return check_write(header, payload);
    }
    if (message_ != Message::None) {
        return Fault::InvalidRequest;
    }
    switch (header.opcode) {
        case Opcode::ReadRequest:
            return check_read(header, payload);
        case Opcode::CompareSwap:
        case Opcode::FetchAdd:
            return check_atomic(header, payload);
        case Opcode::AtomicWrite:
            return check_atomic_write(header, payload);
        case Opcode::Flush:
            return check_flush(header, payload);
        default:
            return Fault::InvalidRequest;
    }
}

Responder::Fault Responder::check_send(const wire::Header& header, std::uint32_t payload) {
    const bool first = starts(header.opcode);
    if (message_ != (first ? Message::None : Message::Send) ||
        !payload_fits(header.opcode, payload, context_.attributes.path_mtu)) {
        return Fault::InvalidRequest;
    }
    if (first) {
        message_bytes_ = 0;
        if (!take_receive()) {
            return Fault::NotReady;
        }
    }
    // Only memory windows and fast registrations can be invalidated by a peer, and this device has
    // neither.
    if (has_invalidate(header.opcode) || message_bytes_ + payload > kMaxMessage) {
        return Fault::InvalidRequest;
    }
    if (message_bytes_ + payload > receive_length_) {
        return Fault::TooLong;
    }
    const Piece piece{{receive_.sge.data(), receive_.num_sge}, message_bytes_, payload};
    const bool granted = resolve(piece, context_.host.pd(), IBV_ACCESS_LOCAL_WRITE,
                                 inbound_.segments, inbound_.segment_count);
    return granted ? Fault::None : Fault::LocalProtection;
}

bool Responder::take_receive() {
    if (!has_receive_ && context_.host.receive_queue().pop(receive_)) {
        has_receive_ = true;
        receive_length_ = total_length({receive_.sge.data(), receive_.num_sge});
    }
    return has_receive_;
}

Responder::Fault Responder::check_write(const wire::Header& header, std::uint32_t payload) {
    const bool first = starts(header.opcode);
    if (message_ != (first ? Message::None : Message::Write) ||
        !payload_fits(header.opcode, payload, context_.attributes.path_mtu)) {
        return Fault::InvalidRequest;
    }
    if (first) {
        if (const Fault fault = check_write_start(header, payload); fault != Fault::None) {
            return fault;
        }
    }
    const std::uint64_t rest = write_length_ - message_bytes_;
    if (goes_on(header.opcode) ? payload >= rest : payload != rest) {
        return Fault::InvalidRequest;
    }
    if (has_immediate(header.opcode) && !take_receive()) {
        return Fault::NotReady;
    }
    inbound_.segment_count = 0;
    if (payload == 0) {
        return Fault::None;
    }
    const auto segment = memory::Table::instance().find(write_rkey_, context_.host.pd(),
                                                        write_address_ + message_bytes_, payload,
                                                        IBV_ACCESS_REMOTE_WRITE);
    if (!segment) {
        return Fault::RemoteAccess;
    }
    inbound_.segments[inbound_.segment_count++] = *segment;
    return Fault::None;
}

Responder::Fault Responder::check_write_start(const wire::Header& header, std::uint32_t payload) {
    if (!allowed(IBV_ACCESS_REMOTE_WRITE) || header.dma_length > kMaxMessage ||
        payload > header.dma_length) {
        return Fault::InvalidRequest;
    }
    if (!grants(header, context_.host.pd(), header.dma_length, IBV_ACCESS_REMOTE_WRITE)) {
        return Fault::RemoteAccess;
    }
    message_bytes_ = 0;
    write_address_ = header.remote_address;
    write_rkey_ = header.rkey;
    write_length_ = header.dma_length;
    return Fault::None;
}

Responder::Fault Responder::check_read(const wire::Header& header, std::uint32_t payload) {
    const std::uint32_t packets = packets_for(header.dma_length, context_.attributes.path_mtu);
    if (payload != 0 || !allowed(IBV_ACCESS_REMOTE_READ) || header.dma_length > kMaxMessage ||
        packets > kPsnWindow || responses_.full()) {
        return Fault::InvalidRequest;
    }
    return grants(header, context_.host.pd(), header.dma_length, IBV_ACCESS_REMOTE_READ)
               ? Fault::None
               : Fault::RemoteAccess;
}

Responder::Fault Responder::check_atomic(const wire::Header& header, std::uint32_t payload) {
    if (payload != 0 || !allowed(IBV_ACCESS_REMOTE_ATOMIC) || header.remote_address % kWord != 0 ||
        responses_.full() ||
        lies_across_words(header, context_.host.pd(), IBV_ACCESS_REMOTE_ATOMIC)) {
        return Fault::InvalidRequest;
    }
    return grants(header, context_.host.pd(), kWord, IBV_ACCESS_REMOTE_ATOMIC)
               ? Fault::None
               : Fault::RemoteAccess;
}

Responder::Fault Responder::check_atomic_write(const wire::Header& header, std::uint32_t payload) {
    if (payload != kWord || header.dma_length != kWord || !allowed(IBV_ACCESS_REMOTE_WRITE) ||
        header.remote_address % kWord != 0 || responses_.full() ||
        lies_across_words(header, context_.host.pd(), IBV_ACCESS_REMOTE_WRITE)) {
        return Fault::InvalidRequest;
    }
    if (!grants(header, context_.host.pd(), kWord, IBV_ACCESS_REMOTE_WRITE)) {
        return Fault::RemoteAccess;
    }
    inbound_.segments[0] = {inbound_.word.data(), inbound_.word.size(), nullptr};
    inbound_.segment_count = 1;
    return Fault::None;
}

Responder::Fault Responder::check_flush(const wire::Header& header, std::uint32_t payload) {
    constexpr unsigned kTypes = kFlushGlobal | kFlushPersistent;
    const bool bad_type = (header.flush_type & kTypes) == 0 || (header.flush_type & ~kTypes) != 0 ||
                          header.flush_level > kFlushRegion;
    if (payload != 0 || bad_type || !allowed(flush_access(header.flush_type)) ||
        responses_.full()) {
        return Fault::InvalidRequest;
    }
    return flush_range(header) ? Fault::None : Fault::RemoteAccess;
}

std::optional<memory::Segment> Responder::flush_range(const wire::Header& header) const {
    const memory::Table& table = memory::Table::instance();
    const unsigned access = flush_access(header.flush_type);
    if (header.flush_level == kFlushRegion) {
        return table.find_region(header.rkey, context_.host.pd(), access);
    }
    if (header.dma_length == 0) {
        return memory::Segment{};
    }
    return table.find(header.rkey, context_.host.pd(), header.remote_address, header.dma_length,
                      access);
}

}  // namespace fabric::rc
