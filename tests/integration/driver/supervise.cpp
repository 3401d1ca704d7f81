// SPDX-License-Identifier: BSD-3-Clause
#include "driver/supervise.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "driver/report.hpp"

namespace driver {
namespace {

constexpr auto kGrace = std::chrono::seconds(10);

std::vector<pollfd> descriptors(const std::vector<Process>& programs) {
    std::vector<pollfd> list;
    for (const Process& program : programs) {
        list.push_back(
            {.fd = program.output_fd(), .events = POLLIN, .revents = 0});  // poll ignores -1
        list.push_back({.fd = program.exit_fd(), .events = POLLIN, .revents = 0});
    }
    return list;
}

void serve_once(std::vector<Process>& programs, int timeout_ms) {
    std::vector<pollfd> list = descriptors(programs);
    ::poll(list.data(), list.size(), timeout_ms);
    for (std::size_t index = 0; index < programs.size(); ++index) {
        if (list[2 * index].revents != 0) {
            programs[index].read_output();
        }
        if (list[2 * index + 1].revents != 0) {
            programs[index].collect();
        }
    }
}

bool has_ended(const Process& program) {
    return program.ending().has_value();
}

bool all_ended(const std::vector<Process>& programs) {
    return std::all_of(programs.begin(), programs.end(), has_ended);
}

void read_rest(std::vector<Process>& programs) {
    watch(programs, Clock::now() + std::chrono::seconds(1), [&] {
        return std::all_of(programs.begin(), programs.end(),
                           [](const Process& program) { return program.output_fd() < 0; });
    });
}

void kill_running(std::vector<Process>& programs) {
    for (Process& program : programs) {
        if (!has_ended(program)) {
            say("%s still runs and is killed", program.name().c_str());
            program.print_state();
            program.kill_group(SIGKILL);
        }
    }
    watch(programs, Clock::now() + std::chrono::seconds(5), [&] { return all_ended(programs); });
}

}  // namespace

bool watch(std::vector<Process>& programs, Clock::time_point end,
           const std::function<bool()>& done) {
    while (!done()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        if (left.count() <= 0) {
            return false;
        }
        serve_once(programs, static_cast<int>(std::min<long long>(left.count(), 100)));
    }
    return true;
}

bool watch_all(std::vector<Process>& programs, Clock::time_point end,
               const std::function<bool(const Process&)>& wrong) {
    const auto went_wrong = [&] {
        return std::any_of(programs.begin(), programs.end(),
                           [&](const Process& p) { return has_ended(p) && wrong(p); });
    };
    watch(programs, end, [&] { return all_ended(programs) || went_wrong(); });
    if (went_wrong()) {
        watch(programs, std::min(end, Clock::now() + kGrace), [&] { return all_ended(programs); });
    }
    const bool in_time = all_ended(programs);
    if (!in_time) {
        kill_running(programs);
    }
    read_rest(programs);
    return in_time;
}

bool nothing_left_running(std::vector<Process>& programs) {
    bool clean = true;
    for (const Process& program : programs) {
        if (!program.group_is_empty()) {
            say("%s left a process behind", program.name().c_str());
            clean = false;
        }
    }
    return clean;
}

}  // namespace driver
