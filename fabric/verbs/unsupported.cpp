// SPDX-License-Identifier: BSD-3-Clause
// What this device does not have: it says so as other devices without them do.
#include "verbs/api.hpp"
#include "verbs/limits.hpp"
#include "verbs/operations.hpp"

namespace fabric::verbs {

ibv_mw* alloc_mw(ibv_pd*, ibv_mw_type) {
    return fail(EOPNOTSUPP);
}

int bind_mw(ibv_qp*, ibv_mw*, ibv_mw_bind*) {
    return EOPNOTSUPP;
}

int dealloc_mw(ibv_mw*) {
    return EOPNOTSUPP;
}

int close_xrcd(ibv_xrcd*) {
    return EOPNOTSUPP;
}

}  // namespace fabric::verbs

using fabric::verbs::fail;

// Address handles and multicast are for unreliable datagrams.
FABRIC_API ibv_ah* ibv_create_ah(ibv_pd*, ibv_ah_attr*) {
    return fail(EOPNOTSUPP);
}

FABRIC_API int ibv_init_ah_from_wc(ibv_context*, std::uint8_t, ibv_wc*, ibv_grh*, ibv_ah_attr*) {
    errno = EOPNOTSUPP;
    return -1;
}

FABRIC_API ibv_ah* ibv_create_ah_from_wc(ibv_pd*, ibv_wc*, ibv_grh*, std::uint8_t) {
    return fail(EOPNOTSUPP);
}

FABRIC_API int ibv_destroy_ah(ibv_ah*) {
    return EOPNOTSUPP;
}

FABRIC_API int ibv_attach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) {
    return EOPNOTSUPP;
}

FABRIC_API int ibv_detach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) {
    return EOPNOTSUPP;
}

FABRIC_API int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, std::uint8_t*,
                                           std::uint16_t*) {
    errno = EOPNOTSUPP;
    return -1;
}

// Objects cannot be shared between processes: they live in the process, not in a kernel.
FABRIC_API ibv_context* ibv_import_device(int) {
    return fail(EOPNOTSUPP);
}

FABRIC_API ibv_pd* ibv_import_pd(ibv_context*, std::uint32_t) {
    return fail(EOPNOTSUPP);
}

FABRIC_API void ibv_unimport_pd(ibv_pd*) {}

FABRIC_API ibv_mr* ibv_import_mr(ibv_pd*, std::uint32_t) {
    return fail(EOPNOTSUPP);
}

FABRIC_API void ibv_unimport_mr(ibv_mr*) {}

FABRIC_API ibv_dm* ibv_import_dm(ibv_context*, std::uint32_t) {
    return fail(EOPNOTSUPP);
}

FABRIC_API void ibv_unimport_dm(ibv_dm*) {}

// Enhanced connection establishment is a matter between adapters of one maker.
FABRIC_API int ibv_set_ece(ibv_qp*, ibv_ece*) {
    return EOPNOTSUPP;
}

FABRIC_API int ibv_query_ece(ibv_qp*, ibv_ece*) {
    return EOPNOTSUPP;
}
