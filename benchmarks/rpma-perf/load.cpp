// SPDX-License-Identifier: BSD-3-Clause
#include "load.hpp"

#include "error.hpp"
#include "rpma_link.hpp"
#include "tcp_initiator.hpp"
#include "verbs_link.hpp"
#include "workloads/commit.hpp"
#include "workloads/flush.hpp"
#include "workloads/persist.hpp"
#include "workloads/pingpong.hpp"
#include "workloads/read.hpp"
#include "workloads/send.hpp"
#include "workloads/write.hpp"

namespace perf {
namespace {

struct NoDevice {};

template <typename Initiator, typename Device>
class LoadOf : public Load {
public:
    // `make` makes the initiator of a connection with a number.
    template <typename Make>
    LoadOf(const Case& point, std::unique_ptr<Device> device, Make make)
        : point_(point), device_(std::move(device)), initiators_(point.threads) {
        for (std::size_t i = 0; i < point.connections; i++) {
            initiators_[i % point.threads].push_back(make(*device_, i));
        }
    }

    void run(unsigned thread, RunControl& control, ThreadResult& result) override {
        Driver<Initiator>(initiators_[thread], point_, control, result).run();
    }

private:
    Case point_;
    std::unique_ptr<Device> device_;  // outlives the connections
    std::vector<std::vector<std::unique_ptr<Initiator>>> initiators_;
};

template <typename Link, typename Workload>
std::unique_ptr<Load> rdma_load(const Case& point, const Endpoint& to, const RemoteAccess& access) {
    using Initiator = RdmaInitiator<Link, Workload>;
    using Device = typename Link::Device;
    return std::make_unique<LoadOf<Initiator, Device>>(
        point, std::make_unique<Device>(to.address, false),
        [&](const Device& device, std::size_t connection) {
            return std::make_unique<Initiator>(device, to, access, point, connection);
        });
}

template <typename Link>
std::unique_ptr<Load> rdma_load_of_op(const Case& point, const Endpoint& to,
                                      const RemoteAccess& access) {
    switch (point.op) {
        case Op::read:
            return rdma_load<Link, ReadWorkload>(point, to, access);
        case Op::write:
            return rdma_load<Link, WriteWorkload>(point, to, access);
        case Op::flush:
            return rdma_load<Link, FlushWorkload>(point, to, access);
        case Op::commit:
            return rdma_load<Link, CommitWorkload>(point, to, access);
        case Op::send:
            return rdma_load<Link, SendWorkload>(point, to, access);
        case Op::pingpong:
            return rdma_load<Link, PingpongWorkload>(point, to, access);
        case Op::persist:
            return rdma_load<Link, PersistWorkload>(point, to, access);
    }
    fail("no such operation");
}

std::unique_ptr<Load> tcp_load(const Case& point, const Endpoint& to) {
    return std::make_unique<LoadOf<TcpInitiator, NoDevice>>(
        point, std::make_unique<NoDevice>(), [&](const NoDevice&, std::size_t connection) {
            return std::make_unique<TcpInitiator>(to, point, connection);
        });
}

}  // namespace

std::unique_ptr<Load> make_load(const Case& point, const Endpoint& to, const RemoteAccess& access) {
    switch (point.api) {
        case Api::rpma:
            return rdma_load_of_op<RpmaLink>(point, to, access);
        case Api::verbs:
            return rdma_load_of_op<VerbsLink>(point, to, access);
        case Api::tcp:
            return tcp_load(point, to);
    }
    fail("no such API");
}

void RunControl::thread_ends() {
    const std::lock_guard lock(mutex_);
    running_--;
    ended_.notify_all();
}

bool RunControl::wait_ended(std::uint64_t timeout_ns) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                           [this] { return running_ == 0; });
}

}  // namespace perf
