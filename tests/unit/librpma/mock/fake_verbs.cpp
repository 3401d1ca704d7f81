// SPDX-License-Identifier: BSD-3-Clause
// The ibv_* functions and the function tables behind the inline ones.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fake_rdma.hpp"

// The header has a macro of this name.
#undef ibv_reg_mr

using fake::world;

namespace {

std::uint32_t next_key = 0x100;

fake::Qp* qp_of(ibv_qp* qp) {
    // ibv_qp is the first member of ibv_qp_ex.
    return static_cast<fake::Qp*>(reinterpret_cast<ibv_qp_ex*>(qp));
}

int post_send(ibv_qp* /*qp*/, ibv_send_wr* wr, ibv_send_wr** bad) {
    if (world.enter("post_send") || world.post_result != 0) {
        *bad = wr;
        return world.post_result != 0 ? world.post_result : errno;
    }
    fake::Send send;
    send.verb = "post_send";
    send.wr_id = wr->wr_id;
    send.opcode = wr->opcode;
    send.flags = wr->send_flags;
    send.num_sge = wr->num_sge;
    if (wr->num_sge > 0) {
        send.sge = *wr->sg_list;
        if ((wr->send_flags & IBV_SEND_INLINE) != 0) {
            send.inlined.assign(reinterpret_cast<const char*>(wr->sg_list->addr),
                                wr->sg_list->length);
        }
    }
    if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || wr->opcode == IBV_WR_SEND_WITH_IMM) {
        send.imm = wr->imm_data;
    }
    if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM) {
        send.remote = wr->wr.rdma.remote_addr;
        send.rkey = wr->wr.rdma.rkey;
    }
    world.sends.push_back(send);
    return wr->next == nullptr ? 0 : EINVAL;
}

int record_recv(ibv_recv_wr* wr, ibv_recv_wr** bad, bool shared) {
    if (world.enter(shared ? "post_srq_recv" : "post_recv") || world.post_result != 0) {
        *bad = wr;
        return world.post_result != 0 ? world.post_result : errno;
    }
    world.recvs.push_back(
        {wr->wr_id, wr->num_sge, wr->num_sge > 0 ? *wr->sg_list : ibv_sge{}, shared});
    return wr->next == nullptr ? 0 : EINVAL;
}

int post_recv(ibv_qp* /*qp*/, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    return record_recv(wr, bad, false);
}

int post_srq_recv(ibv_srq* /*srq*/, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    return record_recv(wr, bad, true);
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* wc) {
    if (world.enter("poll_cq")) {
        return -errno;
    }
    if (world.poll_result != 0) {
        return world.poll_result;
    }
    auto& queue = static_cast<fake::Cq*>(cq)->completions;
    int got = 0;
    for (; got < entries && !queue.empty(); ++got) {
        wc[got] = queue.front();
        queue.pop_front();
    }
    return got;
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
    if (world.enter("req_notify_cq")) {
        return errno;
    }
    static_cast<fake::Cq*>(cq)->armed += solicited_only == 0 ? 1 : 0;
    return 0;
}

int query_device_ex(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex* attributes,
                    size_t size) {
    if (world.enter("query_device_ex")) {
        return errno;
    }
    std::memset(attributes, 0, size);
    attributes->odp_caps.general_caps = world.odp_general;
    attributes->odp_caps.per_transport_caps.rc_odp_caps = world.odp_rc;
    attributes->device_cap_flags_ex = world.cap_flags_ex;
    return 0;
}

int advise_mr(ibv_pd*, ib_uverbs_advise_mr_advice advice, uint32_t, ibv_sge* list, uint32_t) {
    if (world.enter("advise_mr")) {
        return errno;
    }
    world.advice = advice;
    world.advised.push_back(*list);
    return 0;
}

fake::Send native;  // the request between wr_start and wr_complete

void wr_start(ibv_qp_ex*) {
    native = fake::Send();
}

