// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/tcp_link.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "carrier/address.hpp"
#include "carrier/liveness.hpp"
#include "carrier/registry.hpp"
#include "carrier/tunables.hpp"
#include "log.hpp"
#include "pcap/recorder.hpp"
#include "trace.hpp"
#include "uncancellable.hpp"

namespace fabric::carrier {
namespace {

// The engine's thread is the only one that receives, so one buffer serves all links.
Receiver::Scratch& engine_scratch() {
    static auto* const scratch = new Receiver::Scratch;
    return *scratch;
}

constexpr int kAlive = -1;

}  // namespace

TcpLink::TcpLink(Descriptor socket, bool outgoing, const sockaddr_storage& peer)
    : id_(registry::next_id()),
      socket_(std::move(socket)),
      fd_(socket_.get()),
      state_(outgoing ? State::Connecting : State::Open),
      local_address_(local_of(fd_)),
      peer_address_(peer),
      receiver_(id_),
      sender_(id_),
      input_(!outgoing),
      output_(outgoing) {}

int TcpLink::start() {
    registry::add(id_, shared_from_this());
    if (state_ == State::Open && pcap::enabled())
        pcap::opened(id_, local_address_, peer_address_);
    const int error = Engine::instance().watch(
        fd_, state_ == State::Connecting ? EPOLLOUT : EPOLLIN, shared_from_this());
    if (error != 0)
        registry::remove(id_);
    return error;
}

// --- handlers ---

void TcpLink::set_control(std::shared_ptr<ControlHandler> handler) {
    {
        const std::lock_guard receiving(receive_mutex_);
        control_.swap(handler);
    }
    resume();
}

std::shared_ptr<ControlHandler> TcpLink::control() const {
    const std::lock_guard receiving(receive_mutex_);
    return control_;
}

void TcpLink::set_packets(std::shared_ptr<PacketHandler> handler) {
    const bool bound = handler != nullptr;
    {
        const std::scoped_lock both(receive_mutex_, send_mutex_);
        if (bound)
            receiver_.attach();
        else if (packets_ != nullptr)
            receiver_.detach();
        packets_.swap(handler);
    }
    if (bound)
        kick();
    resume();
}

void TcpLink::abandon() {
    const std::lock_guard receiving(receive_mutex_);
    if (packets_ == nullptr && state_ == State::Open)
        watch_discards();
}

// Goes on with packets that waited for a handler.
void TcpLink::resume() {
    const std::lock_guard receiving(receive_mutex_);
    if (!std::exchange(stalled_, false) || state_ != State::Open)
        return;
    if (std::exchange(parked_, false))
        Engine::instance().watch(fd_, EPOLLIN, shared_from_this());
    Engine::instance().post([self = shared_from_this()] { self->receive(); });
}

void TcpLink::release(const memory::Region* region) {
    {
        const std::lock_guard receiving(receive_mutex_);
        receiver_.forget(region);
    }
    const std::lock_guard sending(send_mutex_);
    sender_.forget(region);
}

// --- on the engine's thread ---

void TcpLink::ready(std::uint32_t epoll_events) {
    if (state_ == State::Connecting) {
        finish_connecting();
        return;
    }
    if ((epoll_events & EPOLLOUT) != 0) {
        {
            const std::lock_guard sending(send_mutex_);
            blocked_ = false;
        }
        kick();
    }
    if ((epoll_events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
        return;
    if (state_ == State::Closing)
        drain();
    else if (!park())
        receive();
}

// The peer is gone while packets wait for a handler: epoll would tell it again and again, so it is
// not asked until they are taken.
bool TcpLink::park() {
    const std::lock_guard receiving(receive_mutex_);
    if (!stalled_ || state_ != State::Open)
        return false;
    parked_ = true;
    Engine::instance().unwatch(fd_);
    return true;
}

void TcpLink::finish_connecting() {
    if (const int error = connect_result(); error != 0) {
        fail(error);
        return;
    }
    if (trace::event_enabled(LogLevel::Info))
        trace::event(LogLevel::Info, id_, "connected to %s", text_of(peer_address_).c_str());
    {
        const std::lock_guard calling(control_mutex_);
        if (const auto handler = control())
            handler->connected();
    }
    kick();
}

int TcpLink::connect_result() {
    const std::scoped_lock both(receive_mutex_, send_mutex_);
    if (state_ != State::Connecting)
        return 0;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
        return error;
    local_address_ = local_of(fd_);
    // A free port in the ephemeral range can be connected to itself; nobody listens there.
    if (same_endpoint(local_address_, peer_of(fd_)))
        return ECONNREFUSED;
    if (pcap::enabled())
        pcap::opened(id_, local_address_, peer_address_);
    state_ = State::Open;
    set_interest(true, false);
    return 0;
}

void TcpLink::receive() {
    std::unique_lock receiving(receive_mutex_);
    if (state_ != State::Open || stalled_)
        return;
    receiver_.load(engine_scratch());
    const int error = receive_round(receiving);
    receiver_.save();
    const bool answer = receiver_.took_packets();
    if (state_ == State::Open)
        set_interest(!stalled_, std::nullopt);
    receiving.unlock();
    if (answer && !Engine::instance().postpone(shared_from_this()))
        kick();
    if (error != kAlive)
        fail(error);
}

// kAlive, or why the link is at its end: 0 closed by the peer, else errno.
int TcpLink::receive_round(std::unique_lock<std::mutex>& receiving) {
    std::size_t budget = kReceiveBudget;
    bool more = true;
    while (parse_all(receiving)) {
        if (!more || stalled_ || state_ != State::Open)
            return kAlive;
        std::size_t bytes = 0;
        const Receiver::Fill got = receiver_.fill(fd_, &bytes);
        if (got == Receiver::Fill::Failed)
            return errno;
        if (got == Receiver::Fill::End)
            return send_error_;
        if (got == Receiver::Fill::Nothing)
            return kAlive;
        more = got == Receiver::Fill::Some && bytes < budget;
        budget -= std::min(budget, bytes);
    }
    return EPROTO;
}

// Takes everything that has come to its handler; false if the peer broke the protocol.
bool TcpLink::parse_all(std::unique_lock<std::mutex>& receiving) {
    Mad mad;
    for (;;) {
        switch (receiver_.parse(packets_.get(), control_ != nullptr, mad)) {
            case Receiver::Parse::Datagram:
                receiving.unlock();
                deliver(mad);
                receiving.lock();
                if (state_ != State::Open)
                    return true;
                break;
            case Receiver::Parse::Discards:
                watch_discards();
                return true;
            case Receiver::Parse::Stalled:
                stalled_ = true;
                return true;
            case Receiver::Parse::Hungry:
                return true;
            case Receiver::Parse::Broken:
                log(LogLevel::Warning, "%s sent what is no valid packet; its connection is ended",
                    text_of(peer_address_).c_str());
                return false;
        }
    }
}

void TcpLink::deliver(const Mad& mad) {
    const std::lock_guard calling(control_mutex_);
    if (const auto handler = control())
        handler->datagram(mad);
}

// The queue pair is gone, the peer's is not: as on a real network its requests find nobody, so they
// must not wait for ever.
void TcpLink::watch_discards() {
    if (std::exchange(discarding_, true))
        return;
    discard_timer_.set(kDetachedGrace, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            const bool still = [&] {
                const std::lock_guard receiving(self->receive_mutex_);
                self->discarding_ = false;
                return self->packets_ == nullptr && self->state_ == State::Open;
            }();
            if (still)
                self->fail(ECONNRESET);
        }
    });
}

bool TcpLink::check_peer() {
    std::unique_lock receiving(receive_mutex_);
    if (state_ == State::Connecting || state_ == State::Closed)
        return false;
    const auto peer = liveness::look_at(fd_);
    receiving.unlock();
    if (peer == liveness::Peer::Dead)
        fail(ETIMEDOUT);
    return peer == liveness::Peer::Busy;
}

bool TcpLink::left_by_peer() const {
    const std::lock_guard receiving(receive_mutex_);
    return state_ != State::Open || liveness::has_ended(fd_);
}

// --- sending, from any thread ---

void TcpLink::send_datagram(std::span<const std::byte> mad) {
    {
        const std::lock_guard sending(send_mutex_);
        if (state_ == State::Closing || state_ == State::Closed)
            return;
        sender_.queue_datagram(mad);
    }
    kick();
}

void TcpLink::kick() {
    const Uncancellable guarded;
    // Whoever is sending already will see this call and look again.
    if (kicks_.fetch_add(1, std::memory_order_acq_rel) != 0)
        return;
    unsigned seen = 1;
    do {
        flush();
    } while (!kicks_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel));
}

