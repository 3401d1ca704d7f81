// SPDX-License-Identifier: BSD-3-Clause
#include "conn_cfg.hpp"

#include "api.hpp"

using rpma::Status;

rpma::ConnSettings rpma_conn_cfg::settings_of(const rpma_conn_cfg* cfg) {
    rpma::ConnSettings settings;
    if (cfg != nullptr) {
        settings.timeout_ms = cfg->timeout_ms;
        settings.cq_size = cfg->cq_size;
        settings.rcq_size = cfg->rcq_size;
        settings.sq_size = cfg->sq_size;
        settings.rq_size = cfg->rq_size;
        settings.shared_channel = cfg->shared_channel;
        settings.srq = cfg->srq();
    }
    return settings;
}

Status rpma_conn_cfg::set_srq(rpma_srq* srq) {
    rpma::Ref<rpma_srq> reference(srq);
    {
        const rpma::Guard guard(mutex_);
        std::swap(srq_, reference);
    }
    return reference.release();
}

rpma::Ref<rpma_srq> rpma_conn_cfg::srq() const {
    const rpma::Guard guard(mutex_);
    return srq_;
}

int rpma_conn_cfg_new(struct rpma_conn_cfg** cfg_ptr) {
    if (const int bad = rpma::refuse_null({{"cfg_ptr", cfg_ptr}})) {
        return bad;
    }
    auto* const cfg = rpma::create<rpma_conn_cfg>();
    if (cfg == nullptr) {
        return rpma::finish(Status::out_of_memory());
    }
    *cfg_ptr = cfg;
    return 0;
}

int rpma_conn_cfg_delete(struct rpma_conn_cfg** cfg_ptr) {
    if (const int bad = rpma::refuse_null({{"cfg_ptr", cfg_ptr}})) {
        return bad;
    }
    const rpma::Owned<rpma_conn_cfg> cfg(std::exchange(*cfg_ptr, nullptr));
    return cfg == nullptr ? 0 : rpma::finish(cfg->close());
}

int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg* cfg, int timeout_ms) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}})) {
        return bad;
    }
    if (timeout_ms < 0) {
        return rpma::finish(
            Status::failure(RPMA_E_INVAL, "timeout_ms %d must not be negative", timeout_ms));
    }
    cfg->timeout_ms.store(timeout_ms, std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg* cfg, int* timeout_ms) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"timeout_ms", timeout_ms}})) {
        return bad;
    }
    *timeout_ms = cfg->timeout_ms.load(std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg* cfg, uint32_t cq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}})) {
        return bad;
    }
    cfg->cq_size.store(cq_size, std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg* cfg, uint32_t* cq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"cq_size", cq_size}})) {
        return bad;
    }
    *cq_size = cfg->cq_size.load(std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg* cfg, uint32_t rcq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}})) {
        return bad;
    }
    cfg->rcq_size.store(rcq_size, std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg* cfg, uint32_t* rcq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"rcq_size", rcq_size}})) {
        return bad;
    }
    *rcq_size = cfg->rcq_size.load(std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_set_sq_size(struct rpma_conn_cfg* cfg, uint32_t sq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}})) {
        return bad;
    }
    cfg->sq_size.store(sq_size, std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg* cfg, uint32_t* sq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"sq_size", sq_size}})) {
        return bad;
    }
    *sq_size = cfg->sq_size.load(std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_set_rq_size(struct rpma_conn_cfg* cfg, uint32_t rq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}})) {
        return bad;
    }
    cfg->rq_size.store(rq_size, std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg* cfg, uint32_t* rq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"rq_size", rq_size}})) {
        return bad;
    }
    *rq_size = cfg->rq_size.load(std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg* cfg, bool shared) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}})) {
        return bad;
    }
    cfg->shared_channel.store(shared, std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg* cfg, bool* shared) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"shared", shared}})) {
        return bad;
    }
    *shared = cfg->shared_channel.load(std::memory_order_relaxed);
    return 0;
}

int rpma_conn_cfg_set_srq(struct rpma_conn_cfg* cfg, struct rpma_srq* srq) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"srq", srq}})) {
        return bad;
    }
    const Status previous = cfg->set_srq(srq);
    if (!previous.ok()) {
        rpma::log_line(rpma::Where::here(), rpma::Origin::setup, RPMA_LOG_LEVEL_WARNING,
                       "the shared receive queue set before, whose last user this was: %s",
                       previous.text());
    }
    return 0;
}

int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg* cfg, struct rpma_srq** srq_ptr) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"srq_ptr", srq_ptr}})) {
        return bad;
    }
    *srq_ptr = cfg->srq().get();
    return 0;
}
