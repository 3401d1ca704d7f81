// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>

#include "life.hpp"

namespace faults {

namespace {

using fake::world;

constexpr int kAlways = RPMA_F_COMPLETION_ALWAYS;
constexpr int kAllUsages = 0xff;
const char* const kAddress = "192.0.2.1";
const char* const kPort = "7204";
char memory[64];
char data[] = "from me to you";
const rpma_conn_private_data kData = {data, sizeof(data)};

/// A wait that the system refused has the code of an empty queue, and a line.
bool is_no_fault(int ret, int err) {
    return ret == RPMA_E_NO_EVENT || (ret == RPMA_E_NO_COMPLETION && err != EIO);
}

/// A peer and a region; in a life with lasting faults either may be missing.
struct Base {
    explicit Base(Run& in) : run(in) {
        run.again([&] { return rpma_peer_new(fake::context(), &peer); });
        if (peer != nullptr) {
            run.again(
                [&] { return rpma_mr_reg(peer, memory, sizeof(memory), kAllUsages, &region); });
        }
        run.again([&] {
            const auto bytes = harness::descriptor(0x1000, 64, 7, kAllUsages);
            return rpma_mr_remote_from_descriptor(bytes.data(), bytes.size(), &remote);
        });
    }
    ~Base() {
        run.once([&] { return rpma_mr_remote_delete(&remote); });
        run.once([&] { return rpma_mr_dereg(&region); });
        run.once([&] { return rpma_peer_delete(&peer); });
        assert_null(remote);
        assert_null(region);
        assert_null(peer);
    }
    Base(const Base&) = delete;
    Base& operator=(const Base&) = delete;

    [[nodiscard]] bool whole() const {
        return peer != nullptr && region != nullptr && remote != nullptr;
    }

    Run& run;
    rpma_peer* peer = nullptr;
    rpma_mr_local* region = nullptr;
    rpma_mr_remote* remote = nullptr;
};

/// A configuration with what is set by settings.
class Config {
public:
    explicit Config(Run& run, const std::function<int(rpma_conn_cfg*)>& settings) : run_(run) {
        if (run.again([&] { return rpma_conn_cfg_new(&cfg_); }) == 0) {
            run.once([&] { return settings(cfg_); });
        }
    }
    ~Config() {
        run_.once([&] { return rpma_conn_cfg_delete(&cfg_); });
        assert_null(cfg_);
    }
    Config(const Config&) = delete;
    Config& operator=(const Config&) = delete;

