// SPDX-License-Identifier: BSD-3-Clause
// The line that lives while something is measured: on a terminal only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "case.hpp"

namespace perf {

class Progress {
public:
    explicit Progress(std::size_t steps);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void next(const Case& point);
    void update(std::uint64_t operations, double seconds);
    void clear();

private:
    bool on_;
    bool drawn_ = false;
    std::size_t step_ = 0;
    std::size_t steps_;
    Case point_;
    std::uint64_t last_operations_ = 0;
    double last_seconds_ = 0;
};

}  // namespace perf
