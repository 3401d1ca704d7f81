// SPDX-License-Identifier: BSD-3-Clause
#include "harness.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace harness {

std::vector<Line> lines;
int allocations = 0;

namespace {

int allocation_to_fail = 0;
bool later_ones_too = false;
int live = 0;
int live_at_start = 0;

__attribute__((format(printf, 5, 6))) void keep_line(rpma_log_level level, const char* file,
                                                     const int /*number*/, const char* function,
                                                     const char* format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    lines.push_back({level, file, function, text});
}

}  // namespace

void capture(rpma_log_level threshold) {
    rpma_log_set_threshold(RPMA_LOG_THRESHOLD, threshold);
    rpma_log_set_function(keep_line);
    lines.clear();
}

void fail_allocation(int nth, bool lasting) {
    allocation_to_fail = nth > 0 ? allocations + nth : 0;
    later_ones_too = lasting;
}

/// Counts an allocation; whether it has to fail.
bool fails() {
    ++allocations;
    return allocation_to_fail != 0 && (allocations == allocation_to_fail ||
                                       (later_ones_too && allocations > allocation_to_fail));
}

int live_allocations() {
    return live - live_at_start;
}

int set_up(void** /*state*/) {
    fake::reset();
    capture(RPMA_LOG_LEVEL_WARNING);
    live_at_start = live;
    fail_allocation(0);
    return 0;
}

int tear_down(void** /*state*/) {
    int bad = 0;
    for (const auto& [name, number] : fake::world.live) {
        if (number != 0) {
            print_error("%d object(s) of kind %s left behind\n", number, name.c_str());
            bad = -1;
        }
    }
    for (const std::string& fault : fake::world.faults_seen) {
        print_error("%s\n", fault.c_str());
        bad = -1;
    }
    if (live_allocations() != 0) {
        print_error("%d allocation(s) left behind\n", live_allocations());
        bad = -1;
    }
    return bad;
}

void expect_failure_line(const char* function, const std::string& part) {
    for (const Line& line : lines) {
        print_message("%s: %s", line.function.c_str(), line.text.c_str());
    }
    assert_int_equal(lines.size(), 1);
    assert_string_equal(lines[0].function.c_str(), function);
    assert_int_equal(lines[0].level, RPMA_LOG_LEVEL_ERROR);
    assert_int_equal(lines[0].text.back(), '\n');
    if (lines[0].text.find(part) == std::string::npos) {
        print_error("\"%s\" is not in the line: %s", part.c_str(), lines[0].text.c_str());
        _fail(__FILE__, __LINE__);
    }
}

rpma_peer* make_peer() {
    rpma_peer* peer = nullptr;
    EXPECT_OK(rpma_peer_new(fake::context(), &peer));
    return peer;
}

rpma_conn_req* make_request(rpma_peer* peer, const rpma_conn_cfg* cfg) {
    rpma_conn_req* req = nullptr;
    EXPECT_OK(rpma_conn_req_new(peer, "192.0.2.1", "7204", cfg, &req));
    return req;
}

rpma_conn* make_connection(rpma_peer* peer, const rpma_conn_cfg* cfg) {
    rpma_conn_req* req = make_request(peer, cfg);
    rpma_conn* conn = nullptr;
    EXPECT_OK(rpma_conn_req_connect(&req, nullptr, &conn));
    return conn;
}

rpma_mr_local* make_region(rpma_peer* peer, void* memory, std::size_t size, int usage) {
    rpma_mr_local* region = nullptr;
    EXPECT_OK(rpma_mr_reg(peer, memory, size, usage, &region));
    return region;
}

std::vector<unsigned char> descriptor(std::uint64_t address, std::uint64_t size, std::uint32_t rkey,
                                      int usage) {
    std::vector<unsigned char> bytes;
    for (int i = 0; i < 8; ++i) {
        bytes.push_back(static_cast<unsigned char>(address >> (8 * i)));
    }
    for (int i = 0; i < 8; ++i) {
        bytes.push_back(static_cast<unsigned char>(size >> (8 * i)));
    }
    for (int i = 0; i < 4; ++i) {
        bytes.push_back(static_cast<unsigned char>(rkey >> (8 * i)));
    }
    bytes.push_back(static_cast<unsigned char>(usage));
    return bytes;
}

