// SPDX-License-Identifier: BSD-3-Clause
// A queue pair: the ibv_qp programs hold, its transport, and the link it sends over.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>

#include "carrier/link.hpp"

namespace fabric::verbs {

// Core of every queue pair; `struct ibv_qp_ex` is embedded in it, so a program's ibv_qp* leads back
// here. Lives in a shared_ptr: the program's handle is one owner, the link another.
class QueuePair : public carrier::PacketHandler, public std::enable_shared_from_this<QueuePair> {
public:
    virtual ibv_qp* handle() = 0;
    // Modifies under the rules of ibv_modify_qp; 0 or errno. `stream_mtu` overrides the path MTU
    // (bytes) where both sides agreed on more than InfiniBand's 4096, 0 keeps attr's.
    virtual int modify(const ibv_qp_attr& attr, int mask, std::uint32_t stream_mtu) = 0;
    // From now on packets go over this link (set_packets is called on it); nullptr: no link.
    virtual void attach(std::shared_ptr<carrier::Link> link) = 0;
    // The same for a queue pair that the program made and moves through its states by itself, on a
    // connection of the connection manager: the link stays the manager's, and a packet carries what
    // both sides agreed on.
    virtual void attach_managed(std::shared_ptr<carrier::Link> link, std::uint32_t packet_size) = 0;
    virtual void cut_managed() = 0;  // that connection is over
};

// The QueuePair behind a program's handle; nullptr if it is not one of ours.
std::shared_ptr<QueuePair> from_handle(ibv_qp* qp);
// One that can also be connected by hand; nullptr for those of the connection manager.
std::shared_ptr<QueuePair> reachable_by_number(std::uint32_t number);
// It is one of those, here or in another process.
bool is_reachable(std::uint32_t number);

// Creation as used by both ibv_create_qp_ex and the connection manager; errno on failure. attr->cap
// is updated. A queue pair made for the connection manager (`managed`) takes its number from a
// range that is not reachable by hand-connecting.
ibv_qp* create(ibv_context* context, ibv_qp_init_attr_ex* attr, bool managed);

// The device context that librdmacm's functions give to every id: opened once, never closed.
ibv_context* shared_context();

}  // namespace fabric::verbs
