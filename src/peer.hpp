// SPDX-License-Identifier: BSD-3-Clause
// A peer: a device in use, with its protection domain and capabilities.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "capabilities.hpp"
#include "handles.hpp"
#include "object.hpp"
#include "public.hpp"

namespace rpma {

/// Where reads that serve as flushes put their bytes. Nobody looks at them, so all connections of a
/// peer share one buffer.
struct FlushBuffer {
    static constexpr std::size_t kSize = 8;

    std::uint64_t address;
    std::uint32_t lkey;
};

}  // namespace rpma

struct rpma_peer : rpma::RefCounted {
public:
    /// Fails with RPMA_E_PROVIDER, RPMA_E_NOMEM, RPMA_E_UNKNOWN.
    static rpma::Status open(ibv_context* context, rpma::Owned<rpma_peer>& out);

    [[nodiscard]] ibv_context* context() const { return pd_->context; }
    [[nodiscard]] ibv_pd* pd() const { return pd_.get(); }
    [[nodiscard]] const rpma::Capabilities& capabilities() const { return capabilities_; }

    /// IBV_ACCESS_* bits for RPMA_MR_USAGE_* bits on this device.
    [[nodiscard]] int access_of(int usage) const;
    /// Registers memory, with on-demand paging where it cannot be pinned. RPMA_E_PROVIDER.
    rpma::Status register_memory(void* start, std::size_t size, int access, rpma::Mr& out);
    /// The peer's flush buffer, made on first use. Any thread. RPMA_E_NOMEM, RPMA_E_PROVIDER.
    rpma::Status flush_buffer(rpma::FlushBuffer& out);

    /// For unref(): frees buffer and protection domain.
    rpma::Status close();

private:
    rpma::Status make_flush_buffer();

    rpma::Pd pd_;
    rpma::Capabilities capabilities_ = {};
    rpma::Mutex flush_mutex_;
    void* flush_page_ = nullptr;
    rpma::Mr flush_mr_;
};
