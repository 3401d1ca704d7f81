// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of regions and peer configurations at every alignment: the same bytes, and they work
// over a connection.
#include <algorithm>
#include <array>

#include "common/session.hpp"

namespace {
constexpr std::size_t kSize = 4096;
constexpr std::size_t kDescriptor = 21;
using Area = std::array<std::byte, 64>;
}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSize);
    rpma_peer_cfg* raw = nullptr;
    CHECK_OK(rpma_peer_cfg_new(&raw));
    const it::PeerCfg cfg(raw);
    CHECK_OK(rpma_peer_cfg_set_direct_write_to_pmem(cfg.get(), true));
    const it::Descriptor expected = it::describe(served.region.mr());
    for (std::size_t offset = 0; offset < 8; ++offset) {
        Area area{};
        CHECK_OK(rpma_peer_cfg_get_descriptor(cfg.get(), area.data() + offset));
        CHECK_OK(rpma_mr_get_descriptor(served.region.mr(), area.data() + offset + 1));
        CHECK(std::equal(expected.begin(), expected.end(),
                         area.begin() + static_cast<std::ptrdiff_t>(offset) + 1));
        CHECK(area[offset] == std::byte{1});
        CHECK(area[offset + 1 + kDescriptor] == std::byte{0});
        role.peer().give("area", area);
    }
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    for (std::size_t offset = 0; offset < 8; ++offset) {
        const auto area = role.peer().take<Area>("area");
        rpma_peer_cfg* raw = nullptr;
        CHECK_OK(rpma_peer_cfg_from_descriptor(area.data() + offset, 1, &raw));
        const it::PeerCfg cfg(raw);
        bool direct = false;
        CHECK_OK(rpma_peer_cfg_get_direct_write_to_pmem(cfg.get(), &direct));
        CHECK(direct);
        const it::RemoteMr remote =
            it::remote_region(it::ConstBytes(area).subspan(offset + 1, kDescriptor));
        CHECK_OK(rpma_read(attached.conn(), attached.local.mr(), 0, remote.get(), 0, kSize,
                           RPMA_F_COMPLETION_ALWAYS, nullptr));
        it::expect_done(attached.conn(), IBV_WC_RDMA_READ, nullptr);
    }
    it::disconnect(attached.conn());
}
