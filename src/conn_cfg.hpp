// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "object.hpp"
#include "public.hpp"
#include "srq.hpp"

namespace rpma {

/// The values of a configuration at one moment.
struct ConnSettings {
    static constexpr std::uint32_t kDefaultSize = 10;

    int timeout_ms = RPMA_DEFAULT_TIMEOUT_MS;
    std::uint32_t cq_size = kDefaultSize;
    std::uint32_t rcq_size = 0;  ///< 0: no receive CQ
    std::uint32_t sq_size = kDefaultSize;
    std::uint32_t rq_size = kDefaultSize;
    bool shared_channel = false;
    Ref<rpma_srq> srq;
};

}  // namespace rpma

/// How a connection is to be made. Any thread may set and read.
struct rpma_conn_cfg {
public:
    /// cfg NULL: the defaults.
    static rpma::ConnSettings settings_of(const rpma_conn_cfg* cfg);

    /// Tells how giving up the previous one went, if this was its last user.
    rpma::Status set_srq(rpma_srq* srq);
    [[nodiscard]] rpma::Ref<rpma_srq> srq() const;
    /// Gives up the shared receive queue; tells how that went if it was the last user.
    rpma::Status close() { return srq_.release(); }

    std::atomic<int> timeout_ms{RPMA_DEFAULT_TIMEOUT_MS};
    std::atomic<std::uint32_t> cq_size{rpma::ConnSettings::kDefaultSize};
    std::atomic<std::uint32_t> rcq_size{0};
    std::atomic<std::uint32_t> sq_size{rpma::ConnSettings::kDefaultSize};
    std::atomic<std::uint32_t> rq_size{rpma::ConnSettings::kDefaultSize};
    std::atomic<bool> shared_channel{false};

private:
    mutable rpma::Mutex mutex_;  ///< guards srq_
    rpma::Ref<rpma_srq> srq_;
};
