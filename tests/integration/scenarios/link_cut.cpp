// SPDX-License-Identifier: BSD-3-Clause
// The link between two network name spaces goes down in the middle of a transfer. "short": it comes
// back, and all that was posted completes as if nothing had been. "long": it stays down until the
// client has been told; what was posted ends in errors in bounded time, and once the link is back a
// new connection works. RPMA_TEST_LINK is the server's interface.
#include <sys/wait.h>

#include <cstdlib>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 4U << 20U;
constexpr std::uint64_t kWrites = 8;

void set_link(const char* state) {
    const char* const link = std::getenv("RPMA_TEST_LINK");  // NOLINT(concurrency-mt-unsafe)
    if (link == nullptr) {
        it::skip("needs network name spaces of its own");
    }
    const std::string command = std::string("env -u LD_PRELOAD ip link set ") + link + " " + state;
    // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): the test's own command
    const int status = std::system(command.c_str());
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void post_writes(const it::Attached& attached) {
    for (std::uint64_t each = 0; each < kWrites; ++each) {
        CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), 0, attached.local.mr(), 0,
                            kSize, RPMA_F_COMPLETION_ALWAYS, it::context(each)));
    }
}

// All complete, in order; none succeeds behind one that failed. True: one failed.
bool collect_writes(const it::Attached& attached, const it::Deadline& deadline) {
    bool failed = false;
    for (std::uint64_t each = 0; each < kWrites; ++each) {
        const ibv_wc wc = it::next_completion(it::main_cq(attached.conn()), deadline);
        CHECK_EQ(wc.wr_id, each);
        const bool lost = wc.status == (failed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR);
        CHECK(lost || (wc.status == IBV_WC_SUCCESS && !failed));
        failed = failed || lost;
    }
    return failed;
}

// The kernel takes a moment to find neighbours on a link that has come back.
it::Connection connect_again(const it::Role& role, rpma_peer* peer) {
    const it::Deadline deadline;
    for (;;) {
        it::Connection connection = it::start(it::new_request(role, peer));
        const rpma_conn_event event = it::next_event(connection.get());
        if (event == RPMA_CONN_ESTABLISHED) {
            return connection;
        }
        CHECK_EQ(event, RPMA_CONN_UNREACHABLE);
        CHECK(!deadline.passed());
        it::sleep_ms(100);
    }
}

void check_transfer(const it::Attached& attached) {
    attached.read(kSize, 0, kSize);
    it::check_filled(attached.local.bytes(kSize, kSize), 31);
}

}  // namespace

void server(it::Role& role) {
    const bool lasting = role.has_argument("long");
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection first = it::accept(endpoint.get(), nullptr, it::describe(region.mr()));
    role.peer().await("cut");
    set_link("down");
    role.peer().signal("is cut");
    if (lasting) {
        const it::Deadline patient(std::chrono::seconds(90));
        role.peer().await("was told", patient);
    } else {
        it::sleep_ms(2000);
    }
    set_link("up");
    role.peer().signal("is mended");
    if (lasting) {
        it::expect_closed(it::accept(endpoint.get(), nullptr, it::describe(region.mr())).get());
    } else {
        it::expect_closed(first.get());
    }
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, 2 * kSize);
    const it::Deadline patient(std::chrono::seconds(90));
    it::fill(attached.local.bytes(0, kSize), 31);
    role.peer().signal("cut");
    role.peer().await("is cut");
    post_writes(attached);
    const bool failed = collect_writes(attached, patient);
    if (!role.has_argument("long")) {
        CHECK(!failed);
        check_transfer(attached);
        it::disconnect(attached.conn());
        return;
    }
    CHECK(failed);
    it::expect_closed_or_lost(attached.conn());
    role.peer().signal("was told");
    role.peer().await("is mended");
    const it::Connection next = connect_again(role, attached.peer.get());
    const it::RemoteMr remote = it::remote_region(it::private_data(next.get()));
    CHECK_OK(rpma_write(next.get(), remote.get(), 0, attached.local.mr(), 0, kSize,
                        RPMA_F_COMPLETION_ALWAYS, it::context(99)));
    it::expect_done(next.get(), IBV_WC_RDMA_WRITE, it::context(99));
    it::disconnect(next.get());
}
