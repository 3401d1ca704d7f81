// SPDX-License-Identifier: BSD-3-Clause
// One error: the right status on the right request, everything else flushed, both sides in the
// error state, no byte changed.
#include <cerrno>
#include <cstring>

#include "cmocka.hpp"
#include "endpoints.hpp"

using namespace fabric;
using namespace fabric::test;

namespace {

using Native = rc::Endpoint::NativeRequest;

// A pair in which one request of `a` is going to fail: a good one before it, a good one behind it,
// receives on both sides.
struct Scene {
    explicit Scene(const Setup& setup = {}) : pair(setup) {}

    void fill() {
        pair.a.receive(500, {});
        for (std::uint64_t id = 600; id < 603; ++id) {
            pair.b.receive(id, {to.sge(0, 100)});
        }
        before = std::vector(to.data(), to.data() + 512);
        assert_int_equal(post(pair.a, good(1)), 0);
    }

    Request good(std::uint64_t wr_id) const {
        return {.opcode = IBV_WR_RDMA_WRITE, .wr_id = wr_id, .flags = 0};
    }

    Request bad(ibv_wr_opcode opcode, std::size_t length) const {
        return {.opcode = opcode,
                .wr_id = 2,
                .flags = 0,
                .sges = {from.sge(0, length)},
                .remote = to.address(),
                .rkey = to.key()};
    }

