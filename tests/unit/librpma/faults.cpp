// SPDX-License-Identifier: BSD-3-Clause
// Every rdma-core call and every allocation of a whole life is made to fail once, each at every
// place. After each: an error code and exactly one line for the call that met it, nothing left
// behind, nothing dangling; and the life goes on as far as the documentation says.
#include <cerrno>
#include <set>

#include "harness.hpp"

namespace {

using fake::world;

/// A life of both sides. Every call is checked by step(); what could not be made is skipped.
class Life {
public:
    void run() {
        if (step(rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &context_))) {
            context_ = fake::context();
        }
        int odp = 0;
        step(rpma_utils_ibv_context_is_odp_capable(context_, &odp));
        if (step(rpma_peer_new(context_, &peer_))) {
            return;
        }
        make_regions_and_queues();
        connect_out();
        accept_in();
        close();
    }
    int failures = 0;

private:
    /// 0 or the error code. A failure must have made one line, a success none.
    int step(int ret) {
        if (harness::lines.size() != (ret != 0 ? 1U : 0U)) {
            for (const harness::Line& line : harness::lines) {
                print_error("%s: %s", line.function.c_str(), line.text.c_str());
            }
            print_error("%zu lines for the result %d\n", harness::lines.size(), ret);
            _fail(__FILE__, __LINE__);
        }
        harness::lines.clear();
        failures += ret != 0 ? 1 : 0;
        return ret;
    }

    void make_regions_and_queues() {
        step(rpma_mr_reg(peer_, memory_, sizeof(memory_), 0xff, &region_));
        step(rpma_srq_new(peer_, nullptr, &srq_));
        if (step(rpma_conn_cfg_new(&cfg_)) == 0) {
            step(rpma_conn_cfg_set_rcq_size(cfg_, 5));
            step(rpma_conn_cfg_set_compl_channel(cfg_, true));
        }
        if (srq_ != nullptr && step(rpma_conn_cfg_new(&srq_cfg_)) == 0) {
            step(rpma_conn_cfg_set_srq(srq_cfg_, srq_));
        }
    }

    void connect_out() {
        if (step(rpma_conn_req_new(peer_, "192.0.2.1", "7204", cfg_, &req_)) == 0) {
            if (region_ != nullptr) {
                step(rpma_conn_req_recv(req_, region_, 0, 8, nullptr));
            }
            if (step(rpma_conn_req_connect(&req_, nullptr, &conn_)) == 0) {
                use();
            }
            assert_null(req_);
        }
        if (step(rpma_conn_req_new(peer_, "192.0.2.1", "7204", srq_cfg_, &req_)) == 0) {
            step(rpma_conn_req_delete(&req_));
            assert_null(req_);
        }
    }

    void use() {
        fake::push_event(fake::last_id(), RDMA_CM_EVENT_ESTABLISHED, 0, "data");
        rpma_conn_event event = RPMA_CONN_UNDEFINED;
        if (step(rpma_conn_next_event(conn_, &event)) == 0) {
            assert_int_equal(event, RPMA_CONN_ESTABLISHED);
        }
        step(rpma_send(conn_, nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS, nullptr));
        step(rpma_recv(conn_, nullptr, 0, 0, nullptr));
        fake::push_cq_event(world.qps.back().send_cq);
        rpma_cq* cq = nullptr;
        int got = rpma_conn_wait(conn_, 0, &cq, nullptr);
        if (got == RPMA_E_NO_COMPLETION) {
            ++failures;  // no fault, no line
            return;
        }
        if (step(got) == 0) {
            fake::push_completion(world.qps.back().send_cq, {});
            ibv_wc wc = {};
            step(rpma_cq_get_wc(cq, 1, &wc, nullptr));
        }
        step(rpma_conn_disconnect(conn_));
    }

