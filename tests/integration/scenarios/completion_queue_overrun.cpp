// SPDX-License-Identifier: BSD-3-Clause
// A completion queue that overflows says so: by an asynchronous event of the queue, or an error; a
// completion is never lost in silence.
#include <fcntl.h>
#include <poll.h>

#include "common/verbs.hpp"

namespace {

constexpr int kEntries = 4;
constexpr std::uint64_t kPosts = 64;

// True: an event said that the queue is in error.
bool overrun_reported(ibv_context* device) {
    const it::Deadline deadline(std::chrono::seconds(5));
    while (it::wait_readable(device->async_fd, deadline)) {
        ibv_async_event event{};
        CHECK(ibv_get_async_event(device, &event) == 0);
        ibv_ack_async_event(&event);
        if (event.event_type == IBV_EVENT_CQ_ERR) {
            return true;
        }
    }
    return false;
}

}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    const it::CmId id = it::verbs_accept(listener.get());
    it::VerbsMemory memory(id.get(), 64, it::kAllAccess);
    role.peer().give("target", it::target_of(memory));
    role.peer().await("done");
}

void client(it::Role& role) {
    role.peer().await("listening");
    rdma_addrinfo hints{};
    hints.ai_port_space = RDMA_PS_TCP;
    rdma_addrinfo* info = nullptr;
    CHECK(rdma_getaddrinfo(role.address.c_str(), role.port.c_str(), &hints, &info) == 0);
    rdma_cm_id* raw = nullptr;
    CHECK(rdma_create_ep(&raw, info, nullptr, nullptr) == 0);
    rdma_freeaddrinfo(info);
    const it::CmId id(raw);
    ibv_cq* cq = ibv_create_cq(id->verbs, kEntries, nullptr, nullptr, 0);
    CHECK(cq != nullptr);
    ibv_qp_init_attr attr = it::queue_sizes(kPosts);
    attr.send_cq = cq;
    attr.recv_cq = cq;
    CHECK(rdma_create_qp(id.get(), nullptr, &attr) == 0);
    rdma_conn_param param{};
    param.rnr_retry_count = 7;
    CHECK(rdma_connect(id.get(), &param) == 0);
    const auto target = role.peer().take<it::Target>("target");
    {
        it::VerbsMemory local(id.get(), 64, it::kAllAccess);
        const auto capacity = static_cast<std::uint64_t>(cq->cqe);
        if (capacity >= kPosts) {
            it::skip("the device rounds %d entries up to %d", kEntries, cq->cqe);
        }
        for (std::uint64_t number = 0; number < kPosts; ++number) {
            it::post(id.get(), it::rdma_request(IBV_WR_RDMA_WRITE, number, target, 0),
                     {local.sge(0, 8)});
        }
        CHECK(overrun_reported(id->verbs));
    }
    rdma_destroy_qp(id.get());
    CHECK(ibv_destroy_cq(cq) == 0);
    role.peer().signal("done");
}
