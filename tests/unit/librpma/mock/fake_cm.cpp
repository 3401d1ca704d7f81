// SPDX-License-Identifier: BSD-3-Clause
// The rdma_* functions.
#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fake_rdma.hpp"

using fake::world;

namespace fake {

void equip(Qp& qp);

Id* arrive(const std::string& data) {
    const auto listener = std::find_if(world.ids.begin(), world.ids.end(),
                                       [](const Id* id) { return id->listening; });
    auto* id = new Id();
    id->channel = (*listener)->channel;
    id->verbs = context();
    id->incoming = true;
    ++static_cast<EventChannel*>(id->channel)->users;
    ++world.live["id"];
    world.ids.push_back(id);
    push_event(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, data);
    return id;
}

void push_event(rdma_cm_id* id, rdma_cm_event_type type, int status, const std::string& data) {
    auto* event = new Event();
    event->id = id;
    event->event = type;
    event->status = status;
    event->data.assign(data.begin(), data.end());
    event->param.conn.private_data = data.empty() ? nullptr : event->data.data();
    event->param.conn.private_data_len = static_cast<std::uint8_t>(data.size());
    static_cast<EventChannel*>(id->channel)->events.push_back(event);
}

}  // namespace fake

namespace {

sockaddr_storage address_of(int family) {
    sockaddr_storage address = {};
    address.ss_family = static_cast<sa_family_t>(family);
    return address;
}

bool is_dead(const sockaddr* address) {
    return std::find(world.dead_families.begin(), world.dead_families.end(), address->sa_family) !=
           world.dead_families.end();
}

/// Events of an id that have been taken but not acknowledged hold up whoever calls this.
void note_if_blocked(const fake::Id* id, const char* call) {
    if (id->unacked != 0) {
        world.faults_seen.push_back(std::string(call) + " would wait for an acknowledgement");
    }
}

int connecting(fake::Id* id, const rdma_conn_param* parameters) {
    id->parameters = *parameters;
    world.parameters.push_back(*parameters);
    world.sent_private_data.emplace_back(static_cast<const char*>(parameters->private_data),
                                         parameters->private_data_len);
    return 0;
}

}  // namespace

extern "C" {

rdma_event_channel* rdma_create_event_channel(void) {
    if (world.enter("rdma_create_event_channel")) {
        return nullptr;
    }
    if (!world.present) {
        errno = ENODEV;
        return nullptr;
    }
    auto* channel = new fake::EventChannel();
    channel->fd = eventfd(0, EFD_CLOEXEC);
    ++world.live["event_channel"];
    return channel;
}

void rdma_destroy_event_channel(rdma_event_channel* base) {
    (void)world.enter("rdma_destroy_event_channel");
    auto* channel = static_cast<fake::EventChannel*>(base);
    if (channel->users != 0) {
        world.faults_seen.emplace_back("event channel destroyed under an id");
    }
    for (fake::Event* event : channel->events) {
        delete event;
    }
    --world.live["event_channel"];
    close(channel->fd);
    delete channel;
}

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** out, void* context,
                   enum rdma_port_space space) {
    if (world.enter("rdma_create_id")) {
        return -1;
    }
    if (!world.present) {
        errno = ENODEV;
        return -1;
    }
    auto* id = new fake::Id();
    id->channel = channel;
    id->context = context;
    id->ps = space;
    if (channel != nullptr) {
        ++static_cast<fake::EventChannel*>(channel)->users;
    }
    ++world.live["id"];
    world.ids.push_back(id);
    *out = id;
    return 0;
}

/// Requests that nobody took go with the listening id, as in the kernel.
static void drop_untaken(fake::EventChannel* channel) {
    std::erase_if(channel->events, [channel](fake::Event* event) {
        if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
            return false;
        }
        auto* id = static_cast<fake::Id*>(event->id);
        --channel->users;
        --world.live["id"];
        std::erase(world.ids, id);
        delete id;
        delete event;
        return true;
    });
}

