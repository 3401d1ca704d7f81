// SPDX-License-Identifier: BSD-3-Clause
// An opened device.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>

#include "verbs/async_event.hpp"
#include "verbs/birth.hpp"

namespace fabric::verbs {

// What programs hold is &shown.verbs.context; the header's inline functions look in front of it.
class Context {
public:
    Context();
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    static Context& of(const ibv_context* handle);
    ibv_context* handle() { return &shown_.verbs.context; }

    // Every object made with this context counts; a closed context goes with its last one.
    void add_user() { users_.fetch_add(1); }
    void drop_user();

    AsyncEvents async;
    const Birth birth{};  // the process it was made in

private:
    struct Shown {
        Context* self;
        verbs_context verbs;
    };

    Shown shown_{};
    std::atomic<int> users_{1};  // the first is the program that opened it
};

// Fills the function tables that verbs.h calls through.
void fill_operations(verbs_context& verbs);

}  // namespace fabric::verbs