    void accept_in() {
        if (step(rpma_ep_listen(peer_, "192.0.2.1", "7204", &ep_)) != 0) {
            return;
        }
        for (const bool accept : {true, false}) {
            fake::arrive("data");
            if (step(rpma_ep_next_conn_req(ep_, nullptr, &req_)) != 0) {
                continue;
            }
            rpma_conn* conn = nullptr;
            if (!accept) {
                step(rpma_conn_req_delete(&req_));
            } else if (step(rpma_conn_req_connect(&req_, nullptr, &conn)) == 0) {
                step(rpma_conn_delete(&conn));
            }
            assert_null(req_);
            assert_null(conn);
        }
        step(rpma_ep_shutdown(&ep_));
        assert_null(ep_);
    }

    void close() {
        step(rpma_peer_delete(&peer_));
        step(rpma_srq_delete(&srq_));
        step(rpma_conn_cfg_delete(&cfg_));
        step(rpma_conn_cfg_delete(&srq_cfg_));
        step(rpma_mr_dereg(&region_));
        step(rpma_conn_delete(&conn_));
        assert_null(peer_);
        assert_null(srq_);
        assert_null(region_);
        assert_null(conn_);
    }

    ibv_context* context_ = nullptr;
    rpma_peer* peer_ = nullptr;
    char memory_[64] = {};
    rpma_mr_local* region_ = nullptr;
    rpma_srq* srq_ = nullptr;
    rpma_conn_cfg* cfg_ = nullptr;
    rpma_conn_cfg* srq_cfg_ = nullptr;
    rpma_conn_req* req_ = nullptr;
    rpma_conn* conn_ = nullptr;
    rpma_ep* ep_ = nullptr;
};

/// Calls that have no result, and those a failure of which is no failure of the library's function.
bool cannot_fail(const std::string& call) {
    static const std::set<std::string> calls = {"ibv_ack_cq_events", "rdma_destroy_qp",
                                                "rdma_destroy_event_channel", "rdma_freeaddrinfo",
                                                "ibv_get_device_list"};
    return calls.count(call) != 0;
}

/// The device has been found by then; that its helper id cannot be destroyed changes nothing.
bool does_not_matter(const std::string& call, int nth) {
    return call == "rdma_destroy_id" && nth == 1;
}

/// What close to the end of the sweep is left must be the same as after a life without faults.
void check_nothing_left(const char* what, int nth) {
    if (harness::tear_down(nullptr) != 0) {
        print_error("left behind after fault %d of %s\n", nth, what);
        _fail(__FILE__, __LINE__);
    }
}

void a_life_without_faults_has_no_failure(void**) {
    Life life;
    life.run();
    assert_int_equal(life.failures, 0);
}

void every_call_can_fail_everywhere(void**) {
    Life clean;
    clean.run();
    std::map<std::string, int> calls;
    for (const std::string& call : world.calls) {
        ++calls[call];
    }
    int injected = 0;
    for (const auto& [call, times] : calls) {
        for (int nth = 1; nth <= times && !cannot_fail(call); ++nth) {
            fake::reset();
            harness::lines.clear();
            // Twice in a row, since another address is tried after a failure.
            world.fail(call, nth, EIO);
            if (call == "rdma_create_qp_ex" || call == "rdma_resolve_addr" ||
                call == "rdma_bind_addr") {
                world.fail(call, nth + 1, EIO);
            }
            Life life;
            life.run();
            print_message("%s %d: %d failure(s)\n", call.c_str(), nth, life.failures);
            assert_true(life.failures >= (does_not_matter(call, nth) ? 0 : 1));
            check_nothing_left(call.c_str(), nth);
            ++injected;
        }
    }
    assert_true(calls.size() > 30);
    assert_true(injected > 60);
}

void memory_can_run_out_everywhere(void**) {
    const int before = harness::allocations;
    Life clean;
    clean.run();
    const int count = harness::allocations - before;
    assert_true(count > 15);
    for (int nth = 1; nth <= count; ++nth) {
        fake::reset();
        harness::lines.clear();
        harness::fail_allocation(nth);
        Life life;
        life.run();
        print_message("allocation %d: %d failure(s)\n", nth, life.failures);
        assert_true(life.failures >= 1);
        check_nothing_left("malloc", nth);
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(a_life_without_faults_has_no_failure),
        TEST(every_call_can_fail_everywhere),
        TEST(memory_can_run_out_everywhere),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
