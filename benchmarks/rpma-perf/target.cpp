// SPDX-License-Identifier: BSD-3-Clause
#include "target.hpp"

#include "error.hpp"
#include "pattern.hpp"
#include "rdma_target.hpp"
#include "rpma_link.hpp"
#include "tcp_target.hpp"
#include "verbs_link.hpp"

namespace perf {

void Answering::add(std::unique_ptr<Responder> responder) {
    Responder& added = *responder;
    const std::lock_guard lock(mutex_);
    responders_.push_back(std::move(responder));
    threads_.emplace_back([this, &added] { added.run(stop_); });
    changed_.notify_all();
}

void Answering::refuse(const char* why) {
    const std::lock_guard lock(mutex_);
    failure_ = why;
    changed_.notify_all();
}

void Answering::wait_ready(int timeout_ms) {
    std::unique_lock lock(mutex_);
    const bool ready = changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [this] {
        return responders_.size() == wanted_ || !failure_.empty();
    });
    if (!failure_.empty()) {
        fail("{}", failure_);
    }
    if (!ready) {
        fail("{} of {} connections arrived within {} s", responders_.size(), wanted_,
             timeout_ms / 1000);
    }
}

void Answering::end() {
    stop_ = true;
    if (acceptor_.joinable()) {
        acceptor_.join();
    }
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

Verified Answering::stop() {
    end();
    Verified sum;
    for (const auto& responder : responders_) {
        if (!responder->failure().empty()) {
            fail("{}", responder->failure());
        }
        sum.add(responder->verified());
    }
    return sum;
}

void fill_for_reading(const Case& point, const TargetMemory& memory) {
    const Layout layout(point);
    for (std::size_t connection = 0; connection < point.connections; connection++) {
        for (std::size_t slot = 0; slot < layout.slots(); slot++) {
            for (std::size_t i = 0; i < layout.batch(); i++) {
                fill_pattern(
                    memory.data() + layout.remote_data(connection, slot) + i * layout.size(),
                    layout.size(), operation_seed(connection, slot, 0, i));
            }
        }
    }
}

std::unique_ptr<Target> make_target(const Case& point, const TargetOptions& options,
                                    const TargetMemory& memory) {
    switch (point.api) {
        case Api::rpma:
            return std::make_unique<RdmaTarget<RpmaListener>>(point, options, memory);
        case Api::verbs:
            return std::make_unique<RdmaTarget<VerbsListener>>(point, options, memory);
        case Api::tcp:
            return std::make_unique<TcpTarget>(point, options, memory);
    }
    fail("no such API");
}

}  // namespace perf
