// SPDX-License-Identifier: BSD-3-Clause
// libibverbs: exported functions, and inline ones that end in the device's tables.
#include <array>

#include "refusals.hpp"

namespace {

ibv_qp_init_attr_ex qp_attributes(const Objects& at, ibv_qp_type type) {
    ibv_qp_init_attr_ex attr{};
    attr.qp_type = type;
    attr.send_cq = attr.recv_cq = at.cq;
    attr.cap = {1, 1, 1, 1, 0};
    attr.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr.pd = at.pd;
    return attr;
}

int create(Objects& at, ibv_qp_type type, std::uint32_t more = 0) {
    auto attr = qp_attributes(at, type);
    attr.comp_mask |= more;
    return pointer_error(ibv_create_qp_ex(at.context, &attr));
}

int create_plain(Objects& at, ibv_qp_type type) {
    ibv_qp_init_attr attr{};
    attr.qp_type = type;
    attr.send_cq = attr.recv_cq = at.cq;
    attr.cap = {1, 1, 1, 1, 0};
    return pointer_error(ibv_create_qp(at.pd, &attr));
}

int create_shared(Objects& at, ibv_srq_type type) {
    ibv_srq_init_attr_ex attr{};
    attr.attr = {1, 1, 0};
    attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
    attr.srq_type = type;
    attr.pd = at.pd;
    return pointer_error(ibv_create_srq_ex(at.context, &attr));
}

int create_queue(Objects& at, std::uint64_t fields) {
    ibv_cq_init_attr_ex attr{};
    attr.cqe = 1;
    attr.wc_flags = fields;
    return pointer_error(ibv_create_cq_ex(at.context, &attr));
}

int post(Objects& at, ibv_wr_opcode opcode) {
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.opcode = opcode;
    return ibv_post_send(at.qp, &wr, &bad);
}

int address_handle(Objects& at) {
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = 1;
    return pointer_error(ibv_create_ah(at.pd, &attr));
}

std::vector<Refusal> other_transports() {
    return {
        {"ibv_create_qp", EOPNOTSUPP, [](Objects& at) { return create_plain(at, IBV_QPT_UD); }},
        {"ibv_create_qp", EOPNOTSUPP, [](Objects& at) { return create_plain(at, IBV_QPT_UC); }},
        {"ibv_create_qp_ex", EOPNOTSUPP, [](Objects& at) { return create(at, IBV_QPT_UD); }},
        {"ibv_create_qp_ex", EOPNOTSUPP,
         [](Objects& at) { return create(at, IBV_QPT_RAW_PACKET); }},
        {"ibv_create_qp_ex", EOPNOTSUPP, [](Objects& at) { return create(at, IBV_QPT_XRC_SEND); }},
        {"ibv_create_qp_ex", EOPNOTSUPP, [](Objects& at) { return create(at, IBV_QPT_XRC_RECV); }},
        {"ibv_create_qp_ex", EOPNOTSUPP, [](Objects& at) { return create(at, IBV_QPT_DRIVER); }},
        {"ibv_create_qp_ex", EOPNOTSUPP,  // segmentation of TCP
         [](Objects& at) { return create(at, IBV_QPT_RC, IBV_QP_INIT_ATTR_MAX_TSO_HEADER); }},
        {"ibv_create_qp_ex", EOPNOTSUPP,
         [](Objects& at) { return create(at, IBV_QPT_RC, IBV_QP_INIT_ATTR_RX_HASH); }},
        {"ibv_create_srq_ex", EOPNOTSUPP,
         [](Objects& at) { return create_shared(at, IBV_SRQT_XRC); }},
        {"ibv_create_srq_ex", EOPNOTSUPP,
         [](Objects& at) { return create_shared(at, IBV_SRQT_TM); }},
        {"ibv_create_cq_ex", EOPNOTSUPP,
         [](Objects& at) { return create_queue(at, IBV_WC_EX_WITH_TM_INFO); }},
        {"ibv_create_cq_ex", EOPNOTSUPP,
         [](Objects& at) { return create_queue(at, IBV_WC_EX_WITH_FLOW_TAG); }},
        {"ibv_open_xrcd", EOPNOTSUPP,
         [](Objects& at) {
             ibv_xrcd_init_attr attr{};
             return pointer_error(ibv_open_xrcd(at.context, &attr));
         }},
        {"ibv_post_send", EINVAL, [](Objects& at) { return post(at, IBV_WR_TSO); }},
        {"ibv_post_send", EINVAL, [](Objects& at) { return post(at, IBV_WR_BIND_MW); }},
        {"ibv_post_send", EINVAL, [](Objects& at) { return post(at, IBV_WR_DRIVER1); }},
    };
}

std::vector<Refusal> datagrams() {
    return {
        {"ibv_create_ah", EOPNOTSUPP, address_handle},
        {"ibv_destroy_ah", EOPNOTSUPP, [](Objects&) { return ibv_destroy_ah(nullptr); }},
        {"ibv_init_ah_from_wc", EOPNOTSUPP,
         [](Objects& at) {
             ibv_wc wc{};
             ibv_grh grh{};
             ibv_ah_attr attr{};
             return minus_one_error(ibv_init_ah_from_wc(at.context, 1, &wc, &grh, &attr));
         }},
        {"ibv_create_ah_from_wc", EOPNOTSUPP,
         [](Objects& at) {
             ibv_wc wc{};
             ibv_grh grh{};
             return pointer_error(ibv_create_ah_from_wc(at.pd, &wc, &grh, 1));
         }},
        {"ibv_resolve_eth_l2_from_gid", EOPNOTSUPP,
         [](Objects& at) {
             ibv_ah_attr attr{};
             std::array<std::uint8_t, 6> mac{};
             std::uint16_t vlan = 0;
             return minus_one_error(
                 ibv_resolve_eth_l2_from_gid(at.context, &attr, mac.data(), &vlan));
         }},
        {"ibv_attach_mcast", EOPNOTSUPP,
         [](Objects& at) {
             const ibv_gid gid{};
             return ibv_attach_mcast(at.qp, &gid, 0);
         }},
        {"ibv_detach_mcast", EOPNOTSUPP,
         [](Objects& at) {
             const ibv_gid gid{};
             return ibv_detach_mcast(at.qp, &gid, 0);
         }},
    };
}

std::vector<Refusal> memory() {
    return {
        {"ibv_alloc_mw", EOPNOTSUPP,
         [](Objects& at) { return pointer_error(ibv_alloc_mw(at.pd, IBV_MW_TYPE_1)); }},
        {"ibv_alloc_mw", EOPNOTSUPP,
         [](Objects& at) { return pointer_error(ibv_alloc_mw(at.pd, IBV_MW_TYPE_2)); }},
        {"ibv_alloc_dm", EOPNOTSUPP,
         [](Objects& at) {
             ibv_alloc_dm_attr attr{};
             attr.length = 64;
             return pointer_error(ibv_alloc_dm(at.context, &attr));
         }},
        {"ibv_alloc_null_mr", EOPNOTSUPP,
         [](Objects& at) { return pointer_error(ibv_alloc_null_mr(at.pd)); }},
        {"ibv_reg_dmabuf_mr", EOPNOTSUPP,
         [](Objects& at) {
             return pointer_error(ibv_reg_dmabuf_mr(at.pd, 0, 4096, 0, 0, IBV_ACCESS_LOCAL_WRITE));
         }},
        {"ibv_import_device", EOPNOTSUPP,
         [](Objects&) { return pointer_error(ibv_import_device(0)); }},
        {"ibv_import_pd", EOPNOTSUPP,
         [](Objects& at) { return pointer_error(ibv_import_pd(at.context, 0)); }},
        {"ibv_import_mr", EOPNOTSUPP,
         [](Objects& at) { return pointer_error(ibv_import_mr(at.pd, 0)); }},
        {"ibv_import_dm", EOPNOTSUPP,
         [](Objects& at) { return pointer_error(ibv_import_dm(at.context, 0)); }},
    };
}

std::vector<Refusal> adapters_own() {
    return {
        {"ibv_set_ece", EOPNOTSUPP,
         [](Objects& at) {
             ibv_ece ece{};
             return ibv_set_ece(at.qp, &ece);
         }},
        {"ibv_query_ece", EOPNOTSUPP,
         [](Objects& at) {
             ibv_ece ece{};
             return ibv_query_ece(at.qp, &ece);
         }},
        {"ibv_create_flow", EOPNOTSUPP,
         [](Objects& at) {
             ibv_flow_attr attr{};
             return pointer_error(ibv_create_flow(at.qp, &attr));
         }},
        {"ibv_create_counters", EOPNOTSUPP,
         [](Objects& at) {
             ibv_counters_init_attr attr{};
             return pointer_error(ibv_create_counters(at.context, &attr));
         }},
        {"ibv_alloc_td", EOPNOTSUPP,
         [](Objects& at) {
             ibv_td_init_attr attr{};
             return pointer_error(ibv_alloc_td(at.context, &attr));
         }},
        {"ibv_alloc_parent_domain", EOPNOTSUPP,
         [](Objects& at) {
             ibv_parent_domain_init_attr attr{};
             attr.pd = at.pd;
             return pointer_error(ibv_alloc_parent_domain(at.context, &attr));
         }},
        {"ibv_create_wq", EOPNOTSUPP,
         [](Objects& at) {
             ibv_wq_init_attr attr{};
             attr.pd = at.pd;
             attr.cq = at.cq;
             return pointer_error(ibv_create_wq(at.context, &attr));
         }},
        {"ibv_create_rwq_ind_table", EOPNOTSUPP,
         [](Objects& at) {
             ibv_rwq_ind_table_init_attr attr{};
             return pointer_error(ibv_create_rwq_ind_table(at.context, &attr));
         }},
        {"ibv_modify_qp_rate_limit", EOPNOTSUPP,
         [](Objects& at) {
             ibv_qp_rate_limit_attr attr{};
             return ibv_modify_qp_rate_limit(at.qp, &attr);
         }},
        {"ibv_modify_cq", EOPNOTSUPP,
         [](Objects& at) {
             ibv_modify_cq_attr attr{};
             return ibv_modify_cq(at.cq, &attr);
         }},
    };
}

}  // namespace

std::vector<Refusal> verbs_refusals() {
    std::vector<Refusal> all;
    for (const auto& part : {other_transports(), datagrams(), memory(), adapters_own()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}
