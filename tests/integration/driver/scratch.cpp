// SPDX-License-Identifier: BSD-3-Clause
#include "driver/scratch.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "driver/report.hpp"

namespace driver {

Scratch::Scratch() : path_((std::filesystem::temp_directory_path() / "rpma-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
        give_up("making %s", path_.c_str());
    }
    // Roles may run as another user.
    if (::chmod(path_.c_str(), S_ISVTX | 0777) != 0) {
        give_up("chmod of %s", path_.c_str());
    }
}

Scratch::~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Scratch::entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
        names.push_back(entry.path().filename().string());
    }
    return names;
}

}  // namespace driver
