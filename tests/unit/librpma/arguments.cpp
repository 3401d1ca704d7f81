// SPDX-License-Identifier: BSD-3-Clause
// Every argument check of every entry point, as one table: what is refused, how, and that it is
// told in one line that names the function.
#include <functional>

#include "harness.hpp"

namespace {

/// Valid objects to be combined with one bad argument.
struct Objects {
    rpma_peer* peer = harness::make_peer();
    rpma_peer_cfg* pcfg = nullptr;
    rpma_conn_cfg* cfg = nullptr;
    rpma_srq_cfg* srq_cfg = nullptr;
    rpma_srq* srq = nullptr;
    rpma_ep* ep = nullptr;
    rpma_conn_req* req = harness::make_request(peer);
    rpma_conn* conn = harness::make_connection(peer);
    rpma_cq* cq = nullptr;
    char memory[64] = {};
    rpma_mr_local* local = harness::make_region(peer, memory, sizeof(memory), 0xff);
    rpma_mr_remote* remote = harness::make_remote(0x1000, 64, 7, 0xff);

    Objects() {
        EXPECT_OK(rpma_peer_cfg_new(&pcfg));
        EXPECT_OK(rpma_conn_cfg_new(&cfg));
        EXPECT_OK(rpma_srq_cfg_new(&srq_cfg));
        EXPECT_OK(rpma_srq_new(peer, nullptr, &srq));
        EXPECT_OK(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep));
        EXPECT_OK(rpma_conn_get_cq(conn, &cq));
    }
    ~Objects() {
        rpma_mr_remote_delete(&remote);
        rpma_mr_dereg(&local);
        rpma_conn_delete(&conn);
        rpma_conn_req_delete(&req);
        rpma_ep_shutdown(&ep);
        rpma_srq_delete(&srq);
        rpma_srq_cfg_delete(&srq_cfg);
        rpma_conn_cfg_delete(&cfg);
        rpma_peer_cfg_delete(&pcfg);
        rpma_peer_delete(&peer);
    }
};

// Out-parameters; none may be written by a refused call.
struct Outputs {
    rpma_peer* peer = harness::untouched<rpma_peer>();
    rpma_peer_cfg* pcfg = harness::untouched<rpma_peer_cfg>();
    rpma_mr_local* local = harness::untouched<rpma_mr_local>();
    rpma_mr_remote* remote = harness::untouched<rpma_mr_remote>();
    rpma_srq* srq = harness::untouched<rpma_srq>();
    rpma_ep* ep = harness::untouched<rpma_ep>();
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    rpma_cq* cq = harness::untouched<rpma_cq>();
    ibv_context* context = harness::untouched<ibv_context>();
    int number = 0x5a5a;
    std::uint32_t u32 = 0x5a5a;
    size_t size = 0x5a5a;
    bool flag = true;
    unsigned char bytes[32] = {0x5a};
    ibv_wc wc = {};
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    rpma_conn_private_data pdata = {this, 77};

    [[nodiscard]] bool same() const {
        const Outputs fresh;
        return peer == fresh.peer && pcfg == fresh.pcfg && local == fresh.local &&
               remote == fresh.remote && srq == fresh.srq && ep == fresh.ep && req == fresh.req &&
               cq == fresh.cq && context == fresh.context && number == fresh.number &&
               u32 == fresh.u32 && size == fresh.size && flag && bytes[0] == 0x5a &&
               event == fresh.event && pdata.ptr == this && pdata.len == 77;
    }
};

struct Case {
    const char* function;
    const char* what;
    std::function<int(Objects&, Outputs&)> call;
};

#define CASE(name, what, ...)                                                           \
    {                                                                                   \
#name, what, [](Objects& o, Outputs& x) { (void)o, (void)x; return name(__VA_ARGS__); } \
    }

constexpr int kAlways = RPMA_F_COMPLETION_ALWAYS;
constexpr auto kLocal = RPMA_UTIL_IBV_CONTEXT_LOCAL;
constexpr auto kVisible = RPMA_FLUSH_TYPE_VISIBILITY;
/// Values outside an enumeration, unknown to the compiler.
template <typename Enum>
Enum value(int number) {
    return static_cast<Enum>(number);
}
constexpr size_t kHuge = SIZE_MAX;
const char kEight[8] = {};