void TcpLink::push() {
    const Uncancellable guarded;
    flush();
}

void TcpLink::flush() {
    const std::lock_guard sending(send_mutex_);
    if (blocked_ || send_error_ != 0 || (state_ != State::Open && state_ != State::Closing) ||
        socket_.inherited())
        return;
    const Sender::Result result = sender_.flush(fd_, packets_.get());
    if (result == Sender::Result::Failed) {
        send_failed(errno);
        return;
    }
    blocked_ = result != Sender::Result::Idle;
    set_interest(std::nullopt, blocked_);
    if (!blocked_ && state_ == State::Closing)
        ::shutdown(fd_, SHUT_WR);
    liveness::data_under_way();
}

// The receiving side finds the end of the link, after what the peer sent before it.
void TcpLink::send_failed(int error) {
    send_error_ = error;
    if (error == EPIPE || error == ECONNRESET)
        return;
    if (error == kCutError) {
        finish_cut();
        return;
    }
    if (error == EFAULT)
        log(LogLevel::Error,
            "memory was unmapped while it was registered and a transfer used it; the connection to "
            "%s is ended",
            text_of(peer_address_).c_str());
    ::shutdown(fd_, SHUT_RDWR);
}

// The peer sees the end of what was sent and closes; its answers to what came before still arrive.
void TcpLink::finish_cut() {
    ::shutdown(fd_, SHUT_WR);
    linger_timer_.set(kLinger, [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->fail(kCutError);
    });
}

