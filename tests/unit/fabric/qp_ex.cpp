// SPDX-License-Identifier: BSD-3-Clause
// Posting through ibv_qp_ex.
#include <cerrno>
#include <cstring>
#include <string>

#include "cmocka.hpp"
#include "queue_pairs.hpp"
#include "verbs/qp_ex.hpp"

using verbs_test::Device;
using verbs_test::Node;

namespace {

struct Fixture {
    Device device;
    Node a{device, options()};
    Node b{device, options()};
    ibv_qp_ex* ex = ibv_qp_to_qp_ex(a.qp);

    static Node::Options options() {
        Node::Options out;
        out.send_ops = fabric::verbs::supported_send_ops();
        return out;
    }
    Fixture() {
        verbs_test::connect(a, b);
        assert_non_null(ex);
    }
    std::uint64_t remote(std::size_t offset) const {
        return reinterpret_cast<std::uintptr_t>(b.memory.data()) + offset;
    }
    void request(std::uint64_t id) const {
        ex->wr_id = id;
        ex->wr_flags = IBV_SEND_SIGNALED;
    }
    void set(std::size_t offset, std::uint32_t length) const {
        const ibv_sge piece = a.piece(length, offset);
        ibv_wr_set_sge(ex, piece.lkey, piece.addr, piece.length);
    }
    void expect(std::uint64_t id, ibv_wc_opcode opcode) const {
        const ibv_wc wc = a.next();
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        assert_int_equal(wc.wr_id, id);
        assert_int_equal(wc.opcode, opcode);
    }
    void write_works(std::uint64_t id) {
        ibv_wr_start(ex);
        request(id);
        ibv_wr_rdma_write(ex, b.mr->rkey, remote(0));
        set(0, 8);
        assert_int_equal(ibv_wr_complete(ex), 0);
        expect(id, IBV_WC_RDMA_WRITE);
    }
};

void only_if_asked_for(void**) {
    Device device;
    Node plain(device);
    errno = 0;
    assert_null(ibv_qp_to_qp_ex(plain.qp));
    assert_int_equal(errno, EOPNOTSUPP);
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = plain.cq;
    init.cap = {1, 1, 1, 1, 0};
    init.qp_type = IBV_QPT_RC;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.pd = device.pd;
    init.send_ops_flags = IBV_QP_EX_WITH_TSO;
    assert_null(ibv_create_qp_ex(device.context, &init));
    assert_int_equal(errno, EOPNOTSUPP);
}

void a_batch_of_everything(void**) {
    Fixture f;
    std::memset(f.a.memory.data(), 0x11, 64);
    std::memset(f.b.memory.data() + 512, 0x22, 64);
    assert_int_equal(f.b.post_receive(50, 64), 0);
    assert_int_equal(f.b.post_receive(51, 64), 0);
    ibv_wr_start(f.ex);
    f.request(1);
    ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(256));
    f.set(0, 64);
    f.request(2);
    ibv_wr_rdma_read(f.ex, f.b.mr->rkey, f.remote(512));
    f.set(1024, 64);
    f.request(3);
    ibv_wr_send_imm(f.ex, 0x0a0b0c0d);
    f.set(0, 16);
    f.request(4);
    ibv_wr_rdma_write_imm(f.ex, f.b.mr->rkey, f.remote(320), 0x01020304);
    f.set(0, 8);
    f.request(5);
    ibv_wr_atomic_fetch_add(f.ex, f.b.mr->rkey, f.remote(2048), 5);
    f.set(2048, 8);
    f.request(6);
    ibv_wr_atomic_cmp_swp(f.ex, f.b.mr->rkey, f.remote(2048), 5, 99);
    f.set(2056, 8);
    assert_int_equal(ibv_wr_complete(f.ex), 0);
    f.expect(1, IBV_WC_RDMA_WRITE);
    f.expect(2, IBV_WC_RDMA_READ);
    f.expect(3, IBV_WC_SEND);
    f.expect(4, IBV_WC_RDMA_WRITE);
    f.expect(5, IBV_WC_FETCH_ADD);
    f.expect(6, IBV_WC_COMP_SWAP);
    assert_memory_equal(f.b.memory.data() + 256, f.a.memory.data(), 64);
    assert_memory_equal(f.a.memory.data() + 1024, f.b.memory.data() + 512, 64);
    std::uint64_t word = 0;
    std::memcpy(&word, f.b.memory.data() + 2048, sizeof word);
    assert_int_equal(word, 99);
    std::memcpy(&word, f.a.memory.data() + 2056, sizeof word);
    assert_int_equal(word, 5);
    const ibv_wc first = f.b.next();
    assert_int_equal(first.wr_id, 50);
    assert_int_equal(first.imm_data, 0x0a0b0c0d);
    const ibv_wc second = f.b.next();
    assert_int_equal(second.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    assert_int_equal(second.imm_data, 0x01020304);
}

void inline_data_is_taken_at_once(void**) {
    Fixture f;
    char first[] = "abc";
    char second[] = "defg";
    ibv_data_buf list[] = {{first, 3}, {second, 4}};
    ibv_wr_start(f.ex);
    f.request(1);
    ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
    ibv_wr_set_inline_data_list(f.ex, 2, list);
    f.request(2);
    ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(100));
    ibv_wr_set_inline_data(f.ex, second, 4);
    std::memset(first, 0, sizeof first);
    std::memset(second, 0, sizeof second);
    assert_int_equal(ibv_wr_complete(f.ex), 0);
    f.expect(1, IBV_WC_RDMA_WRITE);
    f.expect(2, IBV_WC_RDMA_WRITE);
    assert_memory_equal(f.b.memory.data(), "abcdefg", 7);
    assert_memory_equal(f.b.memory.data() + 100, "defg", 4);
}

