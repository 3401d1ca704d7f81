// SPDX-License-Identifier: BSD-3-Clause
// librdmacm: datagrams, multicast and rsockets.
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include <array>

#include "refusals.hpp"

namespace {

// With an id of that port space, bound to the loopback address.
int with_id(rdma_port_space space, const std::function<int(rdma_cm_id*, sockaddr*)>& call) {
    rdma_event_channel* const channel = rdma_create_event_channel();
    rdma_cm_id* id = nullptr;
    if (channel == nullptr || rdma_create_id(channel, &id, nullptr, space) != 0)
        return -1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    const int error = rdma_bind_addr(id, generic) == 0 ? call(id, generic) : -1;
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
    return error;
}

int datagram_pair(rdma_cm_id* id, sockaddr*) {
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_UD;
    attr.cap = {1, 1, 1, 1, 0};
    return minus_one_error(rdma_create_qp(id, nullptr, &attr));
}

int join_extended(rdma_cm_id* id, sockaddr* address) {
    rdma_cm_join_mc_attr_ex attr{};
    attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS;
    attr.addr = address;
    return minus_one_error(rdma_join_multicast_ex(id, &attr, nullptr));
}

std::vector<Refusal> datagrams() {
    return {
        {"rdma_create_qp", EOPNOTSUPP,
         [](Objects&) { return with_id(RDMA_PS_UDP, datagram_pair); }},
        {"rdma_listen", EOPNOTSUPP,
         [](Objects&) {
             return with_id(RDMA_PS_UDP, [](rdma_cm_id* id, sockaddr*) {
                 return minus_one_error(rdma_listen(id, 1));
             });
         }},
        {"rdma_join_multicast", EOPNOTSUPP,
         [](Objects&) {
             return with_id(RDMA_PS_UDP, [](rdma_cm_id* id, sockaddr* address) {
                 return minus_one_error(rdma_join_multicast(id, address, nullptr));
             });
         }},
        {"rdma_join_multicast", EINVAL,  // of a connected id: whatever the device has
         [](Objects&) {
             return with_id(RDMA_PS_TCP, [](rdma_cm_id* id, sockaddr* address) {
                 return minus_one_error(rdma_join_multicast(id, address, nullptr));
             });
         }},
        {"rdma_join_multicast_ex", EOPNOTSUPP,
         [](Objects&) { return with_id(RDMA_PS_UDP, join_extended); }},
        {"rdma_leave_multicast", EADDRNOTAVAIL,  // as of a group that was not joined
         [](Objects&) {
             return with_id(RDMA_PS_UDP, [](rdma_cm_id* id, sockaddr* address) {
                 return minus_one_error(rdma_leave_multicast(id, address));
             });
         }},
    };
}

std::array<char, 8> bytes;
sockaddr_in peer{};
socklen_t peer_size = sizeof peer;
iovec piece{bytes.data(), bytes.size()};
msghdr message{};

sockaddr* address() {
    return reinterpret_cast<sockaddr*>(&peer);
}

// Each without a single rsocket in the process: the descriptor is an ordinary one.
#define RSOCKET_CALL(function, ...)                                                            \
    {                                                                                          \
#function, EOPNOTSUPP,                                                                 \
            [](Objects&) { return minus_one_error(static_cast<long>(function(__VA_ARGS__))); } \
    }

std::vector<Refusal> rsockets() {
    return {
        RSOCKET_CALL(rsocket, AF_INET, SOCK_STREAM, 0),
        RSOCKET_CALL(rsocket, AF_INET, SOCK_DGRAM, 0),
        RSOCKET_CALL(rbind, 0, address(), peer_size),
        RSOCKET_CALL(rlisten, 0, 1),
        RSOCKET_CALL(raccept, 0, address(), &peer_size),
        RSOCKET_CALL(rconnect, 0, address(), peer_size),
        RSOCKET_CALL(rshutdown, 0, SHUT_RDWR),
        RSOCKET_CALL(rclose, 0),
        RSOCKET_CALL(rrecv, 0, bytes.data(), bytes.size(), 0),
        RSOCKET_CALL(rrecvfrom, 0, bytes.data(), bytes.size(), 0, address(), &peer_size),
        RSOCKET_CALL(rrecvmsg, 0, &message, 0),
        RSOCKET_CALL(rsend, 0, bytes.data(), bytes.size(), 0),
        RSOCKET_CALL(rsendto, 0, bytes.data(), bytes.size(), 0, address(), peer_size),
        RSOCKET_CALL(rsendmsg, 0, &message, 0),
        RSOCKET_CALL(rread, 0, bytes.data(), bytes.size()),
        RSOCKET_CALL(rreadv, 0, &piece, 1),
        RSOCKET_CALL(rwrite, 0, bytes.data(), bytes.size()),
        RSOCKET_CALL(rwritev, 0, &piece, 1),
        RSOCKET_CALL(rpoll, nullptr, 0, 0),
        RSOCKET_CALL(rselect, 0, nullptr, nullptr, nullptr, nullptr),
        RSOCKET_CALL(rgetpeername, 0, address(), &peer_size),
        RSOCKET_CALL(rgetsockname, 0, address(), &peer_size),
        RSOCKET_CALL(rsetsockopt, 0, SOL_SOCKET, SO_KEEPALIVE, bytes.data(), 4),
        RSOCKET_CALL(rgetsockopt, 0, SOL_SOCKET, SO_KEEPALIVE, bytes.data(), &peer_size),
        RSOCKET_CALL(rfcntl, 0, 0),
        RSOCKET_CALL(riomap, 0, bytes.data(), bytes.size(), 0, 0, 0),
        RSOCKET_CALL(riounmap, 0, bytes.data(), bytes.size()),
        RSOCKET_CALL(riowrite, 0, bytes.data(), bytes.size(), 0, 0),
    };
}

}  // namespace

std::vector<Refusal> cm_refusals() {
    std::vector<Refusal> all = datagrams();
    const auto more = rsockets();
    all.insert(all.end(), more.begin(), more.end());
    return all;
}
