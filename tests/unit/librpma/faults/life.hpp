// SPDX-License-Identifier: BSD-3-Clause
// Stretches of a program's life, to be run again and again with one fault in each.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness.hpp"

namespace faults {

/// One run of a life: every call of the library goes through it.
class Run {
public:
    /// persistent: what fails once goes on failing.
    explicit Run(bool persistent) : persistent_(persistent) {}

    /// Calls once. A failure must have made one line, a success none, nor what is no fault.
    int once(const std::function<int()>& call);
    /// Calls, and after a failure once more: the objects are as good as before.
    int again(const std::function<int()>& call);

    [[nodiscard]] const std::vector<int>& codes() const { return codes_; }
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    bool persistent_;
    std::vector<int> codes_;
    std::vector<std::string> lines_;
};

struct Life {
    const char* name;
    void (*live)(Run&);
    /// rdma-core's functions a failure of which is made good inside the library, or comes second to
    /// one that the line tells about.
    std::set<std::string> made_good;
};

extern const std::vector<Life> kLives;

}  // namespace faults
