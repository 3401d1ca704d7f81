// SPDX-License-Identifier: BSD-3-Clause
// The server's side of a case over RDMA, by librpma or by raw verbs.
#pragma once

#include "rdma_responder.hpp"
#include "target.hpp"

namespace perf {

template <typename Listener>
class RdmaTarget : public Target {
public:
    RdmaTarget(const Case& point, const TargetOptions& options, const TargetMemory& memory)
        : listener_(options.address, options.first_port, memory) {
        answering_.begin(point.connections, [this, point, &memory](std::size_t connection) {
            return accept(point, memory, connection);
        });
    }

    [[nodiscard]] std::string port() const override { return listener_.port(); }
    [[nodiscard]] RemoteAccess access() const override { return listener_.access(); }
    void wait_ready(int timeout_ms) override { answering_.wait_ready(timeout_ms); }
    Verified stop() override { return answering_.stop(); }

private:
    using Link = typename Listener::Link;

    std::unique_ptr<Responder> accept(const Case& point, const TargetMemory& memory,
                                      std::size_t connection) {
        const MessageBuffers buffers(point);
        auto space = std::make_unique<Buffer>(buffers.total());
        auto link = listener_.accept({buffers.count + 1, buffers.count}, space->data(),
                                     space->size(), kAcceptMs);
        if (link == nullptr) {
            return nullptr;
        }
        return std::make_unique<RdmaResponder<Link>>(point, connection, memory, std::move(space),
                                                     std::move(link));
    }

    Listener listener_;
    Answering answering_;  // ends before the listener
};

}  // namespace perf