int wr_complete(ibv_qp_ex* qp) {
    if (world.enter("wr_complete") || world.post_result != 0) {
        return world.post_result != 0 ? world.post_result : errno;
    }
    native.wr_id = qp->wr_id;
    native.flags = qp->wr_flags;
    world.sends.push_back(native);
    return 0;
}

void wr_atomic_write(ibv_qp_ex*, uint32_t rkey, uint64_t remote, const void* source) {
    native.verb = "wr_atomic_write";
    native.rkey = rkey;
    native.remote = remote;
    native.inlined.assign(static_cast<const char*>(source), 8);
}

#ifdef RPMA_HAVE_NATIVE_FLUSH
void wr_flush(ibv_qp_ex*, uint32_t rkey, uint64_t remote, size_t length, uint8_t type,
              uint8_t level) {
    native.verb = "wr_flush";
    native.rkey = rkey;
    native.remote = remote;
    native.length = length;
    native.placement = type;
    native.level = level;
}
#endif

struct Device {
    verbs_context verbs = {};
    ibv_device device = {};

    Device() {
        device.transport_type = IBV_TRANSPORT_IB;
        ibv_context& base = verbs.context;
        base.device = &device;
        base.abi_compat = __VERBS_ABI_IS_EXTENDED;
        base.ops.post_send = post_send;
        base.ops.post_recv = post_recv;
        base.ops.post_srq_recv = post_srq_recv;
        base.ops.poll_cq = poll_cq;
        base.ops.req_notify_cq = req_notify_cq;
        verbs.sz = sizeof(verbs);
        verbs.query_device_ex = query_device_ex;
        verbs.advise_mr = advise_mr;
    }
};

Device device;
Device other_device;
ibv_device* device_list[] = {&device.device, nullptr};

}  // namespace

namespace fake {

ibv_context* context() {
    return &device.verbs.context;
}

ibv_context* other_context() {
    return &other_device.verbs.context;
}

void push_cq_event(ibv_cq* cq) {
    static_cast<CompChannel*>(cq->channel)->events.push_back(cq);
}

void push_completion(ibv_cq* cq, const ibv_wc& wc) {
    static_cast<Cq*>(cq)->completions.push_back(wc);
}

/// For fake_cm.cpp: the tables of a new QP.
void equip(Qp& qp) {
    qp.qp_base.context = context();
    qp.wr_start = wr_start;
    qp.wr_complete = wr_complete;
    qp.wr_atomic_write = wr_atomic_write;
#ifdef RPMA_HAVE_NATIVE_FLUSH
    qp.wr_flush = wr_flush;
#endif
}

}  // namespace fake

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
    (void)world.enter("ibv_get_device_list");
    if (!world.present) {
        errno = ENOSYS;
        return nullptr;
    }
    *count = 1;
    return device_list;
}

void ibv_free_device_list(ibv_device**) {}

int ibv_query_device(ibv_context*, ibv_device_attr*) {
    return EOPNOTSUPP;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
    if (world.enter("ibv_alloc_pd")) {
        return nullptr;
    }
    auto* pd = new fake::Pd();
    pd->context = context;
    ++world.live["pd"];
    return pd;
}

int ibv_dealloc_pd(ibv_pd* base) {
    auto* pd = static_cast<fake::Pd*>(base);
    if (pd->users != 0) {
        world.faults_seen.emplace_back("PD freed while in use");
        return EBUSY;
    }
    const bool fails = world.enter("ibv_dealloc_pd");
    --world.live["pd"];  // a test has no other way to get rid of it
    delete pd;
    return fails ? errno : 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, size_t length, int access) {
    if (world.enter("ibv_reg_mr")) {
        return nullptr;
    }
    if (!world.pins && (access & IBV_ACCESS_ON_DEMAND) == 0) {
        errno = EOPNOTSUPP;
        return nullptr;
    }
    auto* mr = new fake::Mr();
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = address;
    mr->length = length;
    mr->lkey = ++next_key;
    mr->rkey = ++next_key;
    mr->access = access;
    world.last_access = access;
    if (world.override_mr) {
        mr->addr = reinterpret_cast<void*>(world.override_values.address);
        mr->length = world.override_values.size;
        mr->rkey = world.override_values.rkey;
    }
    world.mrs.push_back(mr);
    ++static_cast<fake::Pd*>(pd)->users;
    ++world.live["mr"];
    return mr;
}

