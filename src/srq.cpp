// SPDX-License-Identifier: BSD-3-Clause
#include "srq.hpp"

#include <cerrno>

#include "api.hpp"

using rpma::Status;

Status rpma_srq::open(rpma_peer* peer, const rpma_srq_cfg& cfg, rpma::Owned<rpma_srq>& out) {
    rpma::Owned<rpma_srq> queue(rpma::create<rpma_srq>());
    if (queue == nullptr) {
        return Status::out_of_memory();
    }
    queue->peer = rpma::Ref<rpma_peer>(peer);
    ibv_srq_init_attr attributes = {};
    attributes.attr.max_wr = cfg.rq_size;
    attributes.attr.max_sge = 1;
    errno = 0;
    queue->srq = rpma::Srq(ibv_create_srq(peer->pd(), &attributes));
    if (!queue->srq) {
        Status status = Status::system(
            RPMA_E_PROVIDER, errno, "ibv_create_srq of %u entries failed", attributes.attr.max_wr);
        rpma::explain_refused_queue(status);
        return status;
    }
    const std::uint32_t rcq_size = cfg.rcq_size;
    if (rcq_size > 0) {
        const Status status = rpma_cq::open(peer->context(), rcq_size, nullptr, queue->rcq);
        if (!status.ok()) {
            return status;
        }
    }
    out = std::move(queue);
    return {};
}

Status rpma_srq::close() {
    Status status;
    if (rcq != nullptr) {
        status.keep_first(rcq->close());
    }
    status.keep_first(srq.close());
    status.keep_first(peer.release());
    return status;
}

int rpma_srq_new(struct rpma_peer* peer, struct rpma_srq_cfg* cfg, struct rpma_srq** srq_ptr) {
    if (const int bad = rpma::refuse_null({{"peer", peer}, {"srq_ptr", srq_ptr}})) {
        return bad;
    }
    const rpma_srq_cfg defaults;
    rpma::Owned<rpma_srq> srq;
    const Status status = rpma_srq::open(peer, cfg != nullptr ? *cfg : defaults, srq);
    if (status.ok()) {
        *srq_ptr = srq.release();
    }
    return rpma::finish(status);
}

int rpma_srq_delete(struct rpma_srq** srq_ptr) {
    if (const int bad = rpma::refuse_null({{"srq_ptr", srq_ptr}})) {
        return bad;
    }
    return rpma::finish(rpma::unref(std::exchange(*srq_ptr, nullptr)));
}

int rpma_srq_get_rcq(const struct rpma_srq* srq, struct rpma_cq** rcq_ptr) {
    if (const int bad = rpma::refuse_null({{"srq", srq}, {"rcq_ptr", rcq_ptr}})) {
        return bad;
    }
    *rcq_ptr = srq->rcq.get();
    return 0;
}
