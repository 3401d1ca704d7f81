// SPDX-License-Identifier: BSD-3-Clause
// What the unit tests of librpma share: cmocka, the fake device, captured log lines, and a check
// after each test that nothing was left behind.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first, and is not made for C++.
extern "C" {
#include <cmocka.h>
}
// A macro of so common a name breaks the standard library's headers.
#undef fail
#include <librpma.h>

#include <string>
#include <vector>

#include "mock/fake_rdma.hpp"

namespace harness {

/// Bits of the device for fake::world.cap_flags_ex. What rdma-core's
/// headers do not know is not used, whatever the device says.
constexpr std::uint64_t kCapFlush = 3ULL << 38;
constexpr std::uint64_t kCapAtomicWrite = 1ULL << 40;
#ifdef RPMA_HAVE_NATIVE_FLUSH
constexpr bool kHeadersKnowFlush = true;
#else
constexpr bool kHeadersKnowFlush = false;
#endif

struct Line {
    rpma_log_level level;
    std::string file, function, text;
};

/// Lines of level error and above since the last clear; filled by the log function in use.
extern std::vector<Line> lines;
/// Thresholds passed: which lines are captured.
void capture(rpma_log_level threshold);

/// Allocations and mappings of the library: number so far, and the one (counted from now, from 1;
/// 0: none) that fails, or with all later ones.
extern int allocations;
void fail_allocation(int nth, bool lasting = false);
int live_allocations();
/// The next munmap() does its work and reports this all the same.
void fail_munmap(int err);

/// A page whose address has a single bit, which is not in other's either: two such addresses have
/// no bit in common.
class LoneBit {
public:
    explicit LoneBit(const void* other = nullptr);
    ~LoneBit();
    LoneBit(const LoneBit&) = delete;
    LoneBit& operator=(const LoneBit&) = delete;

    [[nodiscard]] void* page() const { return page_; }
    /// The library's next allocation is this page.
    void take_next_allocation() const;

private:
    void* page_ = nullptr;
};

int set_up(void** state);
/// Fails if objects, events or memory are left, or if something would have blocked or dangled.
int tear_down(void** state);

/// The call gave this code, and exactly one line, which names the function and contains the text.
void expect_failure_line(const char* function, const std::string& part);

#define EXPECT_FAILS(code, call, part)                                                       \
    do {                                                                                     \
        harness::lines.clear();                                                              \
        assert_int_equal(call, code);                                                        \
        const std::string text_of_call = #call;                                              \
        harness::expect_failure_line(text_of_call.substr(0, text_of_call.find('(')).c_str(), \
                                     part);                                                  \
    } while (0)

#define EXPECT_OK(call) assert_int_equal(call, 0)

#define TEST(function) \
    cmocka_unit_test_setup_teardown(function, harness::set_up, harness::tear_down)

/// An object that out-parameters are compared with: a failing call must leave it.
template <typename T>
T* untouched() {
    return reinterpret_cast<T*>(std::uintptr_t{0xdead0});
}

// Objects for tests, made without a hitch; deleted by the test.
rpma_peer* make_peer();
rpma_conn_req* make_request(rpma_peer* peer, const rpma_conn_cfg* cfg = nullptr);
rpma_conn* make_connection(rpma_peer* peer, const rpma_conn_cfg* cfg = nullptr);
rpma_mr_local* make_region(rpma_peer* peer, void* memory, std::size_t size, int usage);
/// From a descriptor made here: any address and size.
rpma_mr_remote* make_remote(std::uint64_t address, std::uint64_t size, std::uint32_t rkey,
                            int usage);
std::vector<unsigned char> descriptor(std::uint64_t address, std::uint64_t size, std::uint32_t rkey,
                                      int usage);

/// Rows of a tab-separated file of tests/unit/librpma/golden without its head.
std::vector<std::vector<std::string>> read_table(const std::string& name);
std::vector<unsigned char> from_hex(const std::string& hex);
std::string to_hex(const unsigned char* bytes, std::size_t size);

}  // namespace harness
