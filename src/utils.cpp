// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>

#include "address.hpp"
#include "api.hpp"
#include "capabilities.hpp"
#include "handles.hpp"

using rpma::Status;

namespace {

/// Binds (local) or resolves (remote); the id then knows its device.
Status device_of(rdma_addrinfo* result, bool local, ibv_context** out) {
    rdma_cm_id* id = nullptr;
    if (rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_create_id failed");
    }
    const rpma::CmId owned(id);
    if (local && rdma_bind_addr(id, result->ai_src_addr) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_bind_addr failed");
    }
    if (!local &&
        rdma_resolve_addr(id, nullptr, result->ai_dst_addr, RPMA_DEFAULT_TIMEOUT_MS) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_resolve_addr failed");
    }
    *out = id->verbs;
    return {};
}

/// librdmacm keeps the contexts of its devices open until the program ends, list or no list.
Status first_device(ibv_context** out) {
    int count = 0;
    errno = 0;
    ibv_context** const devices = rdma_get_devices(&count);
    if (devices == nullptr) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_get_devices failed");
    }
    *out = count > 0 ? devices[0] : nullptr;
    rdma_free_devices(devices);
    return *out != nullptr ? Status()
                           : Status::failure(RPMA_E_PROVIDER, "rdma_get_devices found no device");
}

Status find_device(const char* address, bool local, ibv_context** out) {
    const rpma::AddressUse use = local ? rpma::AddressUse::listen : rpma::AddressUse::connect;
    Status status = rpma::try_addresses(address, nullptr, use, [&](rdma_addrinfo* result) {
        Status tried = device_of(result, local, out);
        if (tried.ok() && *out == nullptr) {
            // A wildcard address belongs to no device in particular.
            tried = first_device(out);
        }
        if (!tried.ok()) {
            tried.append("; while looking for the RDMA device %s " RPMA_NAME,
                         local ? "that has" : "that reaches", address);
        }
        return tried;
    });
    return rpma::explain_missing_device(status);
}

}  // namespace

int rpma_utils_get_ibv_context(const char* addr, enum rpma_util_ibv_context_type type,
                               struct ibv_context** ibv_ctx_ptr) {
    if (const int bad = rpma::refuse_null({{"addr", addr}, {"ibv_ctx_ptr", ibv_ctx_ptr}})) {
        return bad;
    }
    if (type != RPMA_UTIL_IBV_CONTEXT_LOCAL && type != RPMA_UTIL_IBV_CONTEXT_REMOTE) {
        return rpma::finish(
            Status::failure(RPMA_E_INVAL, "type %d is unknown", static_cast<int>(type)));
    }
    ibv_context* context = nullptr;
    const Status status = find_device(addr, type == RPMA_UTIL_IBV_CONTEXT_LOCAL, &context);
    if (status.ok()) {
        *ibv_ctx_ptr = context;
    }
    return rpma::finish(status);
}

int rpma_utils_ibv_context_is_odp_capable(struct ibv_context* ibv_ctx, int* is_odp_capable) {
    if (const int bad =
            rpma::refuse_null({{"ibv_ctx", ibv_ctx}, {"is_odp_capable", is_odp_capable}})) {
        return bad;
    }
    rpma::Capabilities capabilities = {};
    const Status status = rpma::query_capabilities(ibv_ctx, capabilities);
    if (status.ok()) {
        *is_odp_capable = capabilities.odp ? 1 : 0;
    }
    return rpma::finish(status);
}

const char* rpma_utils_conn_event_2str(enum rpma_conn_event conn_event) {
    switch (conn_event) {
        case RPMA_CONN_UNDEFINED:
            return "Undefined connection event";
        case RPMA_CONN_ESTABLISHED:
            return "Connection established";
        case RPMA_CONN_CLOSED:
            return "Connection closed";
        case RPMA_CONN_LOST:
            return "Connection lost";
        case RPMA_CONN_REJECTED:
            return "Connection rejected";
        case RPMA_CONN_UNREACHABLE:
            return "Connection unreachable";
        default:
            return "Unsupported connection event";
    }
}
