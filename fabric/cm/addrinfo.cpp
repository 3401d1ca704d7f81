// SPDX-License-Identifier: BSD-3-Clause
// rdma_getaddrinfo and rdma_freeaddrinfo: the host's name service, in the form that rdma_create_ep
// and rdma_bind_addr take. The results are made with malloc, as programs and librdmacm expect.
#include <netdb.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cm/api.hpp"

namespace fabric::cm {
namespace {

struct FreeInfo {
    void operator()(rdma_addrinfo* info) const { rdma_freeaddrinfo(info); }
    void operator()(addrinfo* info) const { freeaddrinfo(info); }
};
using Info = std::unique_ptr<rdma_addrinfo, FreeInfo>;
using HostInfo = std::unique_ptr<addrinfo, FreeInfo>;

int copy_address(const sockaddr* from, socklen_t size, sockaddr** to, socklen_t* to_size) {
    auto* const copy = static_cast<sockaddr*>(std::malloc(size));
    if (copy == nullptr)
        return ENOMEM;
    std::memcpy(copy, from, size);
    *to = copy;
    *to_size = size;
    return 0;
}

int copy_name(const char* from, char** to) {
    if (from == nullptr)
        return 0;
    *to = strdup(from);
    return *to == nullptr ? ENOMEM : 0;
}

int socket_type_of(int qp_type) {
    switch (qp_type) {
        case IBV_QPT_RC:
        case IBV_QPT_UC:
        case IBV_QPT_XRC_SEND:
        case IBV_QPT_XRC_RECV:
            return SOCK_STREAM;
        case IBV_QPT_UD:
            return SOCK_DGRAM;
        default:
            return 0;
    }
}

int protocol_of(int port_space, int socket_type) {
    switch (port_space) {
        case RDMA_PS_TCP:
            return IPPROTO_TCP;
        case RDMA_PS_UDP:
        case RDMA_PS_IPOIB:
            return IPPROTO_UDP;
        case RDMA_PS_IB:
            return socket_type == SOCK_STREAM  ? IPPROTO_TCP
                   : socket_type == SOCK_DGRAM ? IPPROTO_UDP
                                               : 0;
        default:
            return 0;
    }
}

addrinfo host_hints(const rdma_addrinfo& hints) {
    addrinfo out{};
    if ((hints.ai_flags & RAI_PASSIVE) != 0)
        out.ai_flags |= AI_PASSIVE;
    if ((hints.ai_flags & RAI_NUMERICHOST) != 0)
        out.ai_flags |= AI_NUMERICHOST;
    out.ai_family = hints.ai_family;
    out.ai_socktype = socket_type_of(hints.ai_qp_type);
    out.ai_protocol = protocol_of(hints.ai_port_space, out.ai_socktype);
    return out;
}

int qp_type_of(const rdma_addrinfo* hints, const addrinfo& host) {
    if (hints != nullptr && hints->ai_qp_type != 0)
        return hints->ai_qp_type;
    return host.ai_socktype == SOCK_DGRAM ? IBV_QPT_UD : IBV_QPT_RC;
}

int port_space_of(const rdma_addrinfo* hints, const addrinfo& host) {
    if (hints != nullptr && hints->ai_port_space != 0)
        return hints->ai_port_space;
    return host.ai_protocol == IPPROTO_UDP ? RDMA_PS_UDP : RDMA_PS_TCP;
}

int take_host(rdma_addrinfo& out, const rdma_addrinfo* hints, const addrinfo& host) {
    const bool passive = hints != nullptr && (hints->ai_flags & RAI_PASSIVE) != 0;
    out.ai_qp_type = qp_type_of(hints, host);
    out.ai_port_space = port_space_of(hints, host);
    out.ai_family = host.ai_family;
    if (passive) {
        out.ai_flags = RAI_PASSIVE;
        const int error = copy_name(host.ai_canonname, &out.ai_src_canonname);
        return error != 0
                   ? error
                   : copy_address(host.ai_addr, host.ai_addrlen, &out.ai_src_addr, &out.ai_src_len);
    }
    const int error = copy_name(host.ai_canonname, &out.ai_dst_canonname);
    return error != 0
               ? error
               : copy_address(host.ai_addr, host.ai_addrlen, &out.ai_dst_addr, &out.ai_dst_len);
}

int take_hints(rdma_addrinfo& out, const rdma_addrinfo& hints) {
    out.ai_flags = hints.ai_flags;
    out.ai_family = hints.ai_family;
    out.ai_qp_type = hints.ai_qp_type;
    out.ai_port_space = hints.ai_port_space;
    if (hints.ai_dst_len == 0 || hints.ai_dst_addr == nullptr)
        return 0;
    return copy_address(hints.ai_dst_addr, hints.ai_dst_len, &out.ai_dst_addr, &out.ai_dst_len);
}

// The convention of librdmacm 44: an EAI_* value as getaddrinfo(3) gives it, or -1 with errno.
int look_up(rdma_addrinfo& out, const char* node, const char* service, const rdma_addrinfo* hints) {
    const addrinfo wanted = hints != nullptr ? host_hints(*hints) : addrinfo{};
    addrinfo* found = nullptr;
    const int failure = getaddrinfo(node, service, hints != nullptr ? &wanted : nullptr, &found);
    if (failure != 0)
        return failure;
    const HostInfo host(found);
    return result(take_host(out, hints, *host));
}

int fill(rdma_addrinfo& out, const char* node, const char* service, const rdma_addrinfo* hints) {
    const int outcome = node != nullptr || service != nullptr ? look_up(out, node, service, hints)
                                                              : result(take_hints(out, *hints));
    if (outcome != 0 || hints == nullptr || out.ai_src_len != 0 || hints->ai_src_len == 0 ||
        hints->ai_src_addr == nullptr)
        return outcome;
    return result(
        copy_address(hints->ai_src_addr, hints->ai_src_len, &out.ai_src_addr, &out.ai_src_len));
}

}  // namespace
}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                                rdma_addrinfo** res) {
    if (res == nullptr || (node == nullptr && service == nullptr && hints == nullptr))
        return result(EINVAL);
    Info info(static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo))));
    if (info == nullptr)
        return result(ENOMEM);
    if (const int outcome = fill(*info, node, service, hints); outcome != 0)
        return outcome;
    *res = info.release();
    return 0;
}

RDMACM_API void rdma_freeaddrinfo(rdma_addrinfo* res) {
    while (res != nullptr) {
        rdma_addrinfo* const next = res->ai_next;
        std::free(res->ai_src_addr);
        std::free(res->ai_dst_addr);
        std::free(res->ai_src_canonname);
        std::free(res->ai_dst_canonname);
        std::free(res->ai_route);
        std::free(res->ai_connect);
        std::free(res);
        res = next;
    }
}
