// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/qp_registry.hpp"

#include <mutex>
#include <unordered_map>
#include <vector>

#include "global_lock.hpp"
#include "verbs/queue_pair.hpp"

namespace fabric::verbs::qp_registry {
namespace {

struct QueuePairs {
    GlobalLock mutex;
    std::unordered_map<const ibv_qp*, std::shared_ptr<RcQueuePair>> by_handle;
    std::unordered_map<std::uint32_t, std::shared_ptr<RcQueuePair>> by_number;
};

QueuePairs& all() {
    static QueuePairs* const instance = new QueuePairs;  // used until the process is gone
    return *instance;
}

}  // namespace

void add(const std::shared_ptr<RcQueuePair>& qp) {
    QueuePairs& self = all();
    const std::lock_guard guard(self.mutex);
    self.by_handle.emplace(qp->handle(), qp);
    self.by_number[qp->number()] = qp;
}

std::shared_ptr<RcQueuePair> remove(const ibv_qp* handle) {
    QueuePairs& self = all();
    const std::lock_guard guard(self.mutex);
    const auto found = self.by_handle.find(handle);
    if (found == self.by_handle.end())
        return nullptr;
    auto qp = std::move(found->second);
    self.by_handle.erase(found);
    const auto numbered = self.by_number.find(qp->number());
    if (numbered != self.by_number.end() && numbered->second == qp)
        self.by_number.erase(numbered);
    return qp;
}

std::shared_ptr<RcQueuePair> by_handle(const ibv_qp* handle) {
    QueuePairs& self = all();
    const std::lock_guard guard(self.mutex);
    const auto found = self.by_handle.find(handle);
    return found == self.by_handle.end() ? nullptr : found->second;
}

std::shared_ptr<RcQueuePair> by_number(std::uint32_t number) {
    QueuePairs& self = all();
    const std::lock_guard guard(self.mutex);
    const auto found = self.by_number.find(number);
    return found == self.by_number.end() ? nullptr : found->second;
}

void pass_locks() {
    std::vector<std::shared_ptr<RcQueuePair>> qps;
    {
        QueuePairs& self = all();
        const std::lock_guard guard(self.mutex);
        qps.reserve(self.by_handle.size());
        for (const auto& [handle, qp] : self.by_handle)
            qps.push_back(qp);
    }
    for (const auto& qp : qps)
        if (!qp->birth.inherited())
            qp->pass_lock();
}

}  // namespace fabric::verbs::qp_registry
