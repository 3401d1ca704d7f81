// SPDX-License-Identifier: BSD-3-Clause
#include "srq_cfg.hpp"

#include "api.hpp"
#include "object.hpp"

int rpma_srq_cfg_new(struct rpma_srq_cfg** cfg_ptr) {
    if (const int bad = rpma::refuse_null({{"cfg_ptr", cfg_ptr}})) {
        return bad;
    }
    auto* const cfg = rpma::create<rpma_srq_cfg>();
    if (cfg == nullptr) {
        return rpma::finish(rpma::Status::out_of_memory());
    }
    *cfg_ptr = cfg;
    return 0;
}

int rpma_srq_cfg_delete(struct rpma_srq_cfg** cfg_ptr) {
    if (const int bad = rpma::refuse_null({{"cfg_ptr", cfg_ptr}})) {
        return bad;
    }
    rpma::destroy(std::exchange(*cfg_ptr, nullptr));
    return 0;
}

int rpma_srq_cfg_set_rq_size(struct rpma_srq_cfg* cfg, uint32_t rq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}})) {
        return bad;
    }
    cfg->rq_size.store(rq_size, std::memory_order_relaxed);
    return 0;
}

int rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg* cfg, uint32_t* rq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"rq_size", rq_size}})) {
        return bad;
    }
    *rq_size = cfg->rq_size.load(std::memory_order_relaxed);
    return 0;
}

int rpma_srq_cfg_set_rcq_size(struct rpma_srq_cfg* cfg, uint32_t rcq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}})) {
        return bad;
    }
    cfg->rcq_size.store(rcq_size, std::memory_order_relaxed);
    return 0;
}

int rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg* cfg, uint32_t* rcq_size) {
    if (const int bad = rpma::refuse_null({{"cfg", cfg}, {"rcq_size", rcq_size}})) {
        return bad;
    }
    *rcq_size = cfg->rcq_size.load(std::memory_order_relaxed);
    return 0;
}
