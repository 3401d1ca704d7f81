// SPDX-License-Identifier: BSD-3-Clause
#include "cm/qp_state.hpp"

#include <algorithm>
#include <cerrno>

#include "cm/device.hpp"
#include "cm/limits.hpp"
#include "config.hpp"
#include "rc/native.hpp"
#include "verbs/qp.hpp"

namespace fabric::cm {
namespace {

constexpr unsigned kFullPacket = 128;  // bytes of path MTU code 0

bool knows_peer(const Id& id) {
    switch (id.state) {
        case State::ReplyReceived:
        case State::RequestReceived:
        case State::ReplySent:
        case State::Established:
            return true;
        default:
            return false;
    }
}

unsigned access_of(const Id& id) {
    if (!knows_peer(id))
        return 0;
    if (id.terms.responder_resources == 0)
        return IBV_ACCESS_REMOTE_WRITE;
    // What the kernel's ib_cm gives, flushes only where the device has them.
    const unsigned flushes =
        config().native_flush ? rc::kAccessFlushGlobal | rc::kAccessFlushPersistent : 0;
    return IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | flushes;
}

void fill_initial(const Id& id, ibv_qp_attr& attr, int& mask) {
    mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    attr.qp_access_flags = access_of(id);
    attr.pkey_index = 0;
    attr.port_num = 1;
}

void fill_path_to_peer(const Id& id, ibv_ah_attr& path) {
    path = {};
    path.is_global = 1;
    path.port_num = 1;
    path.grh.dgid = id.route.addr.addr.ibaddr.dgid;
    path.grh.sgid_index = Device::get()->gid_index(id.route.addr.addr.ibaddr.sgid);
    path.grh.hop_limit = kHopLimit;
    path.grh.traffic_class = id.options.traffic_class;
}

void fill_ready_to_receive(const Id& id, ibv_qp_attr& attr, int& mask) {
    mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    fill_path_to_peer(id, attr.ah_attr);
    attr.path_mtu = static_cast<ibv_mtu>(std::min<int>(id.terms.mtu_code, kMaxInfinibandMtuCode));
    attr.dest_qp_num = id.terms.remote_qp;
    attr.rq_psn = id.terms.remote_psn;
    attr.max_dest_rd_atomic = id.terms.responder_resources;
    attr.min_rnr_timer =
        id.terms.rnr_retry_wish == kRnrForEver ? kRnrTimerCode : kCountedRnrTimerCode;
}

void fill_ready_to_send(const Id& id, ibv_qp_attr& attr, int& mask) {
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
           IBV_QP_MAX_QP_RD_ATOMIC;
    attr.sq_psn = id.terms.local_psn;
    attr.timeout =
        id.options.ack_timeout == Options::kUnset ? kAckTimeoutCode : id.options.ack_timeout;
    attr.retry_cnt = id.terms.retry_count;
    attr.rnr_retry = id.terms.rnr_retry_count;
    attr.max_rd_atomic = id.terms.initiator_depth;
}

int move_to(Id& id, verbs::QueuePair& qp, ibv_qp_state state) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    int mask = 0;
    if (const int error = fill_attributes(id, attr, mask); error != 0)
        return error;
    const bool large = state == IBV_QPS_RTR && id.terms.mtu_code > kMaxInfinibandMtuCode;
    return qp.modify(attr, mask, large ? kFullPacket << id.terms.mtu_code : 0);
}

std::shared_ptr<verbs::QueuePair> pair_of(const Id& id) {
    return id.qp == nullptr ? nullptr : verbs::from_handle(id.qp);
}

}  // namespace

int fill_attributes(const Id& id, ibv_qp_attr& attr, int& mask) {
    if (attr.qp_state == IBV_QPS_INIT) {
        fill_initial(id, attr, mask);
        return 0;
    }
    if (!knows_peer(id))
        return EINVAL;
    if (attr.qp_state == IBV_QPS_RTR)
        fill_ready_to_receive(id, attr, mask);
    else if (attr.qp_state == IBV_QPS_RTS)
        fill_ready_to_send(id, attr, mask);
    else
        return EINVAL;
    return 0;
}

int make_initial(Id& id, ibv_qp* qp) {
    const auto pair = verbs::from_handle(qp);
    return pair == nullptr ? EINVAL : move_to(id, *pair, IBV_QPS_INIT);
}

int make_ready(Id& id) {
    const auto pair = pair_of(id);
    if (pair == nullptr)
        return 0;
    for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
        if (const int error = move_to(id, *pair, state); error != 0)
            return error;
    return 0;
}

int make_error(Id& id) {
    const auto pair = pair_of(id);
    if (pair == nullptr)
        return 0;
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    return pair->modify(attr, IBV_QP_STATE, 0);
}

// A queue pair that the program made by itself: if the peer's is one too, they find each other by
// their numbers, else they meet on this connection's link.
void attach_link(Id& id) {
    if (const auto pair = pair_of(id)) {
        pair->attach(id.link);
        return;
    }
    if (verbs::is_reachable(id.terms.remote_qp))
        return;
    if (const auto own = verbs::reachable_by_number(id.terms.local_qp)) {
        id.own_pair = own;
        own->attach_managed(id.link, kFullPacket << id.terms.mtu_code);
    }
}

void cut_link(Id& id) {
    if (const auto pair = pair_of(id))
        pair->link_lost();
    else if (const auto own = id.own_pair.lock())
        own->cut_managed();
}

}  // namespace fabric::cm