int rdma_destroy_id(rdma_cm_id* base) {
    const bool fails = world.enter("rdma_destroy_id");
    auto* id = static_cast<fake::Id*>(base);
    note_if_blocked(id, "rdma_destroy_id");
    if (id->qp != nullptr) {
        world.faults_seen.emplace_back("id destroyed with a QP");
    }
    if (id->channel != nullptr) {
        auto* channel = static_cast<fake::EventChannel*>(id->channel);
        --channel->users;
        if (id->listening) {
            drop_untaken(channel);
        }
        std::erase_if(channel->events, [id](fake::Event* event) {
            const bool its = event->id == id;
            if (its) {
                delete event;
            }
            return its;
        });
    }
    if (id->incoming && !id->accepted && !id->rejected) {
        world.faults_seen.emplace_back("an incoming id was destroyed without an answer");
    }
    --world.live["id"];
    std::erase(world.ids, id);
    delete id;
    return fails ? -1 : 0;
}

int rdma_getaddrinfo(const char*, const char*, const rdma_addrinfo* hints, rdma_addrinfo** out) {
    if (world.enter("rdma_getaddrinfo")) {
        return errno == 0 ? EAI_NONAME : -1;
    }
    world.look_up_flags = hints->ai_flags;
    int family = world.families.front();
    if ((hints->ai_flags & RAI_FAMILY) != 0) {
        family = hints->ai_family;
        if (std::find(world.families.begin(), world.families.end(), family) ==
            world.families.end()) {
            return EAI_NONAME;
        }
    }
    auto* result = new rdma_addrinfo();
    auto* address = new sockaddr_storage(address_of(family));
    result->ai_family = family;
    result->ai_src_addr = reinterpret_cast<sockaddr*>(address);
    result->ai_dst_addr = reinterpret_cast<sockaddr*>(address);
    ++world.live["addrinfo"];
    *out = result;
    return 0;
}

void rdma_freeaddrinfo(rdma_addrinfo* result) {
    (void)world.enter("rdma_freeaddrinfo");
    --world.live["addrinfo"];
    delete reinterpret_cast<sockaddr_storage*>(result->ai_src_addr);
    delete result;
}

int rdma_bind_addr(rdma_cm_id* base, sockaddr* address) {
    if (world.enter("rdma_bind_addr")) {
        return -1;
    }
    if (is_dead(address)) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    auto* id = static_cast<fake::Id*>(base);
    id->bound = true;
    id->family = address->sa_family;
    id->verbs = world.wildcard ? nullptr : fake::context();
    return 0;
}

int rdma_listen(rdma_cm_id* id, int) {
    if (world.enter("rdma_listen")) {
        return -1;
    }
    static_cast<fake::Id*>(id)->listening = true;
    return 0;
}

int rdma_resolve_addr(rdma_cm_id* base, sockaddr*, sockaddr* address, int timeout) {
    if (world.enter("rdma_resolve_addr")) {
        return -1;
    }
    if (is_dead(address)) {
        errno = ENETUNREACH;
        return -1;
    }
    world.timeouts.push_back(timeout);
    auto* id = static_cast<fake::Id*>(base);
    id->family = address->sa_family;
    id->verbs = world.elsewhere ? fake::other_context() : fake::context();
    return 0;
}

int rdma_resolve_route(rdma_cm_id*, int timeout) {
    if (world.enter("rdma_resolve_route")) {
        return -1;
    }
    world.timeouts.push_back(timeout);
    return 0;
}

int rdma_migrate_id(rdma_cm_id* base, rdma_event_channel* channel) {
    if (world.enter("rdma_migrate_id")) {
        return -1;
    }
    auto* id = static_cast<fake::Id*>(base);
    note_if_blocked(id, "rdma_migrate_id");
    auto* to = static_cast<fake::EventChannel*>(channel);
    if (auto* from = static_cast<fake::EventChannel*>(id->channel)) {
        --from->users;
        std::erase_if(from->events, [id, to](fake::Event* event) {
            if (event->id == id) {
                to->events.push_back(event);
            }
            return event->id == id;
        });
    }
    ++to->users;
    id->channel = channel;
    return 0;
}

