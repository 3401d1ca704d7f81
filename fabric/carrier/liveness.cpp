// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/liveness.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>

#include "carrier/engine.hpp"
#include "carrier/registry.hpp"
#include "carrier/tcp_link.hpp"
#include "carrier/tunables.hpp"

namespace fabric::carrier::liveness {
namespace {

std::atomic<bool> watching{false};

void look_at_all();

void look_later() {
    if (Engine::instance().after(kLivenessPeriod, look_at_all) == 0)
        watching.store(false);
}

void look_at_all() {
    // First, so that bytes sent from now on start the next round if this one finds nothing.
    watching.store(false);
    bool busy = false;
    for (const auto& link : registry::all())
        busy = link->check_peer() || busy;
    if (busy)
        data_under_way();
}

}  // namespace

void data_under_way() {
    if (!watching.load(std::memory_order_relaxed) && !watching.exchange(true))
        look_later();
}

bool has_ended(int fd) {
    tcp_info info{};
    socklen_t size = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
           info.tcpi_state != TCP_ESTABLISHED;
}

Peer look_at(int fd) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return Peer::Quiet;
    // Bytes the peer has not acknowledged, or that wait for its window to open.
    const bool under_way = info.tcpi_unacked > 0 || info.tcpi_probes > 0 || info.tcpi_backoff > 0;
    if (!under_way)
        return Peer::Quiet;
    const std::chrono::milliseconds silence{info.tcpi_last_ack_recv};
    return silence > kDeadPeer ? Peer::Dead : Peer::Busy;
}

}  // namespace fabric::carrier::liveness