int ibv_dereg_mr(ibv_mr* base) {
    const bool fails = world.enter("ibv_dereg_mr");
    auto* mr = static_cast<fake::Mr*>(base);
    --static_cast<fake::Pd*>(mr->pd)->users;
    --world.live["mr"];
    std::erase(world.mrs, mr);
    delete mr;
    const int failure = world.destroy_form != 0 ? world.destroy_form : errno;
    return fails ? failure : 0;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
    if (world.enter("ibv_create_comp_channel")) {
        return nullptr;
    }
    auto* channel = new fake::CompChannel();
    channel->context = context;
    channel->fd = eventfd(0, EFD_CLOEXEC);
    ++world.live["comp_channel"];
    return channel;
}

int ibv_destroy_comp_channel(ibv_comp_channel* base) {
    auto* channel = static_cast<fake::CompChannel*>(base);
    if (channel->users != 0) {
        world.faults_seen.emplace_back("completion channel destroyed while in use");
        return EBUSY;
    }
    const bool fails = world.enter("ibv_destroy_comp_channel");
    --world.live["comp_channel"];
    close(channel->fd);
    delete channel;
    return fails ? errno : 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context,
                      ibv_comp_channel* channel, int) {
    if (world.enter("ibv_create_cq")) {
        return nullptr;
    }
    auto* cq = new fake::Cq();
    cq->context = context;
    cq->channel = channel;
    cq->cq_context = cq_context;
    cq->cqe = entries;
    world.cq_sizes.push_back(entries);
    ++static_cast<fake::CompChannel*>(channel)->users;
    ++world.live["cq"];
    return cq;
}

int ibv_destroy_cq(ibv_cq* base) {
    auto* cq = static_cast<fake::Cq*>(base);
    if (cq->users != 0) {
        world.faults_seen.emplace_back("CQ destroyed while in use");
        return EBUSY;
    }
    if (cq->unacked != 0) {
        world.faults_seen.emplace_back("ibv_destroy_cq would wait for ever for an acknowledgement");
    }
    const bool fails = world.enter("ibv_destroy_cq");
    --static_cast<fake::CompChannel*>(cq->channel)->users;
    --world.live["cq"];
    delete cq;
    return fails ? errno : 0;
}

int ibv_get_cq_event(ibv_comp_channel* base, ibv_cq** cq, void** cq_context) {
    if (world.enter("ibv_get_cq_event")) {
        return -1;
    }
    auto* channel = static_cast<fake::CompChannel*>(base);
    if (channel->events.empty()) {
        errno = EAGAIN;
        return -1;
    }
    *cq = channel->events.front();
    *cq_context = (*cq)->cq_context;
    channel->events.pop_front();
    ++static_cast<fake::Cq*>(*cq)->unacked;
    return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned number) {
    (void)world.enter("ibv_ack_cq_events");
    static_cast<fake::Cq*>(cq)->unacked -= static_cast<int>(number);
}

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
    if (world.enter("ibv_create_srq")) {
        return nullptr;
    }
    auto* srq = new fake::Srq();
    srq->context = pd->context;
    srq->pd = pd;
    srq->attributes = *attributes;
    ++static_cast<fake::Pd*>(pd)->users;
    ++world.live["srq"];
    return srq;
}

int ibv_destroy_srq(ibv_srq* base) {
    auto* srq = static_cast<fake::Srq*>(base);
    if (srq->users != 0) {
        world.faults_seen.emplace_back("SRQ destroyed while in use");
        return EBUSY;
    }
    const bool fails = world.enter("ibv_destroy_srq");
    --static_cast<fake::Pd*>(srq->pd)->users;
    --world.live["srq"];
    delete srq;
    return fails ? errno : 0;
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
    return qp_of(qp);
}

}  // extern "C"