    void expect(ibv_wc_status status) {
        assert_int_equal(post(pair.a, good(3)), 0);
        pair.run();
        assert_false(pair.fatal);
        const rc::Completion failed = pair.a.sent();
        assert_int_equal(failed.wc.status, status);
        assert_int_equal(failed.wc.wr_id, 2);
        assert_int_equal(failed.wc.qp_num, 11);
        const rc::Completion behind = pair.a.sent();
        assert_int_equal(behind.wc.status, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(behind.wc.wr_id, 3);
        assert_true(pair.a.sends.empty());
        const rc::Completion own = pair.a.received();
        assert_int_equal(own.wc.status, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(own.wc.wr_id, 500);
        assert_int_equal(pair.a.endpoint.state(), IBV_QPS_ERR);
        assert_int_equal(pair.a.states.size(), 1);
    }

    // The responder found it: an event (or nullptr-like -1: none), its receives flushed, except a
    // first one with `receive`.
    void expect_remote(ibv_wc_status status, int event,
                       ibv_wc_status receive = IBV_WC_WR_FLUSH_ERR) {
        expect(status);
        assert_int_equal(pair.b.endpoint.state(), IBV_QPS_ERR);
        if (event < 0) {
            assert_true(pair.b.events.empty());
        } else {
            assert_int_equal(pair.b.events.size(), 1);
            assert_int_equal(pair.b.events[0], event);
        }
        for (std::uint64_t id = 600; id < 603; ++id) {
            const rc::Completion got = pair.b.received();
            assert_int_equal(got.wc.wr_id, id);
            assert_int_equal(got.wc.status, id == 600 ? receive : IBV_WC_WR_FLUSH_ERR);
        }
        assert_true(equal(to.bytes(), before));
    }

    // The requester found it by itself: the responder never hears of it.
    void expect_local(ibv_wc_status status) {
        expect(status);
        assert_int_equal(pair.b.endpoint.state(), IBV_QPS_RTS);
        assert_true(pair.b.receives.empty());
        assert_true(equal(to.bytes(), before));
    }

    Pair pair;
    Block from{pair.a.pd(), 512, kAllAccess, 1};
    Block to{pair.b.pd(), 512, kAllAccess, 2};
    std::vector<std::byte> before;
};

constexpr int kAccess = IBV_EVENT_QP_ACCESS_ERR;
constexpr int kRequest = IBV_EVENT_QP_REQ_ERR;
constexpr int kNoEvent = -1;

void wrong_remote_keys(void**) {
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                       IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
        for (const std::uint32_t change : {1U, 0x100U, 0x80000000U, 0xffffffffU}) {
            Scene scene;
            scene.fill();
            Request request = scene.bad(opcode, 8);
            request.rkey ^= change;
            assert_int_equal(post(scene.pair.a, request), 0);
            scene.expect_remote(IBV_WC_REM_ACCESS_ERR, kAccess);
        }
    }
}

void ranges_one_byte_outside(void**) {
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
        for (const std::uint64_t remote_offset : {std::uint64_t{0} - 1, std::uint64_t{512 - 299}}) {
            Scene scene;
            scene.fill();
            Request request = scene.bad(opcode, 300);
            request.remote += remote_offset;
            post(scene.pair.a, request);
            scene.expect_remote(IBV_WC_REM_ACCESS_ERR, kAccess);
        }
    }
}

void addresses_that_wrap_around(void**) {
    Scene scene;
    scene.fill();
    Request request = scene.bad(IBV_WR_RDMA_WRITE, 300);
    request.remote = ~std::uint64_t{0} - 100;
    post(scene.pair.a, request);
    scene.expect_remote(IBV_WC_REM_ACCESS_ERR, kAccess);
}

void regions_that_do_not_grant_it(void**) {
    const std::pair<ibv_wr_opcode, unsigned> cases[] = {
        {IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE},
        {IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ},
        {IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC}};
    for (const auto& [opcode, right] : cases) {
        Scene scene;
        scene.fill();
        Block closed(scene.pair.b.pd(), 64, kAllAccess & ~right);
        Request request = scene.bad(opcode, 8);
        request.remote = closed.address();
        request.rkey = closed.key();
        post(scene.pair.a, request);
        scene.expect_remote(IBV_WC_REM_ACCESS_ERR, kAccess);
    }
}

void regions_of_another_domain(void**) {
    Scene scene;
    scene.fill();
    const ibv_pd other{};
    Block foreign(&other, 64);
    Request request = scene.bad(IBV_WR_RDMA_WRITE, 8);
    request.remote = foreign.address();
    request.rkey = foreign.key();
    post(scene.pair.a, request);
    scene.expect_remote(IBV_WC_REM_ACCESS_ERR, kAccess);
}

void operations_the_queue_pair_does_not_allow(void**) {
    const std::pair<ibv_wr_opcode, unsigned> cases[] = {
        {IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE},
        {IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ},
        {IBV_WR_ATOMIC_CMP_AND_SWP, IBV_ACCESS_REMOTE_ATOMIC}};
    for (const auto& [opcode, right] : cases) {
        Setup setup;
        setup.b.access &= ~right;
        Scene scene(setup);
        // The request before it must pass.
        scene.pair.a.receive(500, {});
        scene.before = std::vector(scene.to.data(), scene.to.data() + 512);
        for (std::uint64_t id = 600; id < 603; ++id) {
            scene.pair.b.receive(id, {});
        }
        post(scene.pair.a, scene.bad(opcode, 8));
        scene.expect_remote(IBV_WC_REM_INV_REQ_ERR, kRequest);
    }
}

void misaligned_atomics(void**) {
    for (const ibv_wr_opcode opcode : {IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
        Scene scene;
        scene.fill();
        Request request = scene.bad(opcode, 8);
        request.remote += 4;
        post(scene.pair.a, request);
        scene.expect_remote(IBV_WC_REM_INV_REQ_ERR, kRequest);
    }
}

Native native(const Scene& scene, Native::Kind kind) {
    Native request{};
    request.kind = kind;
    request.wr_id = 2;
    request.remote_address = scene.to.address();
    request.rkey = scene.to.key();
    request.length = 64;
    request.type = 1;
    return request;
}

void native_requests_that_the_responder_refuses(void**) {
    using Change = void (*)(Native&);
    const Change access[] = {
        [](Native& request) { request.rkey ^= 1; },
        [](Native& request) { request.remote_address += 512; },
        [](Native& request) { request.remote_address -= 8; },
    };
    for (const Native::Kind kind : {Native::Kind::Flush, Native::Kind::AtomicWrite}) {
        for (const Change change : access) {
            Scene scene;
            scene.fill();
            Native request = native(scene, kind);
            change(request);
            assert_int_equal(scene.pair.a.endpoint.post_native(request), 0);
            scene.expect_remote(IBV_WC_REM_ACCESS_ERR, kAccess);
        }
    }
    Scene scene;
    scene.fill();
    Native request = native(scene, Native::Kind::AtomicWrite);
    request.remote_address += 4;
    scene.pair.a.endpoint.post_native(request);
    scene.expect_remote(IBV_WC_REM_INV_REQ_ERR, kRequest);
}

void flushes_without_the_right(void**) {
    for (const std::uint8_t type : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
        for (const std::uint8_t level : {std::uint8_t{0}, std::uint8_t{1}}) {
            Scene scene;
            scene.fill();
            Block closed(scene.pair.b.pd(), 64, kAllAccess & ~(type == 1 ? 1U << 8 : 1U << 9));
            Native request = native(scene, Native::Kind::Flush);
            request.type = type;
            request.level = level;
            request.remote_address = closed.address();
            request.rkey = closed.key();
            scene.pair.a.endpoint.post_native(request);
            scene.expect_remote(IBV_WC_REM_ACCESS_ERR, kAccess);
        }
    }
    Setup setup;
    setup.b.access &= ~(1U << 9);
    Scene scene(setup);
    scene.fill();
    Native request = native(scene, Native::Kind::Flush);
    request.type = 2;
    scene.pair.a.endpoint.post_native(request);
    scene.expect_remote(IBV_WC_REM_INV_REQ_ERR, kRequest);
}

void messages_longer_than_the_receive(void**) {
    for (const std::size_t size : {std::size_t{101}, std::size_t{400}}) {
        Scene scene;
        scene.fill();
        post(scene.pair.a, scene.bad(IBV_WR_SEND, size));
        scene.expect_remote(IBV_WC_REM_INV_REQ_ERR, kNoEvent, IBV_WC_LOC_LEN_ERR);
    }
}

void receives_that_name_wrong_memory(void**) {
    for (const bool stale : {false, true}) {
        Scene scene;
        Block read_only(scene.pair.b.pd(), 100, IBV_ACCESS_REMOTE_READ);
        scene.pair.b.receive(600, {read_only.sge(0, 100)});
        if (stale) {
            read_only.deregister();
        }
        scene.pair.b.receive(601, {});
        scene.pair.b.receive(602, {});
        scene.pair.a.receive(500, {});
        scene.before = std::vector(scene.to.data(), scene.to.data() + 512);
        post(scene.pair.a, scene.bad(IBV_WR_SEND, 50));
        scene.expect_remote(IBV_WC_REM_OP_ERR, kNoEvent, IBV_WC_LOC_PROT_ERR);
    }
}

void invalidation_is_refused(void**) {
    Scene scene;
    scene.fill();
    post(scene.pair.a, scene.bad(IBV_WR_SEND_WITH_INV, 50));
    scene.expect_remote(IBV_WC_REM_INV_REQ_ERR, kRequest, IBV_WC_REM_INV_REQ_ERR);
}

void local_keys_that_do_not_fit(void**) {
    using Change = void (*)(Request&);
    const Change changes[] = {
        [](Request& request) { request.sges[0].lkey ^= 1; },
        [](Request& request) { request.sges[0].addr -= 1; },
        [](Request& request) { request.sges[0].addr += 512 - 7; },
    };
    for (const ibv_wr_opcode opcode :
         {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
        for (const Change change : changes) {
            Scene scene;
            scene.fill();
            Request request = scene.bad(opcode, 8);
            change(request);
            assert_int_equal(post(scene.pair.a, request), 0);
            scene.expect_local(IBV_WC_LOC_PROT_ERR);
        }
    }
}

void the_last_element_is_checked_before_anything_is_sent(void**) {
    Scene scene;
    scene.fill();
    Request request = scene.bad(IBV_WR_RDMA_WRITE, 400);
    request.sges.push_back({scene.from.address(), 100, scene.from.key() ^ 1});
    post(scene.pair.a, request);
    scene.expect_local(IBV_WC_LOC_PROT_ERR);
}

void results_need_local_write_access(void**) {
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
        Scene scene;
        scene.fill();
        Block read_only(scene.pair.a.pd(), 64, IBV_ACCESS_REMOTE_READ);
        Request request = scene.bad(opcode, 8);
        request.sges = {read_only.sge(0, 8)};
        post(scene.pair.a, request);
        scene.expect_local(IBV_WC_LOC_PROT_ERR);
    }
}

void lengths_that_cannot_be(void**) {
    Scene scene;
    scene.fill();
    Request request = scene.bad(IBV_WR_RDMA_WRITE, 0);
    request.sges = {scene.from.sge(0, 1U << 31), scene.from.sge(0, 1)};
    post(scene.pair.a, request);
    scene.expect_local(IBV_WC_LOC_LEN_ERR);
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{9}}) {
        Scene atomic;
        atomic.fill();
        post(atomic.pair.a, atomic.bad(IBV_WR_ATOMIC_FETCH_AND_ADD, size));
        atomic.expect_local(IBV_WC_LOC_LEN_ERR);
    }
}