const Case kCases[] = {
    CASE(rpma_utils_get_ibv_context, "addr", nullptr, kLocal, &x.context),
    CASE(rpma_utils_get_ibv_context, "ibv_ctx_ptr", "192.0.2.1", kLocal, nullptr),
    CASE(rpma_utils_get_ibv_context, "type", "192.0.2.1", value<rpma_util_ibv_context_type>(2),
         &x.context),
    CASE(rpma_utils_ibv_context_is_odp_capable, "ibv_ctx", nullptr, &x.number),
    CASE(rpma_utils_ibv_context_is_odp_capable, "is_odp_capable", fake::context(), nullptr),
    CASE(rpma_peer_cfg_new, "pcfg_ptr", nullptr),
    CASE(rpma_peer_cfg_delete, "pcfg_ptr", nullptr),
    CASE(rpma_peer_cfg_set_direct_write_to_pmem, "pcfg", nullptr, true),
    CASE(rpma_peer_cfg_get_direct_write_to_pmem, "pcfg", nullptr, &x.flag),
    CASE(rpma_peer_cfg_get_direct_write_to_pmem, "supported", o.pcfg, nullptr),
    CASE(rpma_peer_cfg_get_descriptor, "pcfg", nullptr, x.bytes),
    CASE(rpma_peer_cfg_get_descriptor, "desc", o.pcfg, nullptr),
    CASE(rpma_peer_cfg_get_descriptor_size, "pcfg", nullptr, &x.size),
    CASE(rpma_peer_cfg_get_descriptor_size, "desc_size", o.pcfg, nullptr),
    CASE(rpma_peer_cfg_from_descriptor, "desc", nullptr, 1, &x.pcfg),
    CASE(rpma_peer_cfg_from_descriptor, "pcfg_ptr", x.bytes, 1, nullptr),
    CASE(rpma_peer_cfg_from_descriptor, "none given", x.bytes, 0, &x.pcfg),
    CASE(rpma_peer_new, "ibv_ctx", nullptr, &x.peer),
    CASE(rpma_peer_new, "peer_ptr", fake::context(), nullptr),
    CASE(rpma_peer_delete, "peer_ptr", nullptr),
    CASE(rpma_mr_reg, "peer", nullptr, o.memory, 64, 1, &x.local),
    CASE(rpma_mr_reg, "ptr", o.peer, nullptr, 64, 1, &x.local),
    CASE(rpma_mr_reg, "mr_ptr", o.peer, o.memory, 64, 1, nullptr),
    CASE(rpma_mr_reg, "size", o.peer, o.memory, 0, 1, &x.local),
    CASE(rpma_mr_reg, "usage", o.peer, o.memory, 64, 0, &x.local),
    CASE(rpma_mr_reg, "usage", o.peer, o.memory, 64, 0x101, &x.local),
    CASE(rpma_mr_reg, "usage", o.peer, o.memory, 64, INT32_MIN, &x.local),
    CASE(rpma_mr_dereg, "mr_ptr", nullptr),
    CASE(rpma_mr_get_descriptor, "mr", nullptr, x.bytes),
    CASE(rpma_mr_get_descriptor, "desc", o.local, nullptr),
    CASE(rpma_mr_get_descriptor_size, "mr", nullptr, &x.size),
    CASE(rpma_mr_get_descriptor_size, "desc_size", o.local, nullptr),
    CASE(rpma_mr_get_ptr, "mr", nullptr, reinterpret_cast<void**>(&x.peer)),
    CASE(rpma_mr_get_ptr, "ptr", o.local, nullptr),
    CASE(rpma_mr_get_size, "mr", nullptr, &x.size),
    CASE(rpma_mr_get_size, "size", o.local, nullptr),
    CASE(rpma_mr_remote_from_descriptor, "desc", nullptr, 21, &x.remote),
    CASE(rpma_mr_remote_from_descriptor, "mr_ptr", x.bytes, 21, nullptr),
    CASE(rpma_mr_remote_from_descriptor, "20", x.bytes, 20, &x.remote),
    CASE(rpma_mr_remote_get_size, "mr", nullptr, &x.size),
    CASE(rpma_mr_remote_get_size, "size", o.remote, nullptr),
    CASE(rpma_mr_remote_get_flush_type, "mr", nullptr, &x.number),
    CASE(rpma_mr_remote_get_flush_type, "flush_type", o.remote, nullptr),
    CASE(rpma_mr_remote_delete, "mr_ptr", nullptr),
    CASE(rpma_mr_advise, "mr", nullptr, 0, 1, 0, 0),
    CASE(rpma_mr_advise, "offset 60 and length 5", o.local, 60, 5, 0, 0),
    CASE(rpma_mr_advise, "length", o.local, 1, kHuge, 0, 0),
    CASE(rpma_conn_cfg_new, "cfg_ptr", nullptr),
    CASE(rpma_conn_cfg_delete, "cfg_ptr", nullptr),
    CASE(rpma_conn_cfg_set_timeout, "cfg", nullptr, 1),
    CASE(rpma_conn_cfg_set_timeout, "timeout_ms", o.cfg, -1),
    CASE(rpma_conn_cfg_get_timeout, "cfg", nullptr, &x.number),
    CASE(rpma_conn_cfg_get_timeout, "timeout_ms", o.cfg, nullptr),
    CASE(rpma_conn_cfg_set_cq_size, "cfg", nullptr, 1),
    CASE(rpma_conn_cfg_get_cq_size, "cfg", nullptr, &x.u32),
    CASE(rpma_conn_cfg_get_cq_size, "cq_size", o.cfg, nullptr),
    CASE(rpma_conn_cfg_set_rcq_size, "cfg", nullptr, 1),
    CASE(rpma_conn_cfg_get_rcq_size, "cfg", nullptr, &x.u32),
    CASE(rpma_conn_cfg_get_rcq_size, "rcq_size", o.cfg, nullptr),
    CASE(rpma_conn_cfg_set_sq_size, "cfg", nullptr, 1),
    CASE(rpma_conn_cfg_get_sq_size, "cfg", nullptr, &x.u32),
    CASE(rpma_conn_cfg_get_sq_size, "sq_size", o.cfg, nullptr),
    CASE(rpma_conn_cfg_set_rq_size, "cfg", nullptr, 1),
    CASE(rpma_conn_cfg_get_rq_size, "cfg", nullptr, &x.u32),
    CASE(rpma_conn_cfg_get_rq_size, "rq_size", o.cfg, nullptr),
    CASE(rpma_conn_cfg_set_compl_channel, "cfg", nullptr, true),
    CASE(rpma_conn_cfg_get_compl_channel, "cfg", nullptr, &x.flag),
    CASE(rpma_conn_cfg_get_compl_channel, "shared", o.cfg, nullptr),
    CASE(rpma_conn_cfg_set_srq, "cfg", nullptr, o.srq),
    CASE(rpma_conn_cfg_set_srq, "srq", o.cfg, nullptr),
    CASE(rpma_conn_cfg_get_srq, "cfg", nullptr, &x.srq),
    CASE(rpma_conn_cfg_get_srq, "srq_ptr", o.cfg, nullptr),
    CASE(rpma_conn_get_event_fd, "conn", nullptr, &x.number),
    CASE(rpma_conn_get_event_fd, "fd", o.conn, nullptr),
    CASE(rpma_conn_next_event, "conn", nullptr, &x.event),
    CASE(rpma_conn_next_event, "event", o.conn, nullptr),
    CASE(rpma_conn_get_private_data, "conn", nullptr, &x.pdata),
    CASE(rpma_conn_get_private_data, "pdata", o.conn, nullptr),
    CASE(rpma_conn_apply_remote_peer_cfg, "conn", nullptr, o.pcfg),
    CASE(rpma_conn_apply_remote_peer_cfg, "pcfg", o.conn, nullptr),
    CASE(rpma_conn_get_qp_num, "conn", nullptr, &x.u32),
    CASE(rpma_conn_get_qp_num, "qp_num", o.conn, nullptr),
    CASE(rpma_conn_get_cq, "conn", nullptr, &x.cq),
    CASE(rpma_conn_get_cq, "cq_ptr", o.conn, nullptr),
    CASE(rpma_conn_get_rcq, "conn", nullptr, &x.cq),
    CASE(rpma_conn_get_rcq, "rcq_ptr", o.conn, nullptr),
    CASE(rpma_conn_disconnect, "conn", nullptr),
    CASE(rpma_conn_delete, "conn_ptr", nullptr),
    CASE(rpma_conn_get_compl_fd, "conn", nullptr, &x.number),
    CASE(rpma_conn_get_compl_fd, "fd", o.conn, nullptr),
    CASE(rpma_conn_wait, "conn", nullptr, 0, &x.cq, &x.flag),
    CASE(rpma_conn_wait, "cq", o.conn, 0, nullptr, &x.flag),
    CASE(rpma_conn_req_new, "peer", nullptr, "a", "1", nullptr, &x.req),
    CASE(rpma_conn_req_new, "addr", o.peer, nullptr, "1", nullptr, &x.req),
    CASE(rpma_conn_req_new, "port", o.peer, "a", nullptr, nullptr, &x.req),
    CASE(rpma_conn_req_new, "req_ptr", o.peer, "a", "1", nullptr, nullptr),
    CASE(rpma_conn_req_delete, "req_ptr", nullptr),
    CASE(rpma_conn_req_connect, "req_ptr", nullptr, nullptr, nullptr),
    CASE(rpma_conn_req_recv, "req", nullptr, o.local, 0, 1, nullptr),
    CASE(rpma_conn_req_recv, "dst", o.req, nullptr, 0, 0, nullptr),
    CASE(rpma_conn_req_recv, "64 bytes", o.req, o.local, 1, 64, nullptr),
    CASE(rpma_conn_req_get_private_data, "req", nullptr, &x.pdata),
    CASE(rpma_conn_req_get_private_data, "pdata", o.req, nullptr),
    CASE(rpma_ep_listen, "peer", nullptr, "a", "1", &x.ep),
    CASE(rpma_ep_listen, "addr", o.peer, nullptr, "1", &x.ep),
    CASE(rpma_ep_listen, "port", o.peer, "a", nullptr, &x.ep),
    CASE(rpma_ep_listen, "ep_ptr", o.peer, "a", "1", nullptr),
    CASE(rpma_ep_shutdown, "ep_ptr", nullptr),
    CASE(rpma_ep_get_fd, "ep", nullptr, &x.number),
    CASE(rpma_ep_get_fd, "fd", o.ep, nullptr),
    CASE(rpma_ep_next_conn_req, "ep", nullptr, nullptr, &x.req),
    CASE(rpma_ep_next_conn_req, "req_ptr", o.ep, nullptr, nullptr),
    CASE(rpma_srq_cfg_new, "cfg_ptr", nullptr),
    CASE(rpma_srq_cfg_delete, "cfg_ptr", nullptr),
    CASE(rpma_srq_cfg_set_rq_size, "cfg", nullptr, 1),
    CASE(rpma_srq_cfg_get_rq_size, "cfg", nullptr, &x.u32),
    CASE(rpma_srq_cfg_get_rq_size, "rq_size", o.srq_cfg, nullptr),
    CASE(rpma_srq_cfg_set_rcq_size, "cfg", nullptr, 1),
    CASE(rpma_srq_cfg_get_rcq_size, "cfg", nullptr, &x.u32),
    CASE(rpma_srq_cfg_get_rcq_size, "rcq_size", o.srq_cfg, nullptr),
    CASE(rpma_srq_new, "peer", nullptr, nullptr, &x.srq),
    CASE(rpma_srq_new, "srq_ptr", o.peer, nullptr, nullptr),
    CASE(rpma_srq_delete, "srq_ptr", nullptr),
    CASE(rpma_srq_recv, "srq", nullptr, o.local, 0, 1, nullptr),
    CASE(rpma_srq_recv, "without a region", o.srq, nullptr, 0, 1, nullptr),
    CASE(rpma_srq_recv, "without a region", o.srq, nullptr, 1, 0, nullptr),
    CASE(rpma_srq_recv, "64 bytes", o.srq, o.local, 64, 1, nullptr),
    CASE(rpma_srq_get_rcq, "srq", nullptr, &x.cq),
    CASE(rpma_srq_get_rcq, "rcq_ptr", o.srq, nullptr),
    CASE(rpma_read, "conn", nullptr, o.local, 0, o.remote, 0, 1, kAlways, nullptr),
    CASE(rpma_read, "flags", o.conn, o.local, 0, o.remote, 0, 1, 0, nullptr),
    CASE(rpma_read, "both", o.conn, nullptr, 0, o.remote, 0, 1, kAlways, nullptr),
    CASE(rpma_read, "both", o.conn, o.local, 0, nullptr, 0, 1, kAlways, nullptr),
    CASE(rpma_read, "both", o.conn, nullptr, 1, nullptr, 0, 0, kAlways, nullptr),
    CASE(rpma_read, "both", o.conn, nullptr, 0, nullptr, 1, 0, kAlways, nullptr),
    CASE(rpma_read, "both", o.conn, nullptr, 0, nullptr, 0, 1, kAlways, nullptr),
    CASE(rpma_read, "local", o.conn, o.local, 1, o.remote, 0, 64, kAlways, nullptr),
    CASE(rpma_read, "remote", o.conn, o.local, 0, o.remote, 1, 64, kAlways, nullptr),
    CASE(rpma_read, "length", o.conn, o.local, 0, o.remote, 0, 1ULL << 32, kAlways, nullptr),
    CASE(rpma_write, "conn", nullptr, o.remote, 0, o.local, 0, 1, kAlways, nullptr),
    CASE(rpma_write, "flags", o.conn, o.remote, 0, o.local, 0, 1, 0, nullptr),
    CASE(rpma_write, "both", o.conn, nullptr, 0, o.local, 0, 1, kAlways, nullptr),
    CASE(rpma_write, "both", o.conn, o.remote, 0, nullptr, 0, 1, kAlways, nullptr),
    CASE(rpma_write, "both", o.conn, nullptr, 1, nullptr, 0, 0, kAlways, nullptr),
    CASE(rpma_write, "local", o.conn, o.remote, 0, o.local, kHuge, 2, kAlways, nullptr),
    CASE(rpma_write, "remote", o.conn, o.remote, kHuge - 7, o.local, 0, 16, kAlways, nullptr),
    CASE(rpma_write, "length", o.conn, o.remote, 0, o.local, 0, (1ULL << 32) + 16, kAlways,
         nullptr),
    CASE(rpma_write_with_imm, "conn", nullptr, o.remote, 0, o.local, 0, 1, kAlways, 7, nullptr),
    CASE(rpma_write_with_imm, "flags", o.conn, o.remote, 0, o.local, 0, 1, 0, 7, nullptr),
    CASE(rpma_write_with_imm, "both", o.conn, o.remote, 0, nullptr, 0, 1, kAlways, 7, nullptr),
    CASE(rpma_write_with_imm, "remote", o.conn, o.remote, 65, o.local, 0, 0, kAlways, 7, nullptr),
    CASE(rpma_atomic_write, "conn", nullptr, o.remote, 0, kEight, kAlways, nullptr),
    CASE(rpma_atomic_write, "dst", o.conn, nullptr, 0, kEight, kAlways, nullptr),
    CASE(rpma_atomic_write, "src", o.conn, o.remote, 0, nullptr, kAlways, nullptr),
    CASE(rpma_atomic_write, "flags", o.conn, o.remote, 0, kEight, 0, nullptr),
    CASE(rpma_atomic_write, "multiple", o.conn, o.remote, 4, kEight, kAlways, nullptr),
    CASE(rpma_atomic_write, "inside", o.conn, o.remote, 64, kEight, kAlways, nullptr),
    CASE(rpma_atomic_write, "inside", o.conn, o.remote, kHuge - 7, kEight, kAlways, nullptr),
    CASE(rpma_flush, "conn", nullptr, o.remote, 0, 1, kVisible, kAlways, nullptr),
    CASE(rpma_flush, "dst", o.conn, nullptr, 0, 1, kVisible, kAlways, nullptr),
    CASE(rpma_flush, "flags", o.conn, o.remote, 0, 1, kVisible, 0, nullptr),
    CASE(rpma_flush, "type", o.conn, o.remote, 0, 1, value<rpma_flush_type>(2), kAlways, nullptr),
    CASE(rpma_flush, "inside", o.conn, o.remote, 65, 0, kVisible, kAlways, nullptr),
    CASE(rpma_flush, "inside", o.conn, o.remote, 1, kHuge, kVisible, kAlways, nullptr),
    CASE(rpma_send, "conn", nullptr, o.local, 0, 1, kAlways, nullptr),
    CASE(rpma_send, "flags", o.conn, o.local, 0, 1, 0, nullptr),
    CASE(rpma_send, "without a region", o.conn, nullptr, 0, 1, kAlways, nullptr),
    CASE(rpma_send, "local", o.conn, o.local, 64, 1, kAlways, nullptr),
    CASE(rpma_send_with_imm, "conn", nullptr, o.local, 0, 1, kAlways, 7, nullptr),
    CASE(rpma_send_with_imm, "flags", o.conn, o.local, 0, 1, 0, 7, nullptr),
    CASE(rpma_send_with_imm, "without a region", o.conn, nullptr, 1, 0, kAlways, 7, nullptr),
    CASE(rpma_recv, "conn", nullptr, o.local, 0, 1, nullptr),
    CASE(rpma_recv, "without a region", o.conn, nullptr, 1, 0, nullptr),
    CASE(rpma_recv, "local", o.conn, o.local, 63, 2, nullptr),
    CASE(rpma_recv, "length", o.conn, o.local, 0, 1ULL << 32, nullptr),
    CASE(rpma_cq_get_fd, "cq", nullptr, &x.number),
    CASE(rpma_cq_get_fd, "fd", o.cq, nullptr),
    CASE(rpma_cq_wait, "cq", nullptr),
    CASE(rpma_cq_get_wc, "cq", nullptr, 1, &x.wc, &x.number),
    CASE(rpma_cq_get_wc, "wc", o.cq, 1, nullptr, &x.number),
    CASE(rpma_cq_get_wc, "num_entries", o.cq, 0, &x.wc, &x.number),
    CASE(rpma_cq_get_wc, "num_entries", o.cq, -1, &x.wc, &x.number),
    CASE(rpma_cq_get_wc, "num_entries", o.cq, 2, &x.wc, nullptr),
    CASE(rpma_log_set_threshold, "threshold", RPMA_LOG_THRESHOLD_MAX, RPMA_LOG_LEVEL_ERROR),
    CASE(rpma_log_set_threshold, "level", RPMA_LOG_THRESHOLD, value<rpma_log_level>(6)),
    CASE(rpma_log_set_threshold, "level", RPMA_LOG_THRESHOLD, value<rpma_log_level>(-2)),
    CASE(rpma_log_get_threshold, "threshold", RPMA_LOG_THRESHOLD_MAX,
         reinterpret_cast<rpma_log_level*>(&x.number)),
    CASE(rpma_log_get_threshold, "level", RPMA_LOG_THRESHOLD, nullptr),
};

