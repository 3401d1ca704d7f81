// SPDX-License-Identifier: BSD-3-Clause
// Posting through ibv_qp_ex: requests are collected between wr_start() and wr_complete().
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "rc/endpoint.hpp"

namespace fabric::verbs {

// Its memory grows to the largest batch a program makes, then stays.
class SendBatch {
public:
    using Native = rc::Endpoint::NativeRequest;

    // One thread at a time is between start() and finish().
    void start();
    void finish() { mutex_.unlock(); }

    void add(const ibv_send_wr& wr);
    void add(const Native& request);
    void refuse(int error);  // the first error of a batch is the one that wr_complete() returns
    // Data of the last request.
    void set_pieces(std::span<const ibv_sge> pieces);
    void set_inline(std::span<const ibv_data_buf> buffers);

    int error() const { return error_; }
    std::size_t size() const { return items_.size(); }
    int post_to(rc::Endpoint& endpoint) const;  // all of it or nothing, if there is room

private:
    struct Item {
        bool is_native = false;
        ibv_send_wr wr{};
        Native native{};
        std::size_t first_piece = 0;
        std::size_t inline_offset = 0;
        std::size_t inline_bytes = 0;
    };

    int each(int (*act)(rc::Endpoint&, const Item&, const ibv_send_wr&),
             rc::Endpoint& endpoint) const;

    std::mutex mutex_;
    std::vector<Item> items_;
    std::vector<ibv_sge> pieces_;
    std::vector<std::byte> inline_data_;
    int error_ = 0;
};

// The operations of IBV_QP_INIT_ATTR_SEND_OPS_FLAGS this device has.
std::uint64_t supported_send_ops();
void fill_qp_functions(ibv_qp_ex& qp, std::uint64_t send_ops);

}  // namespace fabric::verbs
