// SPDX-License-Identifier: BSD-3-Clause
// One call of something the device does not have, and what a device without it answers.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <vector>

// Handles that exist, for the calls to be refused for nothing but what they ask.
struct Objects {
    ibv_context* context;
    ibv_pd* pd;
    ibv_cq* cq;
    ibv_qp* qp;  // RC, in state RESET
};

struct Refusal {
    const char* name;  // of the exported function, or of the inline one of the header
    int wanted;        // errno
    std::function<int(Objects&)> call;  // gives the errno, 0 for success
};

// What a call that gives a pointer, one that gives -1 with errno, and one that gives an errno said.
template <typename T>
int pointer_error(T* result) {
    return result == nullptr ? errno : 0;
}
inline int minus_one_error(long result) {
    return result == -1 ? errno : 0;
}

std::vector<Refusal> verbs_refusals();
std::vector<Refusal> cm_refusals();
