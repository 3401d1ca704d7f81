// SPDX-License-Identifier: BSD-3-Clause
// A region is deregistered and unmapped while data arrive: the writer gets a remote access error,
// the server neither crashes nor sees one more byte, and a new connection works.
#include <sys/mman.h>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {
constexpr std::size_t kSize = 8U << 20U;
}

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    void* pages = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    it::LocalMr mr =
        it::register_memory(peer.get(), {static_cast<std::byte*>(pages), kSize}, it::kUsualUsage);
    const it::Connection connection = it::accept(endpoint.get(), nullptr, it::describe(mr.get()));
    role.peer().await("writing");
    it::sleep_ms(20);
    mr.reset();
    CHECK(munmap(pages, kSize) == 0);
    role.peer().await("saw the error");
    it::expect_closed_or_lost(connection.get());

    const it::Region again(peer.get(), kSize, it::kUsualUsage);
    const it::Connection next = it::accept(endpoint.get(), nullptr, it::describe(again.mr()));
    it::expect_closed(next.get());
    it::check_filled(again.bytes(), 12);
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    it::fill(attached.local.bytes(), 12);
    role.peer().signal("writing");
    const it::Deadline deadline;
    ibv_wc_status status = IBV_WC_SUCCESS;
    while (status == IBV_WC_SUCCESS) {
        CHECK(!deadline.passed());
        CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), 0, attached.local.mr(), 0,
                            kSize, RPMA_F_COMPLETION_ALWAYS, it::context(1)));
        status = it::next_completion(it::main_cq(attached.conn())).status;
    }
    CHECK_EQ(status, IBV_WC_REM_ACCESS_ERR);
    CHECK_OK(rpma_conn_disconnect(attached.conn()));
    role.peer().signal("saw the error");

    const it::Connection next = it::establish(it::new_request(role, attached.peer.get()));
    const it::RemoteMr remote = it::remote_region(it::private_data(next.get()));
    CHECK_OK(rpma_write(next.get(), remote.get(), 0, attached.local.mr(), 0, kSize,
                        RPMA_F_COMPLETION_ALWAYS, it::context(2)));
    it::expect_done(next.get(), IBV_WC_RDMA_WRITE, it::context(2));
    it::disconnect(next.get());
}
