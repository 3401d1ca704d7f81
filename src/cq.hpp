// SPDX-License-Identifier: BSD-3-Clause
// A completion queue with its completion channel.
#pragma once

#include <cstdint>

#include "handles.hpp"
#include "log.hpp"
#include "object.hpp"
#include "public.hpp"

struct rpma_cq {
    /// Makes and arms a queue. shared_channel: the channel to use, or NULL for one of its own.
    /// size above INT_MAX counts as INT_MAX. Fails with RPMA_E_NOMEM, RPMA_E_PROVIDER.
    static rpma::Status open(ibv_context* context, std::uint32_t size,
                             ibv_comp_channel* shared_channel, rpma::Owned<rpma_cq>& out);
    /// Asks for an event for the next completion. RPMA_E_PROVIDER.
    rpma::Status arm();
    rpma::Status close();

    [[nodiscard]] bool uses_shared_channel() const { return !own_channel; }

    ibv_cq* verbs = nullptr;
    ibv_comp_channel* channel = nullptr;
    rpma::CompChannel own_channel;
    rpma::Cq cq;
};

namespace rpma {

/// Makes a completion channel. RPMA_E_PROVIDER.
Status open_comp_channel(ibv_context* context, CompChannel& out);

/// Appends what the user can do about a queue that the device refused to make.
void explain_refused_queue(Status& status);

/// Takes one event and acknowledges it; source: the queue. RPMA_E_NO_COMPLETION where there is
/// none; only a wait that failed for another reason makes a log line.
int take_cq_event(ibv_comp_channel* channel, ibv_cq*& source, const Where& where);

}  // namespace rpma
