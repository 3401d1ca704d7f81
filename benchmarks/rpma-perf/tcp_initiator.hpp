// SPDX-License-Identifier: BSD-3-Clause
// One TCP connection of the client, with the functions of RdmaInitiator. Sends and receives what is
// possible at each poll, so that neither side waits for the other to read.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "link.hpp"
#include "rdma_initiator.hpp"
#include "slots.hpp"
#include "socket.hpp"
#include "tcp_protocol.hpp"

namespace perf {

class TcpInitiator {
public:
    TcpInitiator(const Endpoint& to, const Case& point, std::size_t connection);

    SlotTable& slots() { return slots_; }
    [[nodiscard]] int fd() const { return socket_.fd(); }
    [[nodiscard]] short events() const {
        return static_cast<short>(outgoing_.empty() ? POLLIN : POLLIN | POLLOUT);
    }
    void take_event() {}
    [[nodiscard]] const std::string& failure() const { return failure_; }

    bool post(std::uint32_t index);
    int poll(DoneList& done);
    bool begin_check(std::uint32_t index, bool& later);

private:
    struct Outgoing {
        const char* data;
        std::size_t size;
    };
    struct Incoming {
        std::uint32_t slot;
        char* data;
        std::size_t size;
    };
    void request(std::uint32_t index, std::size_t operation);
    void enqueue(TcpHeader& header, const char* payload);
    void expect(std::uint32_t index, char* data, std::size_t size);
    void send_some();
    std::size_t receive_some();
    bool broken(const char* what);

    Case point_;
    SlotTable slots_;
    Socket socket_;
    std::vector<TcpHeader>
        headers_;  // one for each operation in flight, and one to check each slot
    std::deque<Outgoing> outgoing_;
    std::deque<Incoming> incoming_;
    std::vector<char> acks_;
    std::string failure_;
};

}  // namespace perf
