// SPDX-License-Identifier: BSD-3-Clause
// Faults that the user asks for (rpma-fabric run --faults) reach a program as an adapter's would:
// the right status on the right operation, what is behind it flushed, and then a connection that
// works. The argument says which fault this run has; the test sets RPMA_FABRIC_FAULTS to match.
#include <algorithm>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = (1U << 20U) + 8192;
constexpr std::size_t kPiece = 64;
constexpr std::uint64_t kMessages = 20;

void post_write(const it::Attached& attached, std::size_t size, std::uintptr_t number) {
    CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), 0, attached.local.mr(), 0, size,
                        RPMA_F_COMPLETION_ALWAYS, it::context(number)));
}

void expect_status(const it::Attached& attached, std::uint64_t number, ibv_wc_status status) {
    const ibv_wc wc = it::next_completion(it::main_cq(attached.conn()));
    CHECK_EQ(wc.wr_id, number);
    CHECK_EQ(wc.status, status);
}

// The operation before succeeds, the one that is met fails, the one behind it is flushed.
void meet(const it::Attached& attached, ibv_wc_status status, std::uint64_t number) {
    for (std::uint64_t each = 1; each <= number + 1; ++each) {
        post_write(attached, kPiece, each);
    }
    for (std::uint64_t each = 1; each < number; ++each) {
        expect_status(attached, each, IBV_WC_SUCCESS);
    }
    expect_status(attached, number, status);
    expect_status(attached, number + 1, IBV_WC_WR_FLUSH_ERR);
    it::expect_none(it::main_cq(attached.conn()));
}

// The connection met its fault and ended by itself.
void lost(it::Role& role, ibv_wc_status status, std::uint64_t number) {
    const it::Attached attached = it::attach(role, kSize);
    meet(attached, status, number);
    it::expect_closed_or_lost(attached.conn());
}

// The responder refused an operation; the program ends the connection.
void refused(it::Role& role, ibv_wc_status status) {
    const it::Attached attached = it::attach(role, kSize);
    meet(attached, status, 2);
    it::disconnect(attached.conn());
}

void cut_write(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    it::fill(attached.local.bytes(), 21);
    post_write(attached, kSize, 1);
    expect_status(attached, 1, IBV_WC_RETRY_EXC_ERR);
    it::expect_closed_or_lost(attached.conn());
}

// Refused once, fine the next time.
void refuse_registration(const it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region first(peer.get(), kPiece, it::kUsualUsage);
    rpma_mr_local* mr = nullptr;
    CHECK_CODE(rpma_mr_reg(peer.get(), first.bytes().data(), kPiece, it::kUsualUsage, &mr),
               RPMA_E_PROVIDER);
    CHECK(mr == nullptr);
    const it::Region third(peer.get(), kPiece, it::kUsualUsage);
}

void refuse_connection_parts(const it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    rpma_conn_req* request = nullptr;
    CHECK_CODE(
        rpma_conn_req_new(peer.get(), role.address.c_str(), role.port.c_str(), nullptr, &request),
        RPMA_E_PROVIDER);
    CHECK(request == nullptr);
}

void refuse_connection(const it::Role& role, rpma_conn_event event) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    it::expect_event(it::start(it::new_request(role, peer.get())).get(), event);
}

void send_messages(it::Role& role) {
    const it::Attached attached = it::attach(role, kMessages * kPiece);
    for (std::uint64_t each = 0; each < kMessages; ++each) {
        it::fill(attached.local.bytes(each * kPiece, kPiece), each);
        CHECK_OK(rpma_send(attached.conn(), attached.local.mr(), each * kPiece, kPiece,
                           RPMA_F_COMPLETION_ALWAYS, it::context(each)));
        it::expect_done(attached.conn(), IBV_WC_SEND, it::context(each));
    }
    it::disconnect(attached.conn());
}

// Whatever has happened, the next connection is a good one.
void transfer(it::Role& role) {
    role.peer().await("again");
    const it::Attached attached = it::attach(role, kSize);
    it::fill(attached.local.bytes(0, kPiece), 5);
    attached.write(0, 0, kPiece);
    attached.read(kPiece, 0, kPiece);
    it::check_filled(attached.local.bytes(kPiece, kPiece), 5);
    it::disconnect(attached.conn());
}

void receive_messages(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kMessages * kPiece, it::kUsualUsage);
    const it::ConnCfg cfg = it::configure({.cq = kMessages, .rq = kMessages});
    const it::Endpoint endpoint = it::listen(role, peer.get());
    it::Request request = it::next_request(endpoint.get(), cfg.get());
    for (std::uint64_t each = 0; each < kMessages; ++each) {
        CHECK_OK(rpma_conn_req_recv(request.get(), region.mr(), each * kPiece, kPiece,
                                    it::context(each)));
    }
    const it::Connection connection = it::establish(std::move(request), it::describe(region.mr()));
    for (std::uint64_t each = 0; each < kMessages; ++each) {
        it::expect_done(connection.get(), IBV_WC_RECV, it::context(each));
        it::check_filled(region.bytes(each * kPiece, kPiece), each);
    }
    it::expect_closed(connection.get());
}

// The first half of the client's write has arrived, and nothing of the second.
void check_half(const it::Served& served) {
    const std::vector<std::byte> nothing(kSize / 2);
    it::check_filled(served.region.bytes(0, kSize / 2), 21);
    CHECK(std::ranges::equal(served.region.bytes(kSize / 2, kSize / 2), nothing));
}

void serve_once(it::Role& role) {
    const it::Served served = it::serve(role, kSize);
    it::expect_closed_or_lost(served.connection.get());
    if (role.has_argument("cut-write")) {
        check_half(served);
    }
}

}  // namespace

void server(it::Role& role) {
    it::require_fabric();
    if (role.has_argument("rnr")) {
        receive_messages(role);
    } else if (role.has_argument("reject") || role.has_argument("unreachable")) {
        const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
        const it::Endpoint endpoint = it::listen(role, peer.get());
        role.peer().await("refused");
    } else if (role.has_argument("drop") || role.has_argument("nak") ||
               role.has_argument("cut-write")) {
        serve_once(role);
    }
    role.peer().signal("again");
    const it::Served served = it::serve(role, kSize);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    it::require_fabric();
    if (role.has_argument("drop")) {
        lost(role, IBV_WC_RETRY_EXC_ERR, 3);
    } else if (role.has_argument("cut-write")) {
        cut_write(role);
    } else if (role.has_argument("operation")) {
        refused(role, IBV_WC_REM_OP_ERR);
    } else if (role.has_argument("access")) {
        refused(role, IBV_WC_REM_ACCESS_ERR);
    } else if (role.has_argument("invalid")) {
        refused(role, IBV_WC_REM_INV_REQ_ERR);
    } else if (role.has_argument("rnr")) {
        send_messages(role);
    } else if (role.has_argument("refuse-mr")) {
        refuse_registration(role);
    } else if (role.has_argument("refuse-connection-parts")) {
        refuse_connection_parts(role);
    } else if (role.has_argument("unreachable") || role.has_argument("reject")) {
        role.peer().await("listening");
        refuse_connection(role,
                          role.has_argument("reject") ? RPMA_CONN_REJECTED : RPMA_CONN_UNREACHABLE);
        role.peer().signal("refused");
    }
    transfer(role);
}