rpma_mr_remote* make_remote(std::uint64_t address, std::uint64_t size, std::uint32_t rkey,
                            int usage) {
    const auto bytes = descriptor(address, size, rkey, usage);
    rpma_mr_remote* region = nullptr;
    EXPECT_OK(rpma_mr_remote_from_descriptor(bytes.data(), bytes.size(), &region));
    return region;
}

std::vector<std::vector<std::string>> read_table(const std::string& name) {
    std::ifstream file(std::string(GOLDEN_DIR) + "/" + name);
    std::vector<std::vector<std::string>> rows;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::vector<std::string> row;
        std::stringstream stream(line);
        std::string field;
        while (std::getline(stream, field, '\t')) {
            row.push_back(field);
        }
        rows.push_back(row);
    }
    return rows;
}

std::vector<unsigned char> from_hex(const std::string& hex) {
    std::vector<unsigned char> bytes;
    for (std::size_t i = 0; hex != "-" && i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<unsigned char>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

std::string to_hex(const unsigned char* bytes, std::size_t size) {
    std::string hex;
    for (std::size_t i = 0; i < size; ++i) {
        char digits[3];
        snprintf(digits, sizeof(digits), "%02x", bytes[i]);
        hex += digits;
    }
    return hex;
}

}  // namespace harness

namespace harness {

namespace {

constexpr std::size_t kPage = 4096;
void* next_allocation = nullptr;  ///< where it has to be
int munmap_error = 0;

void* take_place() {
    return std::exchange(next_allocation, nullptr);
}

bool is_lone(const void* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    return address != 0 && (address & (address - 1)) == 0;
}

}  // namespace

LoneBit::LoneBit(const void* other) {
    const auto avoided = reinterpret_cast<std::uintptr_t>(other);
    for (unsigned bit = 20; bit < 47 && page_ == nullptr; ++bit) {
        const std::uintptr_t address = std::uintptr_t{1} << bit;
        if ((avoided & address) != 0) {
            continue;
        }
        void* wanted = reinterpret_cast<void*>(address);
        void* got = mmap(wanted, kPage, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == wanted) {
            page_ = got;
        } else if (got != MAP_FAILED) {
            munmap(got, kPage);
        }
    }
    assert_non_null(page_);
}

LoneBit::~LoneBit() {
    munmap(page_, kPage);
}

void fail_munmap(int err) {
    munmap_error = err;
}

void LoneBit::take_next_allocation() const {
    next_allocation = page_;
}

}  // namespace harness

// The linker hands the library's allocations to these (--wrap).
extern "C" {

void* __real_malloc(size_t size);
void __real_free(void* memory);
void* __wrap_malloc(size_t size);
// Compilers make calloc() of malloc() and zeros.
void* __real_calloc(size_t number, size_t size);
void* __wrap_calloc(size_t number, size_t size);
void __wrap_free(void* memory);
void* __real_mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void* memory, size_t size);
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void* memory, size_t size);

void* __wrap_malloc(size_t size) {
    if (harness::fails()) {
        return nullptr;
    }
    ++harness::live;
    void* const placed = harness::take_place();
    return placed != nullptr ? placed : __real_malloc(size);
}

void* __wrap_calloc(size_t number, size_t size) {
    if (harness::fails()) {
        return nullptr;
    }
    ++harness::live;
    void* const placed = harness::take_place();
    return placed != nullptr ? std::memset(placed, 0, number * size) : __real_calloc(number, size);
}

void __wrap_free(void* memory) {
    harness::live -= memory != nullptr ? 1 : 0;
    if (!harness::is_lone(memory)) {
        __real_free(memory);
    }
}

void* __wrap_mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
    if (harness::fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* const got = __real_mmap(at, size, protection, flags, fd, offset);
    harness::live += got != MAP_FAILED ? 1 : 0;
    return got;
}

int __wrap_munmap(void* memory, size_t size) {
    --harness::live;
    const int result = __real_munmap(memory, size);
    const int err = std::exchange(harness::munmap_error, 0);
    if (err == 0) {
        return result;
    }
    errno = err;
    return -1;
}
}
