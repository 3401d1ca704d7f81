// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/registry.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "carrier/descriptor.hpp"
#include "carrier/tcp_link.hpp"
#include "global_lock.hpp"

namespace fabric::carrier {
namespace {

struct Entry {
    std::weak_ptr<TcpLink> link;
    unsigned generation;  // of another one: the parent's, and so may be its locks
};

struct Links {
    GlobalLock mutex;
    std::unordered_map<std::uint64_t, Entry> by_id;
};

Links& links() {
    static Links* const instance = new Links;  // used until the process is gone
    return *instance;
}

}  // namespace

std::uint64_t registry::next_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

void registry::add(std::uint64_t id, const std::shared_ptr<TcpLink>& link) {
    const std::lock_guard guard(links().mutex);
    links().by_id.emplace(id, Entry{link, fork_generation()});
}

void registry::remove(std::uint64_t id) {
    const std::lock_guard guard(links().mutex);
    links().by_id.erase(id);
}

std::vector<std::shared_ptr<TcpLink>> registry::all() {
    std::vector<std::shared_ptr<TcpLink>> out;
    const std::lock_guard guard(links().mutex);
    out.reserve(links().by_id.size());
    for (const auto& [id, entry] : links().by_id)
        if (auto alive = entry.generation == fork_generation() ? entry.link.lock() : nullptr)
            out.push_back(std::move(alive));
    return out;
}

void release_everywhere(const memory::Region* region) {
    for (const auto& link : registry::all())
        link->release(region);
}

}  // namespace fabric::carrier
