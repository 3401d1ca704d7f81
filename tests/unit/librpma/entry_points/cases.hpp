// SPDX-License-Identifier: BSD-3-Clause
// The table of everything that the entry points refuse or fail with. A case is one call: which
// function, which code it must give, and what its log line must say.
#pragma once

#include <functional>
#include <vector>

#include "harness.hpp"

namespace entry_points {

/// Valid objects to be combined with one bad argument or one fault.
struct Objects {
    rpma_peer* peer = harness::make_peer();
    rpma_peer_cfg* pcfg = nullptr;
    rpma_conn_cfg* cfg = nullptr;
    rpma_conn_cfg* contradictory_cfg = nullptr;  ///< shared channel, shared RQ with an RCQ
    rpma_conn_cfg* shared_cfg = nullptr;         ///< shared channel
    rpma_srq_cfg* srq_cfg = nullptr;
    rpma_srq* srq = nullptr;
    rpma_ep* ep = nullptr;
    fake::Id* listener = nullptr;
    rpma_conn_req* req = harness::make_request(peer);
    rpma_conn* conn = harness::make_connection(peer);
    fake::Id* conn_id = fake::last_id();
    rpma_conn* shared_conn = nullptr;
    rpma_cq* cq = nullptr;
    rpma_cq* shared_cq = nullptr;
    ibv_cq* verbs_cq = nullptr;         ///< what is behind cq
    ibv_cq* shared_verbs_cq = nullptr;  ///< what is behind shared_cq
    char memory[64] = {};
    rpma_mr_local* local = harness::make_region(peer, memory, sizeof(memory), 0xff);
    rpma_mr_remote* remote = harness::make_remote(0x1000, 64, 7, 0xff);
    rpma_mr_remote* unflushable = harness::make_remote(0x1000, 64, 7, RPMA_MR_USAGE_WRITE_DST);

    Objects();
    ~Objects();
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;
};

/// Out-parameters; none may be written by a failing call.
struct Outputs {
    rpma_peer* peer = harness::untouched<rpma_peer>();
    rpma_peer_cfg* pcfg = harness::untouched<rpma_peer_cfg>();
    rpma_conn_cfg* cfg = harness::untouched<rpma_conn_cfg>();
    rpma_srq_cfg* srq_cfg = harness::untouched<rpma_srq_cfg>();
    rpma_mr_local* local = harness::untouched<rpma_mr_local>();
    rpma_mr_remote* remote = harness::untouched<rpma_mr_remote>();
    rpma_srq* srq = harness::untouched<rpma_srq>();
    rpma_ep* ep = harness::untouched<rpma_ep>();
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    rpma_conn* conn = harness::untouched<rpma_conn>();
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

    [[nodiscard]] bool same() const;
};

/// What a failing call consumes or deletes all the same: it must leave these pointers NULL.
struct Doomed {
    rpma_peer* peer = nullptr;
    rpma_mr_local* local = nullptr;
    rpma_conn_cfg* cfg = nullptr;
    rpma_srq* srq = nullptr;
    rpma_ep* ep = nullptr;
    rpma_conn_req* req = nullptr;
    rpma_conn* conn = nullptr;
    rpma_cq* cq = nullptr;

    [[nodiscard]] bool gone() const;
};

struct Case {
    const char* function;
    int code;
    /// What the log line must contain; NULL: there must be no line.
    const char* part;
    /// Makes the fault; calls of the library in here must succeed.
    std::function<void(Objects&, Doomed&)> prepare;
    std::function<int(Objects&, Outputs&, Doomed&)> call;
};

/// Bad arguments: RPMA_E_INVAL, and nothing reaches rdma-core. `part` is the name of the parameter
/// where that is what the line must say.
extern const std::vector<Case> kBadArguments;
/// Everything else that the documentation names.
extern const std::vector<Case> kFailures;

/// Values outside an enumeration, unknown to the compiler.
template <typename Enum>
Enum value(int number) {
    return static_cast<Enum>(number);
}

#define RPMA_CALL(name, ...)                \
    [](Objects& o, Outputs& x, Doomed& d) { \
        (void)o, (void)x, (void)d;          \
        return name(__VA_ARGS__);           \
    }

}  // namespace entry_points