void bad_arguments_are_refused(void**) {
    Objects objects;
    for (const Case& entry : kCases) {
        Outputs outputs;
        harness::lines.clear();
        const std::size_t calls = fake::world.calls.size();
        assert_int_equal(entry.call(objects, outputs), RPMA_E_INVAL);
        harness::expect_failure_line(entry.function, entry.what);
        assert_true(outputs.same());
        assert_int_equal(fake::world.calls.size(), calls);  // nothing reached rdma-core
    }
}

void null_objects_are_no_error_to_delete(void**) {
    rpma_peer* peer = nullptr;
    rpma_peer_cfg* pcfg = nullptr;
    rpma_mr_local* local = nullptr;
    rpma_mr_remote* remote = nullptr;
    rpma_conn_cfg* cfg = nullptr;
    rpma_srq_cfg* srq_cfg = nullptr;
    rpma_srq* srq = nullptr;
    rpma_ep* ep = nullptr;
    rpma_conn_req* req = nullptr;
    rpma_conn* conn = nullptr;
    EXPECT_OK(rpma_peer_delete(&peer));
    EXPECT_OK(rpma_peer_cfg_delete(&pcfg));
    EXPECT_OK(rpma_mr_dereg(&local));
    EXPECT_OK(rpma_mr_remote_delete(&remote));
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
    EXPECT_OK(rpma_srq_cfg_delete(&srq_cfg));
    EXPECT_OK(rpma_srq_delete(&srq));
    EXPECT_OK(rpma_ep_shutdown(&ep));
    EXPECT_OK(rpma_conn_req_delete(&req));
    EXPECT_OK(rpma_conn_delete(&conn));
    assert_int_equal(harness::lines.size(), 0);
}

void a_null_request_cannot_be_connected(void**) {
    rpma_conn_req* req = nullptr;
    rpma_conn* conn = harness::untouched<rpma_conn>();
    EXPECT_FAILS(RPMA_E_INVAL, rpma_conn_req_connect(&req, nullptr, &conn), "req_ptr");
    assert_ptr_equal(conn, harness::untouched<rpma_conn>());
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(bad_arguments_are_refused),
        TEST(null_objects_are_no_error_to_delete),
        TEST(a_null_request_cannot_be_connected),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
