// SPDX-License-Identifier: BSD-3-Clause
#include "peer_cfg.hpp"

#include "api.hpp"
#include "object.hpp"

using rpma::Status;

namespace {

constexpr std::size_t kPeerDescriptorSize = 1;

}  // namespace

int rpma_peer_cfg_new(struct rpma_peer_cfg** pcfg_ptr) {
    if (const int bad = rpma::refuse_null({{"pcfg_ptr", pcfg_ptr}})) {
        return bad;
    }
    auto* const pcfg = rpma::create<rpma_peer_cfg>();
    if (pcfg == nullptr) {
        return rpma::finish(Status::out_of_memory());
    }
    *pcfg_ptr = pcfg;
    return 0;
}

int rpma_peer_cfg_delete(struct rpma_peer_cfg** pcfg_ptr) {
    if (const int bad = rpma::refuse_null({{"pcfg_ptr", pcfg_ptr}})) {
        return bad;
    }
    rpma::destroy(std::exchange(*pcfg_ptr, nullptr));
    return 0;
}

int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg* pcfg, bool supported) {
    if (const int bad = rpma::refuse_null({{"pcfg", pcfg}})) {
        return bad;
    }
    pcfg->direct_write_to_pmem.store(supported, std::memory_order_relaxed);
    return 0;
}

int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg* pcfg, bool* supported) {
    if (const int bad = rpma::refuse_null({{"pcfg", pcfg}, {"supported", supported}})) {
        return bad;
    }
    *supported = pcfg->direct_write_to_pmem.load(std::memory_order_relaxed);
    return 0;
}

int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg* pcfg, void* desc) {
    if (const int bad = rpma::refuse_null({{"pcfg", pcfg}, {"desc", desc}})) {
        return bad;
    }
    const bool direct = pcfg->direct_write_to_pmem.load(std::memory_order_relaxed);
    *static_cast<unsigned char*>(desc) = direct ? 1 : 0;
    return 0;
}

int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg* pcfg, size_t* desc_size) {
    if (const int bad = rpma::refuse_null({{"pcfg", pcfg}, {"desc_size", desc_size}})) {
        return bad;
    }
    *desc_size = kPeerDescriptorSize;
    return 0;
}

int rpma_peer_cfg_from_descriptor(const void* desc, size_t desc_size,
                                  struct rpma_peer_cfg** pcfg_ptr) {
    if (const int bad = rpma::refuse_null({{"desc", desc}, {"pcfg_ptr", pcfg_ptr}})) {
        return bad;
    }
    if (desc_size < kPeerDescriptorSize) {
        return rpma::finish(Status::failure(
            RPMA_E_INVAL, "a peer descriptor has %zu byte, none given", kPeerDescriptorSize));
    }
    auto* const pcfg = rpma::create<rpma_peer_cfg>();
    if (pcfg == nullptr) {
        return rpma::finish(Status::out_of_memory());
    }
    pcfg->direct_write_to_pmem = *static_cast<const unsigned char*>(desc) != 0;
    *pcfg_ptr = pcfg;
    return 0;
}
