// SPDX-License-Identifier: BSD-3-Clause
// A directory of its own for each test; gone with everything in it when the driver ends.
#pragma once

#include <string>
#include <vector>

namespace driver {

class Scratch {
public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::string& path() const { return path_; }
    std::vector<std::string> entries() const;

private:
    std::string path_;
};

}  // namespace driver