void reads_without_depth_fail_instead_of_waiting(void**) {
    Setup setup;
    setup.a.max_rd_atomic = 0;
    Scene scene(setup);
    scene.fill();
    post(scene.pair.a, scene.bad(IBV_WR_RDMA_READ, 8));
    scene.expect_local(IBV_WC_LOC_QP_OP_ERR);
    Setup other;
    other.b.max_dest_rd_atomic = 0;
    Scene remote(other);
    remote.fill();
    post(remote.pair.a, remote.bad(IBV_WR_RDMA_READ, 8));
    remote.expect_remote(IBV_WC_REM_INV_REQ_ERR, kRequest);
}

void what_came_before_the_error_is_answered(void**) {
    Scene scene;
    scene.fill();
    Block result(scene.pair.a.pd(), 512);
    post(scene.pair.a, {.opcode = IBV_WR_RDMA_READ,
                        .wr_id = 10,
                        .sges = {result.sge(0, 512)},
                        .remote = scene.to.address(),
                        .rkey = scene.to.key()});
    post(scene.pair.a, {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                        .wr_id = 11,
                        .sges = {result.sge(0, 8)},
                        .remote = scene.to.address(),
                        .rkey = scene.to.key()});
    Request request = scene.bad(IBV_WR_RDMA_WRITE, 8);
    request.rkey ^= 1;
    post(scene.pair.a, request);
    scene.pair.run();
    assert_int_equal(scene.pair.a.sent().wc.status, IBV_WC_SUCCESS);
    assert_int_equal(scene.pair.a.sent().wc.status, IBV_WC_SUCCESS);
    const rc::Completion failed = scene.pair.a.sent();
    assert_int_equal(failed.wc.wr_id, 2);
    assert_int_equal(failed.wc.status, IBV_WC_REM_ACCESS_ERR);
    assert_true(equal(result.bytes().subspan(8), scene.to.bytes().subspan(8)));
}

