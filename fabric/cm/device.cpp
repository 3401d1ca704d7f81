// SPDX-License-Identifier: BSD-3-Clause
#include "cm/device.hpp"

#include <endian.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "cm/api.hpp"
#include "config.hpp"
#include "verbs/qp.hpp"

namespace fabric::cm {

Device::Device(ibv_context* context) : context_(context) {
    ibv_device_attr attr{};
    if (ibv_query_device(context, &attr) == 0) {
        max_responder_resources_ =
            static_cast<std::uint8_t>(std::clamp(attr.max_qp_rd_atom, 1, 254));
        max_initiator_depth_ =
            static_cast<std::uint8_t>(std::clamp(attr.max_qp_init_rd_atom, 1, 254));
        guid_ = be64toh(attr.node_guid);
    }
    ibv_port_attr port{};
    if (ibv_query_port(context, 1, &port) == 0)
        gid_count_ = port.gid_tbl_len;
}

const Device* Device::get() {
    static std::atomic<const Device*> current{nullptr};
    const Device* known = current.load(std::memory_order_acquire);
    ibv_context* const context = verbs::shared_context();
    if (context == nullptr || (known != nullptr && known->context() == context))
        return context == nullptr ? nullptr : known;
    const auto* const fresh = new Device(context);
    if (current.compare_exchange_strong(known, fresh, std::memory_order_acq_rel))
        return fresh;
    delete fresh;  // another thread was faster
    return known;
}

ibv_pd* Device::default_pd() const {
    const std::lock_guard guard(lock_);
    if (pd_ == nullptr)
        pd_ = ibv_alloc_pd(context_);
    return pd_;
}

std::uint8_t Device::gid_index(const ibv_gid& gid) const {
    const int count = std::min(gid_count_, 255);
    for (int i = 0; i < count; ++i) {
        ibv_gid entry{};
        if (ibv_query_gid(context_, 1, i, &entry) == 0 &&
            std::memcmp(entry.raw, gid.raw, sizeof gid.raw) == 0)
            return static_cast<std::uint8_t>(i);
    }
    return 0;
}

std::uint8_t Device::mtu_code() {
    return static_cast<std::uint8_t>(std::bit_width(config().stream_mtu) - std::bit_width(128U));
}

}  // namespace fabric::cm

using fabric::cm::Device;

RDMACM_API ibv_context** rdma_get_devices(int* num_devices) {
    const Device* const device = Device::get();
    constexpr std::size_t kPointerBytes = sizeof(void*);
    auto** const list = static_cast<ibv_context**>(std::calloc(2, kPointerBytes));
    if (list == nullptr || device == nullptr) {
        std::free(list);
        errno = device == nullptr ? ENODEV : ENOMEM;
        if (num_devices != nullptr)
            *num_devices = 0;
        return nullptr;
    }
    list[0] = device->context();
    if (num_devices != nullptr)
        *num_devices = 1;
    return list;
}

RDMACM_API void rdma_free_devices(ibv_context** list) {
    std::free(list);
}
