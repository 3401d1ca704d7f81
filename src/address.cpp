// SPDX-License-Identifier: BSD-3-Clause
#include "address.hpp"

#include <infiniband/verbs.h>
#include <netdb.h>

#include <cerrno>
#include <cstdlib>

#include "public.hpp"

namespace rpma {

namespace {

/// What the user can do about a code of getaddrinfo(3).
const char* advice_for_look_up(int result) {
    switch (result) {
        case EAI_SERVICE:
            return "give the port as a number, or a name of /etc/services";
        case EAI_AGAIN:
            return "the name server does not answer: try again, or give the address";
        default:
            return "look the name up by `getent ahosts NAME`";
    }
}

/// rdma_getaddrinfo() hands on the codes of getaddrinfo(3); its own failures are -1 with errno.
Status look_up_failure(int result, int err, const char* node, const char* service) {
    const char* port = service != nullptr ? service : "(none)";
    if (result == EAI_SYSTEM || (result == -1 && err != 0)) {
        return Status::system(err == ENOMEM ? RPMA_E_NOMEM : RPMA_E_PROVIDER, err,
                              "rdma_getaddrinfo(" RPMA_NAME ", port " RPMA_PORT ") failed", node,
                              port);
    }
    return Status::failure(result == EAI_MEMORY ? RPMA_E_NOMEM : RPMA_E_PROVIDER,
                           "rdma_getaddrinfo(" RPMA_NAME ", port " RPMA_PORT
                           ") failed: %s (%d); %s",
                           node, port, gai_strerror(result), result, advice_for_look_up(result));
}

/// glibc takes 70000 for port 4464.
bool is_no_port(const char* service) {
    constexpr unsigned long kHighest = 65535;
    char* end = nullptr;
    errno = 0;
    const unsigned long number = std::strtoul(service, &end, 10);
    return *service >= '0' && *service <= '9' && *end == '\0' &&
           (number > kHighest || errno == ERANGE);
}

bool has_device() {
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    if (list != nullptr) {
        ibv_free_device_list(list);
    }
    return list != nullptr && count > 0;
}

}  // namespace

AddressList::~AddressList() {
    if (first_ != nullptr) {
        rdma_freeaddrinfo(first_);
    }
}

Status AddressList::look_up(const char* node, const char* service, AddressUse use, int family) {
    if (service != nullptr && is_no_port(service)) {
        return look_up_failure(EAI_SERVICE, 0, node, service);
    }
    rdma_addrinfo hints = {};
    hints.ai_flags = (use == AddressUse::listen ? RAI_PASSIVE : 0);
    if (family != AF_UNSPEC) {
        hints.ai_flags |= RAI_FAMILY;
    }
    hints.ai_family = family;
    hints.ai_qp_type = IBV_QPT_RC;
    hints.ai_port_space = RDMA_PS_TCP;
    errno = 0;
    const int result = rdma_getaddrinfo(node, service, &hints, &first_);
    if (result != 0 || first_ == nullptr) {
        const int err = errno;
        return look_up_failure(result, err, node, service);
    }
    return {};
}

Status explain_missing_device(Status status) {
    if (!status.ok() && !has_device()) {
        status.append(
            "; this machine has no RDMA device: start the program by `rpma-fabric run -- PROGRAM` "
            "(an RDMA device made of software), set up Soft-RoCE (`rdma link add rxe0 type rxe "
            "netdev IF`), or install an RDMA adapter");
    } else if (status.error_number() == ENODEV) {
        status.append("; use an address of an RDMA device's interface (`rdma link`, `ip addr`)");
    }
    return status;
}

}  // namespace rpma
