// SPDX-License-Identifier: BSD-3-Clause
// From the text of an address to rdma_cm's form of it, and what to say where there is no device.
#pragma once

#include <rdma/rdma_cma.h>

#include <cerrno>

#include "status.hpp"

/// Formats of names and ports in messages: no name that can be resolved is longer, and what the
/// line says behind it is not to be lost.
#define RPMA_NAME "%.255s"
#define RPMA_PORT "%.32s"

namespace rpma {

enum class AddressUse { listen, connect };

/// The results of one look-up, owned.
class AddressList {
public:
    AddressList() = default;
    ~AddressList();
    AddressList(const AddressList&) = delete;
    AddressList& operator=(const AddressList&) = delete;

    /// service may be NULL. family: AF_UNSPEC, AF_INET or AF_INET6.
    Status look_up(const char* node, const char* service, AddressUse use, int family);
    [[nodiscard]] rdma_addrinfo* first() const { return first_; }

private:
    rdma_addrinfo* first_ = nullptr;
};

/// Calls attempt(rdma_addrinfo*) for the results of a look-up until one succeeds; then, since
/// rdma_getaddrinfo() gives the addresses of one family only, for those of the other family.
/// Returns the failure of the first, which is the one that the resolver prefers, or that of an
/// address in use.
template <typename Attempt>
Status try_addresses(const char* node, const char* service, AddressUse use, Attempt attempt) {
    Status first_failure;
    int family = AF_UNSPEC;
    for (int pass = 0; pass < 2; ++pass) {
        AddressList list;
        const Status found = list.look_up(node, service, use, family);
        first_failure.keep_first(found);
        if (!found.ok()) {
            break;
        }
        const int found_family = list.first()->ai_family;
        if (pass == 1 && found_family != family) {
            break;
        }
        for (rdma_addrinfo* result = list.first(); result != nullptr; result = result->ai_next) {
            const Status status = attempt(result);
            // A port that is taken is told, not got round by another address of the name.
            if (status.ok() || status.error_number() == EADDRINUSE) {
                return status;
            }
            first_failure.keep_first(status);
        }
        family = found_family == AF_INET6 ? AF_INET : AF_INET6;
    }
    return first_failure;
}

/// Where the machine has no RDMA device at all, says so and names the ways out. Returns status.
Status explain_missing_device(Status status);

}  // namespace rpma