int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attributes) {
    const bool fails = world.enter("rdma_create_qp_ex");
    world.qps.push_back(*attributes);
    if (fails) {
        return -1;
    }
    if (id->verbs != attributes->pd->context) {
        errno = EINVAL;
        return -1;
    }
    if ((attributes->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 && !world.extended_qp) {
        errno = EOPNOTSUPP;
        return -1;
    }
    auto* qp = new fake::Qp();
    qp->attributes = *attributes;
    fake::equip(*qp);
    qp->qp_base.qp_num = 0x1234;
    qp->qp_base.pd = attributes->pd;
    qp->qp_base.srq = attributes->srq;
    ++static_cast<fake::Pd*>(attributes->pd)->users;
    ++static_cast<fake::Cq*>(attributes->send_cq)->users;
    ++static_cast<fake::Cq*>(attributes->recv_cq)->users;
    if (attributes->srq != nullptr) {
        ++static_cast<fake::Srq*>(attributes->srq)->users;
    }
    id->qp = &qp->qp_base;
    ++world.live["qp"];
    return 0;
}

void rdma_destroy_qp(rdma_cm_id* id) {
    (void)world.enter("rdma_destroy_qp");
    auto* qp = static_cast<fake::Qp*>(reinterpret_cast<ibv_qp_ex*>(id->qp));
    --static_cast<fake::Pd*>(qp->attributes.pd)->users;
    --static_cast<fake::Cq*>(qp->attributes.send_cq)->users;
    --static_cast<fake::Cq*>(qp->attributes.recv_cq)->users;
    if (qp->attributes.srq != nullptr) {
        --static_cast<fake::Srq*>(qp->attributes.srq)->users;
    }
    --world.live["qp"];
    id->qp = nullptr;
    delete qp;
}

int rdma_connect(rdma_cm_id* base, rdma_conn_param* parameters) {
    if (world.enter("rdma_connect")) {
        return -1;
    }
    auto* id = static_cast<fake::Id*>(base);
    id->connected = true;
    return connecting(id, parameters);
}

int rdma_accept(rdma_cm_id* base, rdma_conn_param* parameters) {
    if (world.enter("rdma_accept")) {
        return -1;
    }
    auto* id = static_cast<fake::Id*>(base);
    id->accepted = true;
    ++world.accepted;
    fake::push_event(id, RDMA_CM_EVENT_ESTABLISHED);
    return connecting(id, parameters);
}

int rdma_reject(rdma_cm_id* base, const void*, uint8_t) {
    static_cast<fake::Id*>(base)->rejected = true;
    if (world.enter("rdma_reject")) {
        return -1;
    }
    ++world.rejections;
    return 0;
}

int rdma_disconnect(rdma_cm_id* id) {
    if (world.enter("rdma_disconnect")) {
        return -1;
    }
    static_cast<fake::Id*>(id)->disconnected = true;
    return 0;
}

int rdma_get_cm_event(rdma_event_channel* base, rdma_cm_event** out) {
    if (world.enter("rdma_get_cm_event")) {
        return -1;
    }
    auto* channel = static_cast<fake::EventChannel*>(base);
    if (channel->events.empty()) {
        errno = EAGAIN;
        return -1;
    }
    fake::Event* event = channel->events.front();
    channel->events.pop_front();
    // A connect request counts for the listening id, as in librdmacm.
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        ++static_cast<fake::Id*>(event->id)->unacked;
    }
    ++world.live["event"];
    *out = event;
    return 0;
}

int rdma_ack_cm_event(rdma_cm_event* base) {
    const bool fails = world.enter("rdma_ack_cm_event");
    auto* event = static_cast<fake::Event*>(base);
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        --static_cast<fake::Id*>(event->id)->unacked;
    }
    --world.live["event"];
    std::fill(event->data.begin(), event->data.end(), static_cast<unsigned char>(0xdd));
    delete event;
    return fails ? -1 : 0;
}

const char* rdma_event_str(enum rdma_cm_event_type type) {
    return type == RDMA_CM_EVENT_ADDR_CHANGE ? "RDMA_CM_EVENT_ADDR_CHANGE" : "RDMA_CM_EVENT_X";
}

ibv_context** rdma_get_devices(int* count) {
    if (world.enter("rdma_get_devices")) {
        return nullptr;
    }
    static ibv_context* list[2];
    list[0] = world.present ? fake::context() : nullptr;
    *count = world.present ? 1 : 0;
    ++world.live["devices"];
    return list;
}

void rdma_free_devices(ibv_context**) {
    --world.live["devices"];
}

}  // extern "C"
