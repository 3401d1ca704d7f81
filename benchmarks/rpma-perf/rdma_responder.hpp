// SPDX-License-Identifier: BSD-3-Clause
// What the target's CPU does for one RDMA connection: nothing for one-sided operations; else it
// takes messages, sends them back, or makes memory durable.
#pragma once

#include <endian.h>
#include <infiniband/verbs.h>
#include <poll.h>

#include <array>
#include <cstring>
#include <utility>

#include "buffer.hpp"
#include "error.hpp"
#include "pattern.hpp"
#include "persist_message.hpp"
#include "target.hpp"

namespace perf {

// Where messages are received: more of them than the client has in flight, so that it does not wait
// for a receive to be posted.
struct MessageBuffers {
    explicit MessageBuffers(const Case& point)
        : needed(point.op == Op::send || point.op == Op::pingpong || point.op == Op::persist),
          size(point.op == Op::persist ? kPersistMessage : static_cast<std::size_t>(point.size)),
          count(needed ? 2 * point.queue_depth : 1) {
        if (!needed) {
            size = kLine;
        }
    }
    [[nodiscard]] std::size_t total() const { return size * count; }

    bool needed;
    std::size_t size;
    std::uint32_t count;
};

template <typename Link>
class RdmaResponder : public Responder {
public:
    RdmaResponder(const Case& point, std::size_t connection, const TargetMemory& memory,
                  std::unique_ptr<Buffer> space, std::unique_ptr<Link> link)
        : point_(point),
          connection_(connection),
          memory_(memory),
          buffers_(point),
          space_(std::move(space)),
          link_(std::move(link)) {
        for (std::uint32_t i = 0; i < buffers_.count && buffers_.needed; i++) {
            (void)succeeded(post_receive(i), "posting a receive");
        }
    }

    void run(const std::atomic<bool>& stop) override {
        while (buffers_.needed && failure_.empty() && !stop.load(std::memory_order_relaxed)) {
            std::array<ibv_wc, kCapacity> completions;  // NOLINT: filled by the poll
            const int got = link_->poll(completions.data(), kCapacity);
            if (got < 0) {
                failure_ = "polling the completion queue failed";
            } else if (got == 0 && point_.wait == Wait::event) {
                sleep();
            }
            for (int i = 0; i < got; i++) {
                if (!take(completions[static_cast<std::size_t>(i)])) {
                    return;
                }
            }
        }
    }

private:
    static constexpr int kCapacity = 16;
    static constexpr int kSleepMs = 50;

    void sleep() {
        pollfd one{link_->fd(), POLLIN, 0};
        if (::poll(&one, 1, kSleepMs) > 0) {
            link_->take_event();
        }
    }

    // False at the end of the connection and after failures.
    bool take(const ibv_wc& completion) {
        if (completion.status == IBV_WC_WR_FLUSH_ERR) {
            return false;  // the client has closed the connection
        }
        if (completion.status != IBV_WC_SUCCESS) {
            failure_ = ibv_wc_status_str(completion.status);
            return false;
        }
        const auto index = static_cast<std::uint32_t>(completion.wr_id);
        if ((completion.opcode & IBV_WC_RECV) == 0) {  // an answer has left: its buffer is free
            return succeeded(post_receive(index), "posting a receive");
        }
        switch (point_.op) {
            case Op::pingpong:
                return answer(index, completion.byte_len);
            case Op::persist:
                return persist(index, completion.byte_len);
            default:
                return keep(index, completion.byte_len);
        }
    }

    bool keep(std::uint32_t index, std::uint32_t length) {
        if (point_.verify) {
            verify(index, length);
        }
        return succeeded(post_receive(index), "posting a receive");
    }

    // Messages of one connection arrive in the order in which the client uses its slots.
    void verify(std::uint32_t index, std::uint32_t length) {
        const std::uint64_t batch = received_ / point_.batch;
        const std::uint64_t seed =
            operation_seed(connection_, batch % point_.slots(), batch / point_.slots() + 1,
                           received_ % point_.batch);
        received_++;
        verified_.bytes += point_.size;
        verified_.mismatches +=
            length == point_.size
                ? count_mismatches(space_->at(index * buffers_.size), length, seed)
                : point_.size;
    }

    bool answer(std::uint32_t index, std::uint32_t length) {
        return succeeded(link_->send(index * buffers_.size, length, true, index), "answering");
    }

    bool persist(std::uint32_t index, std::uint32_t length) {
        PersistMessage message{};
        std::memcpy(&message, space_->at(index * buffers_.size), sizeof(message));
        const std::uint64_t offset = le64toh(message.offset);
        const std::uint64_t size = le64toh(message.length);
        if (length != sizeof(message) || offset > memory_.size() ||
            size > memory_.size() - offset) {
            failure_ = "the client asks for memory that is not there";
            return false;
        }
        memory_.persist(offset, size);
        return answer(index, length);
    }

    int post_receive(std::uint32_t index) {
        return link_->recv(index * buffers_.size, buffers_.size, index);
    }

    bool succeeded(int result, const char* what) {
        if (result != 0) {
            failure_ = fmt::format("{} failed: {}", what, Link::text_of(result));
        }
        return result == 0;
    }

    Case point_;
    std::size_t connection_;
    const TargetMemory& memory_;
    MessageBuffers buffers_;
    std::unique_ptr<Buffer> space_;
    std::unique_ptr<Link> link_;
    std::uint64_t received_ = 0;
};

}  // namespace perf
