// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/qp_attributes.hpp"

#include "verbs/limits.hpp"
#include "wire/packet.hpp"

namespace fabric::verbs {
namespace {

constexpr std::uint8_t kMaxTimerCode = 31;  // 5 bits: RNR timer, local acknowledgement timeout
constexpr std::uint8_t kMaxRetry = 7;       // 3 bits

bool valid_path(const ibv_qp_attr& attr, int mask) {
    if ((mask & IBV_QP_PORT) != 0 && attr.port_num != limits::kPort)
        return false;
    if ((mask & IBV_QP_PKEY_INDEX) != 0 && attr.pkey_index != 0)
        return false;
    if ((mask & IBV_QP_PATH_MTU) != 0 &&
        (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > IBV_MTU_4096))
        return false;
    if ((mask & IBV_QP_AV) != 0 &&
        (attr.ah_attr.is_global == 0 || attr.ah_attr.port_num != limits::kPort))
        return false;
    // Path migration needs a second path.
    return (mask & IBV_QP_ALT_PATH) == 0 &&
           ((mask & IBV_QP_PATH_MIG_STATE) == 0 || attr.path_mig_state == IBV_MIG_MIGRATED);
}

bool valid_counts(const ibv_qp_attr& attr, int mask) {
    const auto above = [mask](int bit, std::uint8_t value, int limit) {
        return (mask & bit) != 0 && value > limit;
    };
    return !above(IBV_QP_MAX_QP_RD_ATOMIC, attr.max_rd_atomic, limits::kMaxReadAtomic) &&
           !above(IBV_QP_MAX_DEST_RD_ATOMIC, attr.max_dest_rd_atomic, limits::kMaxReadAtomic) &&
           !above(IBV_QP_MIN_RNR_TIMER, attr.min_rnr_timer, kMaxTimerCode) &&
           !above(IBV_QP_TIMEOUT, attr.timeout, kMaxTimerCode) &&
           !above(IBV_QP_RETRY_CNT, attr.retry_cnt, kMaxRetry) &&
           !above(IBV_QP_RNR_RETRY, attr.rnr_retry, kMaxRetry);
}

}  // namespace

bool valid_attributes(const ibv_qp_attr& attr, int mask) {
    if ((mask & IBV_QP_DEST_QPN) != 0 && attr.dest_qp_num > wire::kPsnMask)
        return false;
    return valid_path(attr, mask) && valid_counts(attr, mask);
}

void merge_attributes(ibv_qp_attr& into, const ibv_qp_attr& attr, int mask) {
    const auto take = [&](int bit, auto ibv_qp_attr::*field) {
        if ((mask & bit) != 0)
            into.*field = attr.*field;
    };
    take(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
    take(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
    take(IBV_QP_PORT, &ibv_qp_attr::port_num);
    take(IBV_QP_AV, &ibv_qp_attr::ah_attr);
    take(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
    take(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
    take(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
    take(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
    take(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
    take(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
    take(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
    take(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
    take(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
    take(IBV_QP_PATH_MIG_STATE, &ibv_qp_attr::path_mig_state);
    take(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
    take(IBV_QP_EN_SQD_ASYNC_NOTIFY, &ibv_qp_attr::en_sqd_async_notify);
    into.rq_psn &= wire::kPsnMask;
    into.sq_psn &= wire::kPsnMask;
}

rc::Attributes transport_attributes(const ibv_qp_attr& attr, std::uint32_t qp_number,
                                    std::uint32_t stream_mtu) {
    rc::Attributes out;
    out.qp_number = qp_number;
    out.destination_qp = attr.dest_qp_num;
    out.path_mtu = stream_mtu != 0 ? stream_mtu : 128U << attr.path_mtu;
    out.send_psn = attr.sq_psn;
    out.receive_psn = attr.rq_psn;
    out.max_rd_atomic = attr.max_rd_atomic;
    out.max_dest_rd_atomic = attr.max_dest_rd_atomic;
    out.retry_count = attr.retry_cnt;
    out.rnr_retry = attr.rnr_retry;
    out.min_rnr_timer = attr.min_rnr_timer;
    out.access = attr.qp_access_flags;
    return out;
}

}  // namespace fabric::verbs
