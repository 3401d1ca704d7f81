// SPDX-License-Identifier: BSD-3-Clause
// Every rdma-core call and every allocation of every life is made to fail, each at every place,
// once and for good. After each: the right code and exactly one line that names the call and the
// reason, nothing left behind (objects, memory, descriptors), nothing dangling; and the objects
// are usable, or gone, as documented.
#include <dirent.h>

#include <cerrno>

#include "life.hpp"

namespace {

using fake::world;
using faults::Life;
using faults::Run;

/// Calls that have no result, and the question whether there is a device at all.
bool cannot_fail(const std::string& call) {
    static const std::set<std::string> calls = {"ibv_ack_cq_events", "rdma_destroy_qp",
                                                "rdma_destroy_event_channel", "rdma_freeaddrinfo",
                                                "ibv_get_device_list"};
    return calls.count(call) != 0;
}

int open_descriptors() {
    int count = 0;
    DIR* directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory) != nullptr) {
        ++count;
    }
    closedir(directory);
    return count;
}

struct Fault {
    std::string call;  ///< "malloc" for an allocation
    int nth;
    bool persistent;
};

[[noreturn]] void complain(const Life& life, const Fault& fault, const char* what) {
    print_error("%s, %s %d%s: %s\n", life.name, fault.call.c_str(), fault.nth,
                fault.persistent ? " and later" : "", what);
    _fail(__FILE__, __LINE__);
    abort();
}

/// What one fault of this kind must make of the call that meets it.
bool is_right(const Fault& fault, int code) {
    if (fault.call == "malloc") {
        return code == RPMA_E_NOMEM;
    }
    return code == RPMA_E_PROVIDER ||
           (fault.call == "ibv_get_cq_event" && code == RPMA_E_NO_COMPLETION);
}

bool names_the_cause(const Fault& fault, const std::string& line) {
    if (fault.call == "malloc") {
        return line.find("out of memory") != std::string::npos ||
               line.find("mmap") != std::string::npos;
    }
    const std::string name = fault.call == "wr_complete" ? "ibv_wr_" : fault.call;
    return line.find(name) != std::string::npos && line.find("EIO") != std::string::npos;
}

void check(const Life& life, const Fault& fault, const Run& run) {
    if (run.codes().empty() && life.made_good.count(fault.call) == 0) {
        complain(life, fault, "no call failed");
    }
    for (const int code : run.codes()) {
        // What follows a lasting fault has its own codes: an event that nobody waited for.
        if (!fault.persistent && !is_right(fault, code)) {
            complain(life, fault, rpma_err_2str(code));
        }
    }
    for (const std::string& line : run.lines()) {
        if (!fault.persistent && life.made_good.count(fault.call) == 0 &&
            !names_the_cause(fault, line)) {
            complain(life, fault, line.c_str());
        }
    }
}

void run_with(const Life& life, const Fault& fault) {
    const int descriptors = open_descriptors();
    fake::reset();
    if (fault.call == "malloc") {
        harness::fail_allocation(fault.nth, fault.persistent);
    } else {
        world.fail(fault.call, fault.nth, EIO);
        world.plans[fault.call].back().lasting = fault.persistent;
    }
    Run run(fault.persistent);
    life.live(run);
    harness::fail_allocation(0);
    check(life, fault, run);
    if (harness::tear_down(nullptr) != 0) {
        complain(life, fault, "left behind");
    }
    if (open_descriptors() != descriptors) {
        complain(life, fault, "a descriptor was left open");
    }
}

/// How often each of rdma-core's functions is called, and how many allocations there are.
std::map<std::string, int> count_calls(const Life& life) {
    fake::reset();
    const int before = harness::allocations;
    Run clean(false);
    life.live(clean);
    assert_int_equal(clean.codes().size(), 0);
    assert_int_equal(harness::tear_down(nullptr), 0);
    std::map<std::string, int> calls;
    for (const std::string& call : world.calls) {
        calls[call] += cannot_fail(call) ? 0 : 1;
    }
    calls["malloc"] = harness::allocations - before;
    return calls;
}

void every_call_and_allocation_can_fail_everywhere(void**) {
    std::set<std::string> failed;
    int injected = 0;
    for (const Life& life : faults::kLives) {
        for (const auto& [call, times] : count_calls(life)) {
            for (int nth = 1; nth <= times; ++nth) {
                run_with(life, {call, nth, false});
                run_with(life, {call, nth, true});
                failed.insert(call);
                injected += 2;
            }
        }
    }
    print_message("%d faults in %zu functions\n", injected, failed.size());
    // 27 functions with a result that the library imports, 9 that are inline, and malloc.
    assert_int_equal(failed.size(), 37);
    assert_true(injected > 600);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(every_call_and_allocation_can_fail_everywhere),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
