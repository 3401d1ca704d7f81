// SPDX-License-Identifier: BSD-3-Clause
#include "common/role.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "common/check.hpp"

namespace it {

bool Role::has_argument(const std::string& word) const {
    return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
}

bool on_fabric() {
    ibv_device** devices = ibv_get_device_list(nullptr);
    const bool found = devices != nullptr && devices[0] != nullptr &&
                       std::strncmp(ibv_get_device_name(devices[0]), "fabric", 6) == 0;
    if (devices != nullptr) {
        ibv_free_device_list(devices);
    }
    return found;
}

void require_fabric() {
    if (!on_fabric()) {
        skip("needs the software device");
    }
}

int count_descriptors() {
    int count = 0;
    const char* const recording = std::getenv("RPMA_FABRIC_PCAP");  // stays open, as it should
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        count += recording != nullptr && target.starts_with(recording) ? 0 : 1;
    }
    return count - 1;  // without the one that lists
}

}  // namespace it