// --- the end ---

// On the engine's thread: the link ended by itself.
void TcpLink::fail(int error) {
    std::shared_ptr<PacketHandler> packets;
    {
        const std::scoped_lock both(receive_mutex_, send_mutex_);
        if (state_ == State::Closed)
            return;
        const bool orphan = state_ == State::Closing;
        shut(error == 0 || error == kCutError);  // what was sent before it still arrives
        packets.swap(packets_);
        if (!orphan && packets != nullptr)
            packets->link_lost();
    }
    if (trace::event_enabled(LogLevel::Info))
        trace::event(LogLevel::Info, id_, "lost: %s",
                     error == 0 ? "closed by the peer" : std::strerror(error));
    const std::lock_guard calling(control_mutex_);
    const auto handler = control();
    set_control(nullptr);
    if (handler != nullptr)
        handler->lost(error);
}

void TcpLink::close() {
    const Uncancellable guarded;
    const std::lock_guard calling(control_mutex_);
    std::shared_ptr<PacketHandler> packets;
    std::shared_ptr<ControlHandler> handler;
    if (state_ == State::Open)
        kick();
    const std::scoped_lock both(receive_mutex_, send_mutex_);
    packets.swap(packets_);
    handler.swap(control_);
    receiver_.detach();
    if (state_ == State::Closed || state_ == State::Closing)
        return;
    if (state_ == State::Connecting || socket_.inherited() || send_error_ != 0) {
        shut(false);
        return;
    }
    state_ = State::Closing;
    stalled_ = false;
    finish_sending();
}

// Caller holds both locks.
void TcpLink::finish_sending() {
    const auto result = blocked_ ? Sender::Result::Blocked : sender_.flush(fd_, nullptr);
    if (result == Sender::Result::Failed) {
        shut(false);
        return;
    }
    if (result == Sender::Result::Idle)
        ::shutdown(fd_, SHUT_WR);
    blocked_ = result != Sender::Result::Idle;
    if (std::exchange(parked_, false))
        Engine::instance().watch(fd_, EPOLLIN, shared_from_this());
    set_interest(true, blocked_);
    // The engine keeps the link while it watches the socket; one that has ended earlier is let go.
    linger_timer_.set(kLinger, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self == nullptr)
            return;
        const std::scoped_lock both(self->receive_mutex_, self->send_mutex_);
        if (self->state_ != State::Closed)
            self->shut(true);
    });
}

// Closed by the owner: what the peer still sends is thrown away until its end comes.
void TcpLink::drain() {
    const std::scoped_lock both(receive_mutex_, send_mutex_);
    if (state_ != State::Closing)
        return;
    Receiver::Scratch& scratch = engine_scratch();
    const ssize_t got = recv(fd_, scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN))
        shut(true);
}

// Caller holds both locks. The peer learns it at once, even if a forked child still has a copy of
// the socket.
void TcpLink::shut(bool orderly) {
    state_ = State::Closed;
    discard_timer_.cancel();
    linger_timer_.cancel();
    if (!socket_.inherited()) {
        Engine::instance().unwatch(fd_);
        if (!orderly) {
            const linger reset = {1, 0};
            setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        }
        ::shutdown(fd_, SHUT_RDWR);
    }
    registry::remove(id_);
    if (pcap::enabled())
        pcap::closed(id_);
    socket_.reset();
}

// Caller holds a lock of the link, and the link is not closed. No value: as it was.
void TcpLink::set_interest(std::optional<bool> input, std::optional<bool> output) {
    const std::lock_guard guard(interest_mutex_);
    const bool in = input.value_or(input_);
    const bool out = output.value_or(output_);
    if (in == input_ && out == output_)
        return;
    input_ = in;
    output_ = out;
    Engine::instance().change(fd_, (in ? EPOLLIN : 0U) | (out ? EPOLLOUT : 0U));
}

}  // namespace fabric::carrier
