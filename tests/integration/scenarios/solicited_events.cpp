// SPDX-License-Identifier: BSD-3-Clause
// A queue armed for solicited completions only wakes for a solicited send, not for a plain one, and
// also for an error.
#include "common/verbs.hpp"

namespace {

constexpr std::size_t kSize = 64;

bool woken(rdma_cm_id* id, std::chrono::milliseconds limit) {
    if (!it::wait_readable(id->recv_cq_channel->fd, it::Deadline(limit))) {
        return false;
    }
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    CHECK(ibv_get_cq_event(id->recv_cq_channel, &cq, &context) == 0);
    ibv_ack_cq_events(cq, 1);
    return true;
}

}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    const it::CmId id = it::verbs_accept(listener.get());
    it::VerbsMemory memory(id.get(), kSize, IBV_ACCESS_LOCAL_WRITE);
    for (std::uint64_t wr_id = 1; wr_id <= 3; ++wr_id) {
        it::post_receive(id.get(), wr_id, {memory.sge(0, kSize)});
    }
    CHECK(ibv_req_notify_cq(id->recv_cq, 1) == 0);
    role.peer().signal("armed");
    role.peer().await("plain send done");
    it::expect_success(id->recv_cq, 1);
    CHECK(!woken(id.get(), std::chrono::milliseconds(200)));
    role.peer().signal("not woken");
    CHECK(woken(id.get(), std::chrono::seconds(20)));
    it::expect_success(id->recv_cq, 2);

    CHECK(ibv_req_notify_cq(id->recv_cq, 1) == 0);
    it::verbs_disconnect(id.get());
    if (it::on_fabric()) {  // rdma_rxe does not wake anybody for a flushed receive
        CHECK(woken(id.get(), std::chrono::seconds(20)));
    }
    it::expect_status(id->recv_cq, 3, IBV_WC_WR_FLUSH_ERR);
}

void client(it::Role& role) {
    const it::CmId id = it::verbs_connect(role);
    it::VerbsMemory memory(id.get(), kSize, IBV_ACCESS_LOCAL_WRITE);
    role.peer().await("armed");
    it::post(id.get(), it::send_request(IBV_WR_SEND, 1), {memory.sge(0, kSize)});
    it::expect_success(id->send_cq, 1);
    role.peer().signal("plain send done");
    role.peer().await("not woken");
    it::post(id.get(), it::send_request(IBV_WR_SEND, 2, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED),
             {memory.sge(0, kSize)});
    it::expect_success(id->send_cq, 2);
    it::verbs_disconnect(id.get());
}
