// SPDX-License-Identifier: BSD-3-Clause
// libibverbs and librdmacm without a device, linked in place of the real ones. Objects behave: they
// count their users, refuse to go while in use, keep events until acknowledged. Calls are recorded
// and can be made to fail; what would block, leak or touch a dead object in real life is noted.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace fake {

struct CompChannel : ibv_comp_channel {
    std::deque<ibv_cq*> events;
    int users = 0;
};

struct Cq : ibv_cq {
    std::deque<ibv_wc> completions;
    int users = 0;
    int armed = 0;
    int unacked = 0;
};

struct Pd : ibv_pd {
    int users = 0;
};

struct Mr : ibv_mr {
    int access = 0;
};

struct Srq : ibv_srq {
    int users = 0;
    ibv_srq_init_attr attributes = {};
};

struct Qp : ibv_qp_ex {
    ibv_qp_init_attr_ex attributes = {};
};

struct Id : rdma_cm_id {
    int unacked = 0;
    bool incoming = false, accepted = false, rejected = false, connected = false, bound = false;
    bool listening = false, disconnected = false;
    int family = 0;
    rdma_conn_param parameters = {};
};

struct Event : rdma_cm_event {
    std::vector<unsigned char> data;
};

struct EventChannel : rdma_event_channel {
    std::deque<Event*> events;
    int users = 0;
};

/// A work request as the provider saw it.
struct Send {
    std::string verb;  ///< "post_send", "wr_atomic_write", "wr_flush"
    std::uint64_t wr_id = 0;
    ibv_wr_opcode opcode = IBV_WR_SEND;
    unsigned flags = 0;
    int num_sge = 0;
    ibv_sge sge = {};
    std::uint64_t remote = 0;
    std::uint32_t rkey = 0;
    std::uint32_t imm = 0;
    std::string inlined;  ///< what inline data were at the time of posting
    std::size_t length = 0;
    unsigned placement = 0, level = 0;
};

struct Recv {
    std::uint64_t wr_id = 0;
    int num_sge = 0;
    ibv_sge sge = {};
    bool shared = false;
};

struct World {
    // The device.
    bool present = true;
    std::uint64_t odp_general = IBV_ODP_SUPPORT;
    std::uint32_t odp_rc = IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE;
    std::uint64_t cap_flags_ex = 0;
    bool extended_qp = true;  ///< false: a provider that refuses SEND_OPS_FLAGS
    bool pins = true;         ///< false: memory can be registered on demand only

    // What the next regions report of themselves instead of what they are.
    bool override_mr = false;
    struct {
        std::uint64_t address, size;
        std::uint32_t rkey;
    } override_values = {};

    // Addresses: what look-ups and binding do.
    std::vector<int> families = {AF_INET};  ///< families a name has
    std::vector<int> dead_families;         ///< families that cannot be reached or bound
    bool elsewhere = false;  ///< addresses are those of another device than context()
    bool wildcard = false;   ///< binding leaves the id without a device

    // Results of the data path.
    int post_result = 0;
    int poll_result = 0;   ///< if not 0 it is returned by polling
    int destroy_form = 0;  ///< if not 0 it is returned by a failing ibv_dereg_mr()

    // What happened.
    std::vector<std::string> calls;
    std::map<std::string, int> live;
    std::vector<std::string> faults_seen;  ///< what would block, dangle or crash
    std::vector<Send> sends;
    std::vector<Recv> recvs;
    std::vector<Mr*> mrs;
    std::vector<Id*> ids;
    std::vector<ibv_qp_init_attr_ex> qps;
    std::vector<int> cq_sizes;
    std::vector<rdma_conn_param> parameters;
    std::vector<std::string> sent_private_data;
    std::vector<int> timeouts;
    int look_up_flags = 0;  ///< RAI_*, of the last one
    int rejections = 0, accepted = 0, last_access = 0, advice = -1;
    std::vector<ibv_sge> advised;

    /// The nth next call of name fails with err; err 0: fails without a reason.
    void fail(const std::string& name, int nth, int err);
    /// For the fakes: records the call; true if it has to fail, with errno set.
    bool enter(const char* name);
    int count(const std::string& name) const;
    int live_total() const;

    struct Plan {
        int nth;
        int err;
        bool lasting = false;  ///< all calls from the nth on
    };
    std::map<std::string, std::vector<Plan>> plans;
};

extern World world;

/// Forgets everything; for the start of a test.
void reset();
ibv_context* context();
ibv_context* other_context();
/// A connect request arrives on the channel of the listening id.
Id* arrive(const std::string& data = "");
/// An event for id, on the channel it is on now.
void push_event(rdma_cm_id* id, rdma_cm_event_type type, int status = 0,
                const std::string& data = "");
/// A completion event for cq on its channel.
void push_cq_event(ibv_cq* cq);
void push_completion(ibv_cq* cq, const ibv_wc& wc);
/// The newest id.
Id* last_id();

}  // namespace fake
