// SPDX-License-Identifier: BSD-3-Clause
// A link moves the packets of one connection between two processes. What it runs over is its own
// matter (TCP now).
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "rc/endpoint.hpp"

namespace fabric::carrier {

// Takes the RC packets of a link: a queue pair. Calls come from whichever thread drives the link,
// never two at the same time for receiving, never two at the same time for sending; the
// implementation takes its own (queue pair) lock.
class PacketHandler {
public:
    virtual ~PacketHandler() = default;
    virtual rc::Endpoint::Begin begin(const wire::Header& header, std::size_t payload_bytes) = 0;
    virtual void end(bool placed) = 0;
    virtual bool next_packet(rc::OutPacket& out) = 0;
    virtual void link_lost() = 0;
};

// Takes the management datagrams (to QP 1) of a link and its end: the connection manager. Called on
// the engine's thread with none of the link's send and receive locks held, so a handler may call
// any function of its link.
class ControlHandler {
public:
    virtual ~ControlHandler() = default;
    virtual void connected() = 0;                               // an outgoing link is up
    virtual void datagram(std::span<const std::byte> mad) = 0;  // 256 bytes, as received
    virtual void lost(int error) = 0;  // errno; ECONNREFUSED before connected(): nobody listens;
                                       // 0: the peer closed in order. Called once, last.
};

// Lock order of the whole fabric, outermost first:
//   whatever a control handler takes -> link (receive, then send) -> queue pair -> SRQ -> CQ ->
//   channel or asynchronous events
//   -> table of descriptors, engine, memory table (leaves).
// A handler never calls back into a link while it holds a lock that its own
// begin/end/next_packet/link_lost take, and close() is never called with a lock held that the
// link's control handler takes: it waits for a call to that handler that is under way.
class Link {
public:
    virtual ~Link() = default;

    virtual void set_control(std::shared_ptr<ControlHandler> handler) = 0;
    // Binds the queue pair. Packets that arrive before are kept (the link stops reading). nullptr
    // detaches: when this returns, no call into the old handler is running or will come; packets
    // that still arrive are thrown away, and if the peer goes on with them the link ends after a
    // short while.
    virtual void set_packets(std::shared_ptr<PacketHandler> handler) = 0;
    // After detaching: the peer waits for an answer that will not come, so the link ends as if the
    // peer had gone on.
    virtual void abandon() = 0;

    // Queues a management datagram (up to 256 bytes, filled with zeros); it goes out before the
    // next packet, at once if the carrier takes it.
    virtual void send_datagram(std::span<const std::byte> mad) = 0;
    // There may be packets to send: sends what the carrier takes now, the engine sends the rest.
    // Any thread, no lock held.
    virtual void kick() = 0;
    // As kick(), and what was there before the call is with the carrier when it returns, if the
    // carrier takes it now. For a queue pair that is about to go: its last answers still go out.
    virtual void push() = 0;
    // The region is about to go: nothing this link has in flight may refer to it afterwards.
    virtual void release(const memory::Region* region) = 0;
    // Sends what is queued, then closes. No handler is called after this returns. A link must be
    // closed, else it lives on.
    virtual void close() = 0;

    // The peer has closed it, whatever has not been read yet. No lock held.
    virtual bool left_by_peer() const { return false; }

    virtual sockaddr_storage local_address() const = 0;
    virtual sockaddr_storage peer_address() const = 0;
    virtual std::uint64_t id() const = 0;  // for the trace
};

// A listening port. Destroying it stops listening at once; the port can be taken again at once. A
// call to on_link that is under way on the engine's thread still ends.
class Listener {
public:
    virtual ~Listener() = default;
    virtual sockaddr_storage address() const = 0;  // with the port really bound
};

// All are thread-safe and start the engine on first use.
// The handler's connected() or lost() tells the outcome. 0 or an errno that is known at once.
int connect(const sockaddr_storage& source, const sockaddr_storage& destination,
            std::shared_ptr<ControlHandler> handler, std::shared_ptr<Link>* link);
// on_link is called on the engine's thread for each incoming link, before anything is read from it.
// A link that on_link keeps no reference to is closed. The IPv6 wildcard takes IPv4 as well unless
// `only_ipv6` is set.
int listen(const sockaddr_storage& address, int backlog,
           std::function<void(std::shared_ptr<Link>)> on_link, std::unique_ptr<Listener>* listener,
           bool only_ipv6 = false);
// Passes every link's locks once, so that no one still uses what was found in the memory table
// before; and releases the region.
void release_everywhere(const memory::Region* region);

}  // namespace fabric::carrier
