// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>

#include "fake_rdma.hpp"

namespace fake {

World world;

void World::fail(const std::string& name, int nth, int err) {
    plans[name].push_back({count(name) + nth, err});
}

bool World::enter(const char* name) {
    calls.emplace_back(name);
    const int nth = count(name);
    for (const Plan& plan : plans[name]) {
        if (plan.nth == nth || (plan.lasting && plan.nth < nth)) {
            errno = plan.err;
            return true;
        }
    }
    return false;
}

int World::count(const std::string& name) const {
    return static_cast<int>(std::count(calls.begin(), calls.end(), name));
}

int World::live_total() const {
    int total = 0;
    for (const auto& [name, number] : live) {
        total += number;
    }
    return total;
}

void reset() {
    world = World();
}

Id* last_id() {
    return world.ids.back();
}

}  // namespace fake
