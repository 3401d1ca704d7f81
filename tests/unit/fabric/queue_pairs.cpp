// SPDX-License-Identifier: BSD-3-Clause
#include "queue_pairs.hpp"

#include "cmocka.hpp"
#include "waiting.hpp"

namespace verbs_test {

ibv_context* open_device() {
    int count = 0;
    ibv_device** const list = ibv_get_device_list(&count);
    assert_int_equal(count, 1);
    ibv_context* const context = ibv_open_device(list[0]);
    assert_non_null(context);
    ibv_free_device_list(list);
    return context;
}

Device::Device() : context(open_device()), pd(ibv_alloc_pd(context)) {
    assert_non_null(pd);
}

Device::~Device() {
    assert_int_equal(ibv_dealloc_pd(pd), 0);
    assert_int_equal(ibv_close_device(context), 0);
}

ibv_cq* Device::make_cq(int entries, ibv_comp_channel* channel) const {
    ibv_cq* const cq = ibv_create_cq(context, entries, nullptr, channel, 0);
    assert_non_null(cq);
    return cq;
}

ibv_mr* Device::register_memory(void* address, std::size_t length) const {
    ibv_mr* const mr = ibv_reg_mr(pd, address, length, kAllRights);
    assert_non_null(mr);
    return mr;
}

ibv_qp_attr init_attributes() {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = kAllRights;
    return attr;
}

ibv_qp_attr rtr_attributes(std::uint32_t destination_qp, std::uint32_t receive_psn) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = destination_qp;
    attr.rq_psn = receive_psn;
    attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = 12;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    return attr;
}

ibv_qp_attr rts_attributes(std::uint32_t send_psn) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    attr.sq_psn = send_psn;
    attr.max_rd_atomic = 4;
    return attr;
}

// Shortly before the numbers wrap.
std::uint32_t first_psn(const ibv_qp* qp) {
    return 0xfffffe - (qp->qp_num & 3);
}

Node::Node(const Device& device, const Options& options) : memory(4096) {
    mr = device.register_memory(memory.data(), memory.size());
    cq = device.make_cq(options.cq_entries, options.channel);
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = cq;
    init.srq = options.srq;
    init.cap = {options.send_wr, options.receive_wr, 4, 4, 64};
    init.qp_type = IBV_QPT_RC;
    init.comp_mask = IBV_QP_INIT_ATTR_PD;
    init.pd = device.pd;
    if (options.send_ops != 0) {
        init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        init.send_ops_flags = options.send_ops;
    }
    qp = ibv_create_qp_ex(device.context, &init);
    assert_non_null(qp);
}

Node::~Node() {
    assert_int_equal(ibv_destroy_qp(qp), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_dereg_mr(mr), 0);
}

void Node::to_init() const {
    ibv_qp_attr attr = init_attributes();
    assert_int_equal(ibv_modify_qp(qp, &attr, kInitMask), 0);
}

void Node::to_rtr(const Node& peer) const {
    ibv_qp_attr attr = rtr_attributes(peer.qp->qp_num, first_psn(peer.qp));
    assert_int_equal(ibv_query_gid(qp->context, 1, 0, &attr.ah_attr.grh.dgid), 0);
    assert_int_equal(ibv_modify_qp(qp, &attr, kRtrMask), 0);
}

void Node::to_rts() const {
    ibv_qp_attr attr = rts_attributes(first_psn(qp));
    assert_int_equal(ibv_modify_qp(qp, &attr, kRtsMask), 0);
}

ibv_sge Node::piece(std::uint32_t length, std::size_t offset) const {
    return {reinterpret_cast<std::uintptr_t>(memory.data()) + offset, length, mr->lkey};
}

int Node::post_receive(std::uint64_t id, std::uint32_t length) const {
    ibv_sge sge = piece(length);
    ibv_recv_wr wr{};
    ibv_recv_wr* bad = nullptr;
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    return ibv_post_recv(qp, &wr, &bad);
}

int Node::post_send(std::uint64_t id, std::uint32_t length) const {
    ibv_sge sge = piece(length);
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_SIGNALED;
    return ibv_post_send(qp, &wr, &bad);
}

int Node::post_write(std::uint64_t id, const Node& to, std::uint32_t length, unsigned flags) const {
    ibv_sge sge = piece(length);
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = flags;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to.memory.data());
    wr.wr.rdma.rkey = to.mr->rkey;
    return ibv_post_send(qp, &wr, &bad);
}

ibv_wc Node::next() const {
    ibv_wc wc{};
    assert_true(eventually([&] { return ibv_poll_cq(cq, 1, &wc) != 0; }));
    return wc;
}

ibv_qp_state Node::state() const {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
    return attr.qp_state;
}

void connect(const Node& a, const Node& b) {
    a.to_init();
    b.to_init();
    a.to_rtr(b);
    b.to_rtr(a);
    a.to_rts();
    b.to_rts();
}

}  // namespace verbs_test