void own_requests_are_flushed_when_the_peer_fails(void**) {
    Scene scene;
    scene.fill();
    Block result(scene.pair.b.pd(), 64);
    // Waits for a receive that never comes.
    post(scene.pair.b, {.wr_id = 70, .flags = 0, .sges = {result.sge(0, 8)}});
    post(scene.pair.b, {.wr_id = 71, .flags = 0, .sges = {result.sge(0, 8)}});
    Request request = scene.bad(IBV_WR_RDMA_WRITE, 8);
    request.rkey ^= 1;
    post(scene.pair.a, request);
    scene.pair.exchange();
    scene.pair.run(10);
    for (const std::uint64_t id : {70U, 71U}) {
        const rc::Completion flushed = scene.pair.b.sent();
        assert_int_equal(flushed.wc.status, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(flushed.wc.wr_id, id);
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(wrong_remote_keys),
        cmocka_unit_test(ranges_one_byte_outside),
        cmocka_unit_test(addresses_that_wrap_around),
        cmocka_unit_test(regions_that_do_not_grant_it),
        cmocka_unit_test(regions_of_another_domain),
        cmocka_unit_test(operations_the_queue_pair_does_not_allow),
        cmocka_unit_test(misaligned_atomics),
        cmocka_unit_test(native_requests_that_the_responder_refuses),
        cmocka_unit_test(flushes_without_the_right),
        cmocka_unit_test(messages_longer_than_the_receive),
        cmocka_unit_test(receives_that_name_wrong_memory),
        cmocka_unit_test(invalidation_is_refused),
        cmocka_unit_test(local_keys_that_do_not_fit),
        cmocka_unit_test(the_last_element_is_checked_before_anything_is_sent),
        cmocka_unit_test(results_need_local_write_access),
        cmocka_unit_test(lengths_that_cannot_be),
        cmocka_unit_test(reads_without_depth_fail_instead_of_waiting),
        cmocka_unit_test(what_came_before_the_error_is_answered),
        cmocka_unit_test(own_requests_are_flushed_when_the_peer_fails),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
