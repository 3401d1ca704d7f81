// SPDX-License-Identifier: BSD-3-Clause
// Memory that the device cannot serve is refused when it is registered, with one error that says
// what to do. Arguments: "dax FILE": a file of a DAX file system, on a device without on-demand
// paging; "memory": ordinary memory to be flushed to persistence, by a device that flushes
// natively.
#include "common/log_capture.hpp"
#include "common/session.hpp"
#include "vm/scenarios/pmem_map.hpp"

namespace {

constexpr std::size_t kSize = 1UL << 20U;

void expect_refusal(rpma_peer* peer, it::Bytes memory, int usage,
                    const std::vector<std::string>& words) {
    rpma_mr_local* mr = nullptr;
    it::capture_log();
    CHECK_CODE(rpma_mr_reg(peer, memory.data(), memory.size(), usage, &mr), RPMA_E_PROVIDER);
    CHECK(mr == nullptr);
    it::expect_one_error(words);
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    if (role.arguments.front() == "dax") {
        const it::PmemMap file(role.arguments.at(1), kSize);
        expect_refusal(peer.get(), file.bytes(), it::kUsualUsage,
                       {"on-demand paging", "use device DAX"});
        return;
    }
    // Without the usage the same memory is taken.
    const it::Region memory(peer.get(), kSize, it::kUsualUsage);
    expect_refusal(peer.get(), memory.bytes(),
                   it::kUsualUsage | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
                   {"RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT", "may not take this memory for"});
}

void client(it::Role&) {}
