// SPDX-License-Identifier: BSD-3-Clause
#include "common/usage.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "common/check.hpp"

namespace it {
namespace {

const char* const kTasks = "/proc/self/task";

/// The sum of the numbers behind `key` in a file of lines "key: number".
long number_behind(const std::string& file, const std::string& key) {
    std::ifstream input(file);
    long sum = 0;
    for (std::string line; std::getline(input, line);) {
        std::istringstream words(line);
        std::string word;
        long value = 0;
        if (words >> word && word == key && words >> value) {
            sum += value;
        }
    }
    return sum;
}

}  // namespace

int count_threads() {
    int count = 0;
    for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator(kTasks)) {
        ++count;
    }
    return count;
}

std::size_t private_bytes() {
    const std::string file = "/proc/self/smaps_rollup";
    return static_cast<std::size_t>(number_behind(file, "Private_Dirty:") +
                                    number_behind(file, "Private_Clean:")) *
           1024;
}

std::size_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

long sleeps_of_device() {
    for (const auto& task : std::filesystem::directory_iterator(kTasks)) {
        std::ifstream name(task.path() / "comm");
        std::string text;
        if (std::getline(name, text) && text == "rpma-fabric") {
            return number_behind(task.path() / "status", "voluntary_ctxt_switches:");
        }
    }
    return -1;
}

void raise_descriptor_limit(std::size_t needed) {
    rlimit limit{};
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < needed) {
        skip("%zu descriptors are needed, this process may have %zu (ulimit -Hn)", needed,
             static_cast<std::size_t>(limit.rlim_cur));
    }
}

}  // namespace it