    [[nodiscard]] rpma_conn_cfg* get() const { return cfg_; }

private:
    Run& run_;
    rpma_conn_cfg* cfg_ = nullptr;
};

/// Request, receive, connect; what fails is repeated from the beginning, the request being gone.
rpma_conn* connect_out(Run& run, const Base& base, const rpma_conn_cfg* cfg, bool with_receive) {
    rpma_conn* conn = nullptr;
    run.again([&] {
        rpma_conn_req* req = nullptr;
        if (const int ret = rpma_conn_req_new(base.peer, kAddress, kPort, cfg, &req)) {
            assert_null(req);
            return ret;
        }
        if (with_receive) {
            run.again([&] { return rpma_conn_req_recv(req, base.region, 0, 8, nullptr); });
        }
        const int ret = rpma_conn_req_connect(&req, &kData, &conn);
        assert_null(req);
        return ret;
    });
    return conn;
}

void establish(Run& run, rpma_conn* conn) {
    fake::push_event(fake::last_id(), RDMA_CM_EVENT_ESTABLISHED, 0, "data");
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    const int ret = run.once([&] { return rpma_conn_next_event(conn, &event); });
    assert_int_equal(event, ret == 0 ? RPMA_CONN_ESTABLISHED : RPMA_CONN_UNDEFINED);
}

void disconnect(Run& run, rpma_conn* conn) {
    run.again([&] { return rpma_conn_disconnect(conn); });
    run.once([&] { return rpma_conn_delete(&conn); });
    assert_null(conn);
}

void operate(Run& run, const Base& base, rpma_conn* conn) {
    run.again([&] { return rpma_read(conn, base.region, 0, base.remote, 0, 8, kAlways, nullptr); });
    run.again(
        [&] { return rpma_write(conn, base.remote, 0, base.region, 0, 8, kAlways, nullptr); });
    run.again([&] {
        return rpma_write_with_imm(conn, base.remote, 0, base.region, 0, 8, kAlways, 7, nullptr);
    });
    run.again([&] { return rpma_atomic_write(conn, base.remote, 0, data, kAlways, nullptr); });
    run.again([&] {
        return rpma_flush(conn, base.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr);
    });
    run.again([&] { return rpma_send(conn, base.region, 0, 8, kAlways, nullptr); });
    run.again([&] { return rpma_send_with_imm(conn, base.region, 0, 8, kAlways, 7, nullptr); });
    run.again([&] { return rpma_send(conn, nullptr, 0, 0, kAlways, nullptr); });
    run.again([&] { return rpma_recv(conn, base.region, 0, 8, nullptr); });
    run.again([&] { return rpma_recv(conn, nullptr, 0, 0, nullptr); });
}

/// A completion comes; the event is taken, then the completion.
void collect(Run& run, rpma_cq* cq, ibv_cq* verbs) {
    fake::push_completion(verbs, {});
    fake::push_cq_event(verbs);
    run.once([&] { return rpma_cq_wait(cq); });
    ibv_wc wc = {};
    run.again([&] { return rpma_cq_get_wc(cq, 1, &wc, nullptr); });
}

void look_for_devices(Run& run) {
    ibv_context* context = nullptr;
    run.again([&] {
        return rpma_utils_get_ibv_context(kAddress, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context);
    });
    run.again([&] {
        return rpma_utils_get_ibv_context(kAddress, RPMA_UTIL_IBV_CONTEXT_REMOTE, &context);
    });
    world.wildcard = true;
    run.again([&] {
        return rpma_utils_get_ibv_context("0.0.0.0", RPMA_UTIL_IBV_CONTEXT_LOCAL, &context);
    });
    int odp = 0;
    run.again([&] { return rpma_utils_ibv_context_is_odp_capable(fake::context(), &odp); });
}

void make_configurations(Run& run) {
    rpma_peer_cfg* pcfg = nullptr;
    run.again([&] { return rpma_peer_cfg_new(&pcfg); });
    run.once([&] { return rpma_peer_cfg_delete(&pcfg); });
    const unsigned char one = 1;
    run.again([&] { return rpma_peer_cfg_from_descriptor(&one, 1, &pcfg); });
    run.once([&] { return rpma_peer_cfg_delete(&pcfg); });
    rpma_srq_cfg* srq_cfg = nullptr;
    run.again([&] { return rpma_srq_cfg_new(&srq_cfg); });
    run.once([&] { return rpma_srq_cfg_delete(&srq_cfg); });
    const Config config(run, [](rpma_conn_cfg* cfg) { return rpma_conn_cfg_set_timeout(cfg, 1); });
}

/// Memory that cannot be pinned is registered for on-demand paging; every try may fail.
void use_regions(Run& run, bool pins) {
    world.pins = pins;
    const Base base(run);
    if (base.region != nullptr) {
        run.again([&] { return rpma_mr_advise(base.region, 0, 64, 0, 0); });
    }
}

void use_pinned_regions(Run& run) {
    use_regions(run, true);
}

void use_unpinned_regions(Run& run) {
    use_regions(run, false);
}

/// One completion queue for all.
void connect_and_operate(Run& run) {
    const Base base(run);
    rpma_conn* conn = base.whole() ? connect_out(run, base, nullptr, true) : nullptr;
    if (conn == nullptr) {
        return;
    }
    ibv_cq* const verbs = world.qps.back().send_cq;
    establish(run, conn);
    operate(run, base, conn);
    rpma_cq* cq = nullptr;
    run.once([&] { return rpma_conn_get_cq(conn, &cq); });
    collect(run, cq, verbs);
    disconnect(run, conn);
}

/// The second operations, where the device has them.
void operate_natively(Run& run) {
    world.cap_flags_ex = harness::kCapAtomicWrite | harness::kCapFlush;
    connect_and_operate(run);
}

/// The device claims native operations, the provider refuses them.
void operate_where_native_is_refused(Run& run) {
    world.cap_flags_ex = harness::kCapAtomicWrite | harness::kCapFlush;
    world.extended_qp = false;
    connect_and_operate(run);
}

void use_separate_queues(Run& run) {
    const Base base(run);
    const Config config(run, [](rpma_conn_cfg* cfg) { return rpma_conn_cfg_set_rcq_size(cfg, 5); });
    rpma_conn* conn = base.whole() && config.get() != nullptr
                          ? connect_out(run, base, config.get(), false)
                          : nullptr;
    if (conn == nullptr) {
        return;
    }
    const ibv_qp_init_attr_ex qp = world.qps.back();
    rpma_cq* cq = nullptr;
    rpma_cq* rcq = nullptr;
    run.once([&] { return rpma_conn_get_cq(conn, &cq); });
    run.once([&] { return rpma_conn_get_rcq(conn, &rcq); });
    collect(run, cq, qp.send_cq);
    collect(run, rcq, qp.recv_cq);
    disconnect(run, conn);
}

void use_a_shared_channel(Run& run) {
    const Base base(run);
    const Config config(run, [](rpma_conn_cfg* cfg) {
        (void)rpma_conn_cfg_set_rcq_size(cfg, 5);
        return rpma_conn_cfg_set_compl_channel(cfg, true);
    });
    rpma_conn* conn = base.whole() && config.get() != nullptr
                          ? connect_out(run, base, config.get(), false)
                          : nullptr;
    if (conn == nullptr) {
        return;
    }
    const ibv_qp_init_attr_ex qp = world.qps.back();
    for (ibv_cq* verbs : {qp.send_cq, qp.recv_cq}) {
        fake::push_completion(verbs, {});
        fake::push_cq_event(verbs);
        rpma_cq* cq = nullptr;
        bool is_rcq = false;
        if (run.once([&] { return rpma_conn_wait(conn, 0, &cq, &is_rcq); }) != 0) {
            break;  // the event may still be there
        }
        assert_true(is_rcq == (verbs == qp.recv_cq));
        ibv_wc wc = {};
        run.again([&] { return rpma_cq_get_wc(cq, 1, &wc, nullptr); });
    }
    disconnect(run, conn);
}

/// parents_first: the queue and the configuration are deleted while the connection uses them.
void share_receives(Run& run, std::uint32_t rcq_size, bool parents_first) {
    const Base base(run);
    rpma_srq_cfg* srq_cfg = nullptr;
    rpma_srq* srq = nullptr;
    rpma_conn* conn = nullptr;
    run.again([&] { return rpma_srq_cfg_new(&srq_cfg); });
    if (base.whole() && srq_cfg != nullptr) {
        run.once([&] { return rpma_srq_cfg_set_rcq_size(srq_cfg, rcq_size); });
        run.again([&] { return rpma_srq_new(base.peer, srq_cfg, &srq); });
    }
    run.once([&] { return rpma_srq_cfg_delete(&srq_cfg); });
    if (srq != nullptr) {
        const Config config(run,
                            [&](rpma_conn_cfg* cfg) { return rpma_conn_cfg_set_srq(cfg, srq); });
        run.again([&] { return rpma_srq_recv(srq, base.region, 0, 8, nullptr); });
        run.again([&] { return rpma_srq_recv(srq, nullptr, 0, 0, nullptr); });
        if (config.get() != nullptr) {
            conn = connect_out(run, base, config.get(), false);
        }
        if (parents_first) {
            run.once([&] { return rpma_srq_delete(&srq); });
        }
    }
    run.once([&] { return rpma_conn_delete(&conn); });
    run.once([&] { return rpma_srq_delete(&srq); });
    assert_null(conn);
    assert_null(srq);
}

void share_receives_with_own_queue(Run& run) {
    share_receives(run, 9, false);
}

void share_receives_without_own_queue(Run& run) {
    share_receives(run, 0, true);
}

/// What happens to a request that was taken from the endpoint.
enum class Answer { accept, reject, accept_without_endpoint };

void answer_one(Run& run, const Base& base, Answer answer) {
    rpma_ep* ep = nullptr;
    rpma_conn_req* req = nullptr;
    rpma_conn* conn = nullptr;
    run.again([&] { return rpma_ep_listen(base.peer, kAddress, kPort, &ep); });
    if (ep != nullptr) {
        run.again([&] {
            fake::arrive("data");
            return rpma_ep_next_conn_req(ep, nullptr, &req);
        });
    }
    if (answer == Answer::accept_without_endpoint) {
        run.once([&] { return rpma_ep_shutdown(&ep); });
    }
    if (req != nullptr && answer != Answer::reject) {
        run.once([&] { return rpma_conn_req_connect(&req, &kData, &conn); });
    }
    assert_true(req == nullptr || answer == Answer::reject);
    run.once([&] { return rpma_conn_req_delete(&req); });
    run.once([&] { return rpma_conn_delete(&conn); });
    run.once([&] { return rpma_ep_shutdown(&ep); });
    assert_null(req);
    assert_null(conn);
    assert_null(ep);
}

void accept_requests(Run& run) {
    const Base base(run);
    if (base.peer != nullptr) {
        answer_one(run, base, Answer::accept);
        answer_one(run, base, Answer::accept_without_endpoint);
    }
}

void reject_requests(Run& run) {
    const Base base(run);
    if (base.peer != nullptr) {
        answer_one(run, base, Answer::reject);
    }
}

void give_requests_up(Run& run) {
    const Base base(run);
    rpma_conn_req* req = nullptr;
    if (base.peer != nullptr) {
        run.again([&] { return rpma_conn_req_new(base.peer, kAddress, kPort, nullptr, &req); });
    }
    run.once([&] { return rpma_conn_req_delete(&req); });
    assert_null(req);
}

/// A name with addresses of both families, the first of which cannot be reached or bound.
void try_two_addresses(Run& run) {
    const Base base(run);
    world.families = {AF_INET6, AF_INET};
    world.dead_families = {AF_INET6};
    if (base.peer == nullptr) {
        return;
    }
    rpma_conn_req* req = nullptr;
    rpma_ep* ep = nullptr;
    run.again([&] { return rpma_conn_req_new(base.peer, "name", kPort, nullptr, &req); });
    run.again([&] { return rpma_ep_listen(base.peer, "name", kPort, &ep); });
    run.once([&] { return rpma_conn_req_delete(&req); });
    run.once([&] { return rpma_ep_shutdown(&ep); });
    assert_null(req);
    assert_null(ep);
}

/// The peer goes first: what is freed with the last child is reported there.
void delete_parents_first(Run& run) {
    rpma_peer* peer = nullptr;
    rpma_mr_local* region = nullptr;
    rpma_conn* conn = nullptr;
    run.again([&] { return rpma_peer_new(fake::context(), &peer); });
    if (peer != nullptr) {
        run.again([&] { return rpma_mr_reg(peer, memory, sizeof(memory), kAllUsages, &region); });
        run.again([&] {
            rpma_conn_req* req = nullptr;
            const int ret = rpma_conn_req_new(peer, kAddress, kPort, nullptr, &req);
            return ret != 0 ? ret : rpma_conn_req_connect(&req, nullptr, &conn);
        });
    }
    run.once([&] { return rpma_peer_delete(&peer); });
    run.once([&] { return rpma_mr_dereg(&region); });
    run.once([&] { return rpma_conn_delete(&conn); });
}

}  // namespace

int Run::once(const std::function<int()>& call) {
    harness::lines.clear();
    errno = 0;
    const int ret = call();
    const std::size_t expected = ret != 0 && !is_no_fault(ret, errno) ? 1 : 0;
    for (const harness::Line& line : harness::lines) {
        lines_.push_back(line.function + ": " + line.text);
    }
    if (harness::lines.size() != expected) {
        for (const harness::Line& line : harness::lines) {
            print_error("%s: %s", line.function.c_str(), line.text.c_str());
        }
        print_error("%zu lines for the result %d\n", harness::lines.size(), ret);
        _fail(__FILE__, __LINE__);
    }
    harness::lines.clear();
    if (ret != 0) {
        codes_.push_back(ret);
    }
    return ret;
}

int Run::again(const std::function<int()>& call) {
    const int first = once(call);
    if (first == 0 || persistent_) {
        return first;
    }
    const int second = once(call);
    assert_int_equal(second, 0);
    return second;
}

const std::vector<Life> kLives = {
    {"look for devices", look_for_devices, {"rdma_destroy_id"}},
    {"make configurations", make_configurations, {}},
    {"use pinned regions", use_pinned_regions, {}},
    {"use unpinned regions", use_unpinned_regions, {}},
    {"connect and operate", connect_and_operate, {}},
    {"operate natively", operate_natively, {"rdma_create_qp_ex"}},
    {"operate where native is refused", operate_where_native_is_refused, {"rdma_create_qp_ex"}},
    {"use separate queues", use_separate_queues, {}},
    {"use a shared channel", use_a_shared_channel, {}},
    {"share receives, own queue", share_receives_with_own_queue, {}},
    {"share receives, no own queue", share_receives_without_own_queue, {}},
    {"accept requests", accept_requests, {}},
    {"reject requests", reject_requests, {}},
    {"give requests up", give_requests_up, {}},
    {"try two addresses",
     try_two_addresses,
     {"rdma_getaddrinfo", "rdma_create_id", "rdma_resolve_addr", "rdma_resolve_route",
      "rdma_bind_addr", "rdma_listen", "rdma_destroy_id"}},
    {"delete parents first", delete_parents_first, {}},
};

}  // namespace faults
