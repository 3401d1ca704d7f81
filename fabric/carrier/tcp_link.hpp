// SPDX-License-Identifier: BSD-3-Clause
// A link over one TCP connection (RFC 9293); frames as in wire/packet.hpp.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "carrier/descriptor.hpp"
#include "carrier/engine.hpp"
#include "carrier/link.hpp"
#include "carrier/receiver.hpp"
#include "carrier/sender.hpp"

namespace fabric::carrier {

// Locks, outermost first: control_mutex_ (calls to the control handler, one at a time),
// receive_mutex_, send_mutex_, interest_mutex_.
class TcpLink final : public Link, public Watcher, public std::enable_shared_from_this<TcpLink> {
public:
    TcpLink(Descriptor socket, bool outgoing, const sockaddr_storage& peer);

    // Hands the socket to the engine; from here on calls come. 0 or errno.
    int start();

    void set_control(std::shared_ptr<ControlHandler> handler) override;
    void set_packets(std::shared_ptr<PacketHandler> handler) override;
    void abandon() override;
    void send_datagram(std::span<const std::byte> mad) override;
    void kick() override;
    void push() override;
    void release(const memory::Region* region) override;
    void close() override;
    bool left_by_peer() const override;
    sockaddr_storage local_address() const override { return local_address_; }
    sockaddr_storage peer_address() const override { return peer_address_; }
    std::uint64_t id() const override { return id_; }

    void ready(std::uint32_t epoll_events) override;
    void settle() override { kick(); }
    // Ends the link if its peer is dead; true if data are under way. On the engine's thread.
    bool check_peer();

private:
    enum class State : std::uint8_t {
        Connecting,
        Open,
        Closing,  // closed by the owner; what was queued goes out, then the peer's end is awaited
        Closed
    };

    void finish_connecting();
    int connect_result();
    bool park();
    void receive();
    int receive_round(std::unique_lock<std::mutex>& receiving);
    bool parse_all(std::unique_lock<std::mutex>& receiving);
    void deliver(const Mad& mad);
    void drain();
    void resume();
    void watch_discards();
    void flush();
    void send_failed(int error);
    void finish_cut();
    void finish_sending();
    void fail(int error);
    void shut(bool orderly);
    void set_interest(std::optional<bool> input, std::optional<bool> output);
    std::shared_ptr<ControlHandler> control() const;

    const std::uint64_t id_;
    Descriptor socket_;
    const int fd_;
    std::atomic<State> state_;
    sockaddr_storage local_address_;  // set before connected() is called
    const sockaddr_storage peer_address_;

    std::recursive_mutex control_mutex_;

    mutable std::mutex receive_mutex_;
    Receiver receiver_;
    std::shared_ptr<ControlHandler> control_;
    std::shared_ptr<PacketHandler> packets_;  // changed under both locks, read under either
    bool stalled_ = false;                    // nobody takes the next packet, so nothing is read
    bool parked_ = false;  // and the peer is gone, so the engine does not watch the socket
    bool discarding_ = false;
    Timer discard_timer_;

    std::mutex send_mutex_;
    Sender sender_;
    bool blocked_ = false;  // the socket is full; the engine goes on
    std::atomic<unsigned> kicks_{0};
    std::atomic<int> send_error_{0};
    Timer linger_timer_;

    std::mutex interest_mutex_;
    bool input_ = true;
    bool output_ = false;
};

}  // namespace fabric::carrier
