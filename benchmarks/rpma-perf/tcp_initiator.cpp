// SPDX-License-Identifier: BSD-3-Clause
#include "tcp_initiator.hpp"

#include <endian.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>

#include "error.hpp"

namespace perf {
namespace {

TcpAction action_of(const Case& point) {
    switch (point.op) {
        case Op::read:
            return TcpAction::read;
        case Op::send:
            return TcpAction::message;
        case Op::pingpong:
            return TcpAction::echo;
        case Op::commit:
            return TcpAction::commit;
        case Op::persist:
            return TcpAction::persist;
        case Op::flush:
            return point.flush == FlushType::persistent ? TcpAction::persist : TcpAction::store;
        case Op::write:
            break;
    }
    return TcpAction::store;
}

}  // namespace

TcpInitiator::TcpInitiator(const Endpoint& to, const Case& point, std::size_t connection)
    : point_(point),
      slots_(point, connection),
      socket_(Socket::connect(to.address, std::stoi(to.port), kConnectTimeoutMs)),
      headers_(point.queue_depth + slots_.size()),
      acks_(kTcpAck) {
    // The server serves connections in the order of their numbers, not of their arrival.
    const std::uint32_t number = htole32(static_cast<std::uint32_t>(connection));
    socket_.send_all(&number, sizeof(number), kConnectTimeoutMs);
}

bool TcpInitiator::post(std::uint32_t index) {
    slots_.begin(index);
    slots_[index].pending = 0;
    for (std::size_t i = 0; i < point_.batch; i++) {
        request(index, i);
    }
    send_some();
    return failure_.empty();
}

void TcpInitiator::request(std::uint32_t index, std::size_t operation) {
    const Layout& layout = slots_.layout();
    const std::size_t within = operation * point_.size;
    const bool last = operation + 1 == point_.batch;
    char* const data = slots_.memory().at(layout.local_data(index) + within);
    TcpHeader& header = headers_[std::size_t{index} * point_.batch + operation];
    header.offset = htole64(layout.remote_data(slots_.connection(), index) + within);
    header.size = htole32(static_cast<std::uint32_t>(point_.size));
    header.action = action_of(point_);
    // The commit word goes behind the batch, so only its last request carries one.
    if (header.action == TcpAction::commit && !last) {
        header.action = TcpAction::store;
    }
    header.wants_ack = 0;
    if (point_.op == Op::read) {
        enqueue(header, nullptr);
        expect(index, data, point_.size);
        return;
    }
    if (point_.op == Op::pingpong) {
        expect(index, slots_.memory().at(layout.reply(index) + within), point_.size);
    } else if (last) {
        header.wants_ack = 1;
        expect(index, acks_.data(), kTcpAck);
    }
    enqueue(header, data);
    if (header.action == TcpAction::commit) {
        outgoing_.push_back({slots_[index].commit_word, kCommitSize});
    }
}

void TcpInitiator::enqueue(TcpHeader& header, const char* payload) {
    outgoing_.push_back({reinterpret_cast<const char*>(&header), sizeof(header)});
    if (payload != nullptr) {
        outgoing_.push_back({payload, le32toh(header.size)});
    }
}

void TcpInitiator::expect(std::uint32_t index, char* data, std::size_t size) {
    slots_[index].pending++;
    incoming_.push_back({index, data, size});
}

bool TcpInitiator::broken(const char* what) {
    if (failure_.empty()) {
        failure_ = fmt::format("{}: {}", what, errno_text());
    }
    return false;
}

void TcpInitiator::send_some() {
    constexpr std::size_t kParts = 32;
    while (!outgoing_.empty()) {
        std::array<iovec, kParts> parts{};
        std::size_t count = 0;
        for (; count < kParts && count < outgoing_.size(); count++) {
            parts[count] = {const_cast<char*>(outgoing_[count].data), outgoing_[count].size};
        }
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = count;
        const ssize_t sent = sendmsg(socket_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno != EAGAIN && errno != EINTR) {
                broken("sending by TCP");
            }
            return;
        }
        auto left = static_cast<std::size_t>(sent);
        while (left > 0) {
            Outgoing& first = outgoing_.front();
            const std::size_t taken = std::min(left, first.size);
            first.data += taken;
            first.size -= taken;
            left -= taken;
            if (first.size == 0) {
                outgoing_.pop_front();
            }
        }
    }
}

// Into the places of the next answers, by one call. Returns how many bytes came.
std::size_t TcpInitiator::receive_some() {
    constexpr std::size_t kParts = 32;
    std::array<iovec, kParts> parts{};
    std::size_t count = 0;
    for (; count < kParts && count < incoming_.size(); count++) {
        parts[count] = {incoming_[count].data, incoming_[count].size};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t got = recvmsg(socket_.fd(), &message, MSG_DONTWAIT);
    if (got == 0) {
        failure_ = "the server has closed the TCP connection";
    } else if (got < 0 && errno != EAGAIN && errno != EINTR) {
        broken("receiving by TCP");
    }
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

int TcpInitiator::poll(DoneList& done) {
    send_some();
    std::size_t left = incoming_.empty() ? 0 : receive_some();
    if (!failure_.empty()) {
        return -1;
    }
    std::size_t count = 0;
    while (left > 0) {  // at most kPollCapacity answers, as many as receive_some() had places
        Incoming& first = incoming_.front();
        const std::size_t taken = std::min(left, first.size);
        first.data += taken;
        first.size -= taken;
        left -= taken;
        if (first.size > 0) {
            break;
        }
        Slot& slot = slots_[first.slot];
        if (--slot.pending == 0) {
            done[count++] = {first.slot, slot.checking};
        }
        incoming_.pop_front();
    }
    return static_cast<int>(count);
}

bool TcpInitiator::begin_check(std::uint32_t index, bool& later) {
    const Layout& layout = slots_.layout();
    later = false;
    if (point_.op == Op::read) {
        slots_.check_operations_at(layout.local_data(index), index, 0);
        return true;
    }
    if (point_.op == Op::pingpong) {
        slots_.check_operations_at(layout.reply(index), index, slots_[index].sequence);
    }
    if (point_.op == Op::pingpong || point_.op == Op::send) {
        return true;
    }
    later = true;
    slots_[index].checking = true;
    TcpHeader& header = headers_[point_.queue_depth + index];
    header = {htole64(layout.remote_data(slots_.connection(), index)),
              htole32(static_cast<std::uint32_t>(layout.slot_size())), TcpAction::read, 0, 0};
    enqueue(header, nullptr);
    expect(index, slots_.memory().at(layout.check_copy(index)), layout.slot_size());
    send_some();
    return failure_.empty();
}

}  // namespace perf
