// SPDX-License-Identifier: BSD-3-Clause
// Verbs objects for tests, and queue pairs connected by hand inside one process.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace verbs_test {

ibv_context* open_device();

// A context with a protection domain.
class Device {
public:
    Device();
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    ibv_cq* make_cq(int entries = 64, ibv_comp_channel* channel = nullptr) const;
    ibv_mr* register_memory(void* address, std::size_t length) const;

    ibv_context* context;
    ibv_pd* pd;
};

inline constexpr unsigned kAllRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
inline constexpr int kInitMask =
    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
inline constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
inline constexpr int kRtsMask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

ibv_qp_attr init_attributes();
ibv_qp_attr rtr_attributes(std::uint32_t destination_qp, std::uint32_t receive_psn);
ibv_qp_attr rts_attributes(std::uint32_t send_psn);
std::uint32_t first_psn(const ibv_qp* qp);

// A queue pair with a CQ, and 4096 bytes of memory with all rights.
class Node {
public:
    struct Options {
        int cq_entries = 64;
        std::uint32_t send_wr = 16;
        std::uint32_t receive_wr = 16;
        ibv_comp_channel* channel = nullptr;
        ibv_srq* srq = nullptr;
        std::uint64_t send_ops = 0;  // not 0: made for ibv_qp_ex
    };
    explicit Node(const Device& device) : Node(device, Options{}) {}
    Node(const Device& device, const Options& options);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    void to_init() const;
    void to_rtr(const Node& peer) const;
    void to_rts() const;
    ibv_sge piece(std::uint32_t length, std::size_t offset = 0) const;
    int post_receive(std::uint64_t id, std::uint32_t length) const;
    int post_send(std::uint64_t id, std::uint32_t length) const;
    int post_write(std::uint64_t id, const Node& to, std::uint32_t length,
                   unsigned flags = IBV_SEND_SIGNALED) const;
    ibv_wc next() const;  // waits for a completion
    ibv_qp_state state() const;

    std::vector<std::byte> memory;
    ibv_mr* mr = nullptr;
    ibv_cq* cq = nullptr;
    ibv_qp* qp = nullptr;
};

void connect(const Node& a, const Node& b);

}  // namespace verbs_test
