// SPDX-License-Identifier: BSD-3-Clause
// Connection events follow their id when it moves to another event channel, on both sides; moving
// waits until events handed out are acknowledged.
#include <atomic>
#include <cstring>
#include <thread>

#include "common/verbs.hpp"

namespace {

struct DestroyChannel {
    void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
};
using Channel = std::unique_ptr<rdma_event_channel, DestroyChannel>;

Channel make_channel() {
    Channel channel(rdma_create_event_channel());
    CHECK(channel != nullptr);
    return channel;
}

rdma_cm_event* wait_event(rdma_event_channel* channel, rdma_cm_event_type type) {
    CHECK(it::wait_readable(channel->fd, it::Deadline()));
    rdma_cm_event* event = nullptr;
    CHECK(rdma_get_cm_event(channel, &event) == 0);
    if (event->event != type) {
        FAIL("the event is %s, expected %s", rdma_event_str(event->event), rdma_event_str(type));
    }
    return event;
}

void take_event(rdma_event_channel* channel, rdma_cm_event_type type) {
    CHECK(rdma_ack_cm_event(wait_event(channel, type)) == 0);
}

bool readable_now(rdma_event_channel* channel) {
    return it::wait_readable(channel->fd, it::Deadline(std::chrono::milliseconds(0)));
}

sockaddr_storage resolve(const it::Role& role, int flags) {
    rdma_addrinfo hints{};
    hints.ai_flags = flags;
    hints.ai_port_space = RDMA_PS_TCP;
    rdma_addrinfo* info = nullptr;
    CHECK(rdma_getaddrinfo(role.address.c_str(), role.port.c_str(), &hints, &info) == 0);
    sockaddr_storage address{};
    const bool passive = (flags & RAI_PASSIVE) != 0;
    std::memcpy(&address, passive ? info->ai_src_addr : info->ai_dst_addr,
                passive ? info->ai_src_len : info->ai_dst_len);
    rdma_freeaddrinfo(info);
    return address;
}

rdma_conn_param parameters() {
    rdma_conn_param param{};
    param.responder_resources = 1;
    param.initiator_depth = 1;
    param.rnr_retry_count = 7;
    return param;
}

void make_qp(rdma_cm_id* id) {
    ibv_qp_init_attr attr = it::queue_sizes();
    CHECK(rdma_create_qp(id, nullptr, &attr) == 0);
}

void destroy(rdma_cm_id* id) {
    rdma_destroy_qp(id);
    CHECK(rdma_destroy_id(id) == 0);
}

// The migration may only return once the event held here is acknowledged by another thread.
void migrate_with_event_held(rdma_cm_id* id, rdma_cm_event* held, rdma_event_channel* to) {
    std::atomic<bool> acknowledged = false;
    std::thread other([&] {
        it::sleep_ms(200);
        acknowledged = true;
        CHECK(rdma_ack_cm_event(held) == 0);
    });
    CHECK(rdma_migrate_id(id, to) == 0);
    CHECK(acknowledged);
    other.join();
}

}  // namespace

void server(it::Role& role) {
    const Channel listening = make_channel();
    const Channel own = make_channel();
    const Channel last = make_channel();
    rdma_cm_id* listener = nullptr;
    CHECK(rdma_create_id(listening.get(), &listener, nullptr, RDMA_PS_TCP) == 0);
    sockaddr_storage address = resolve(role, RAI_PASSIVE);
    CHECK(rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&address)) == 0);
    CHECK(rdma_listen(listener, 8) == 0);
    role.peer().signal("listening");

    rdma_cm_event* request = wait_event(listening.get(), RDMA_CM_EVENT_CONNECT_REQUEST);
    rdma_cm_id* id = request->id;
    CHECK(rdma_ack_cm_event(request) == 0);
    make_qp(id);
    rdma_conn_param param = parameters();
    CHECK(rdma_accept(id, &param) == 0);
    it::sleep_ms(200);  // ESTABLISHED waits on the listening channel by now
    CHECK(rdma_migrate_id(id, own.get()) == 0);
    CHECK(id->channel == own.get());
    rdma_cm_event* established = wait_event(own.get(), RDMA_CM_EVENT_ESTABLISHED);
    CHECK(!readable_now(listening.get()));
    migrate_with_event_held(id, established, last.get());
    role.peer().signal("disconnect");
    take_event(last.get(), RDMA_CM_EVENT_DISCONNECTED);
    CHECK(!readable_now(own.get()));
    destroy(id);
    CHECK(rdma_destroy_id(listener) == 0);
}

void client(it::Role& role) {
    role.peer().await("listening");
    const Channel channel = make_channel();
    rdma_cm_id* id = nullptr;
    CHECK(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0);  // synchronous
    sockaddr_storage address = resolve(role, 0);
    CHECK(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&address), 2000) == 0);
    CHECK(rdma_resolve_route(id, 2000) == 0);
    make_qp(id);
    CHECK(rdma_migrate_id(id, channel.get()) == 0);
    rdma_conn_param param = parameters();
    CHECK(rdma_connect(id, &param) == 0);
    take_event(channel.get(), RDMA_CM_EVENT_ESTABLISHED);
    role.peer().await("disconnect");
    CHECK(rdma_disconnect(id) == 0);
    take_event(channel.get(), RDMA_CM_EVENT_DISCONNECTED);
    destroy(id);
}
