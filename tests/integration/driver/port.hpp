// SPDX-License-Identifier: BSD-3-Clause
// A TCP port that no other test of this network name space uses at the same time.
#pragma once

#include "driver/unique_fd.hpp"

namespace driver {

class Port {
public:
    Port();  // gives up when there is none
    int number() const { return number_; }

private:
    int number_ = 0;
    UniqueFd lock_;
};

}  // namespace driver