void lists_of_pieces(void**) {
    Fixture f;
    std::memcpy(f.a.memory.data(), "0123456789", 10);
    const ibv_sge pieces[] = {f.a.piece(2, 8), f.a.piece(0, 0), f.a.piece(3, 1)};
    ibv_wr_start(f.ex);
    f.request(1);
    ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
    ibv_wr_set_sge_list(f.ex, 3, pieces);
    assert_int_equal(ibv_wr_complete(f.ex), 0);
    f.expect(1, IBV_WC_RDMA_WRITE);
    assert_memory_equal(f.b.memory.data(), "89123", 5);
}

void a_batch_that_is_given_up(void**) {
    Fixture f;
    ibv_wr_start(f.ex);
    f.request(1);
    ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
    f.set(0, 8);
    ibv_wr_abort(f.ex);
    f.write_works(2);
}

void a_batch_that_does_not_fit_is_not_posted(void**) {
    Fixture f;
    ibv_wr_start(f.ex);
    for (std::uint64_t i = 0; i < 17; ++i) {
        f.request(i);
        ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
        f.set(0, 8);
    }
    assert_int_equal(ibv_wr_complete(f.ex), ENOMEM);
    ibv_wc none{};
    assert_int_equal(ibv_poll_cq(f.a.cq, 1, &none), 0);
    ibv_wr_start(f.ex);
    f.request(100);
    ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
    f.set(0, 8);
    assert_int_equal(ibv_wr_complete(f.ex), 0);
    f.expect(100, IBV_WC_RDMA_WRITE);
}

void too_much_inline_data_refuses_the_batch(void**) {
    Fixture f;
    std::string large(2000, 'x');
    ibv_wr_start(f.ex);
    f.request(1);
    ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
    f.set(0, 8);
    f.request(2);
    ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
    ibv_wr_set_inline_data(f.ex, large.data(), large.size());
    assert_int_equal(ibv_wr_complete(f.ex), EINVAL);
    ibv_wc none{};
    assert_int_equal(ibv_poll_cq(f.a.cq, 1, &none), 0);
}

#ifdef RPMA_HAVE_NATIVE_ATOMIC_WRITE
void native_atomic_write(void**) {
    Fixture f;
    std::uint64_t value = 0x1122334455667788;
    ibv_wr_start(f.ex);
    f.request(1);
    ibv_wr_atomic_write(f.ex, f.b.mr->rkey, f.remote(64), &value);
    value = 0;
    assert_int_equal(ibv_wr_complete(f.ex), 0);
    assert_int_equal(f.a.next().status, IBV_WC_SUCCESS);
    std::memcpy(&value, f.b.memory.data() + 64, sizeof value);
    assert_int_equal(value, 0x1122334455667788);
}
#endif

// Nothing of it, although what is in front of the bad request is good.
void a_bad_request_refuses_the_batch(void**) {
    Fixture f;
    std::string data(100, 'x');  // more than the queue pair has room for
    for (const bool inlined : {true, false}) {
        ibv_wr_start(f.ex);
        f.request(1);
        ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
        f.set(0, 8);
        f.request(2);
        if (!inlined)
            f.ex->wr_flags |= IBV_SEND_IP_CSUM;
        ibv_wr_rdma_write(f.ex, f.b.mr->rkey, f.remote(0));
        if (inlined)
            ibv_wr_set_inline_data(f.ex, data.data(), data.size());
        else
            f.set(0, 8);
        assert_int_equal(ibv_wr_complete(f.ex), EINVAL);
    }
    f.write_works(3);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(only_if_asked_for),
        cmocka_unit_test(a_batch_of_everything),
        cmocka_unit_test(inline_data_is_taken_at_once),
        cmocka_unit_test(lists_of_pieces),
        cmocka_unit_test(a_batch_that_is_given_up),
        cmocka_unit_test(a_batch_that_does_not_fit_is_not_posted),
        cmocka_unit_test(too_much_inline_data_refuses_the_batch),
        cmocka_unit_test(a_bad_request_refuses_the_batch),
#ifdef RPMA_HAVE_NATIVE_ATOMIC_WRITE
        cmocka_unit_test(native_atomic_write),
#endif
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
