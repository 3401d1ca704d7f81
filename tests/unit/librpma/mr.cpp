// SPDX-License-Identifier: BSD-3-Clause
// Memory regions: access rights, registration failures, descriptors against the recorded bytes.
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "harness.hpp"

namespace {

using fake::world;

constexpr int kLw = IBV_ACCESS_LOCAL_WRITE, kRr = IBV_ACCESS_REMOTE_READ,
              kRw = IBV_ACCESS_REMOTE_WRITE;

struct Access {
    int usage, infiniband, iwarp;
};

const Access kAccess[] = {
    {0x01, kRr, kRr}, {0x02, kLw, kLw | kRw}, {0x04, kLw, kLw}, {0x08, kLw | kRw, kLw | kRw},
    {0x10, kRr, kRr}, {0x20, kRr, kRr},       {0x40, 0, 0},     {0x80, kLw, kLw},
};

void check_access(bool iwarp) {
    fake::context()->device->transport_type = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
    char memory[8];
    rpma_peer* peer = harness::make_peer();
    for (int usage = 1; usage <= 0xff; ++usage) {
        int expected = 0;
        for (const Access& row : kAccess) {
            expected |= (usage & row.usage) != 0 ? (iwarp ? row.iwarp : row.infiniband) : 0;
        }
        rpma_mr_local* region = harness::make_region(peer, memory, sizeof(memory), usage);
        assert_int_equal(world.last_access, expected);
        EXPECT_OK(rpma_mr_dereg(&region));
    }
    EXPECT_OK(rpma_peer_delete(&peer));
    fake::context()->device->transport_type = IBV_TRANSPORT_IB;
}

void usages_give_access_rights(void**) {
    check_access(false);
    check_access(true);
}

void getters_tell_what_was_registered(void**) {
    char memory[100];
    rpma_peer* peer = harness::make_peer();
    rpma_mr_local* region = harness::make_region(peer, memory + 1, 99, 1);
    void* start = nullptr;
    size_t size = 0;
    EXPECT_OK(rpma_mr_get_ptr(region, &start));
    EXPECT_OK(rpma_mr_get_size(region, &size));
    assert_ptr_equal(start, memory + 1);
    assert_int_equal(size, 99);
    EXPECT_OK(rpma_mr_dereg(&region));
    assert_null(region);
    EXPECT_OK(rpma_peer_delete(&peer));
}

void memory_that_cannot_be_pinned_is_registered_on_demand(void**) {
    char memory[8];
    rpma_mr_local* region = harness::untouched<rpma_mr_local>();
    world.pins = false;
    rpma_peer* peer = harness::make_peer();
    EXPECT_OK(rpma_mr_reg(peer, memory, 8, 1, &region));
    assert_int_equal(world.last_access, kRr | IBV_ACCESS_ON_DEMAND);
    EXPECT_OK(rpma_mr_dereg(&region));
    EXPECT_OK(rpma_peer_delete(&peer));
    // Not by a device that cannot, and not after another failure.
    world.odp_rc = IBV_ODP_SUPPORT_READ;
    peer = harness::make_peer();
    region = harness::untouched<rpma_mr_local>();
    const int before = world.count("ibv_reg_mr");
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_mr_reg(peer, memory, 8, 1, &region), "EOPNOTSUPP");
    assert_int_equal(world.count("ibv_reg_mr"), before + 1);
    assert_ptr_equal(region, harness::untouched<rpma_mr_local>());
    EXPECT_OK(rpma_peer_delete(&peer));
}

void failing_registrations_tell_why(void**) {
    char memory[8];
    rpma_peer* peer = harness::make_peer();
    rpma_mr_local* region = harness::untouched<rpma_mr_local>();
    rlimit limit = {};
    EXPECT_OK(getrlimit(RLIMIT_MEMLOCK, &limit));
    const rlimit low = {65536, limit.rlim_max};
    EXPECT_OK(setrlimit(RLIMIT_MEMLOCK, &low));
    world.fail("ibv_reg_mr", 1, ENOMEM);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_mr_reg(peer, memory, 8, 1, &region), "of 8 bytes");
    assert_true(harness::lines[0].text.find("ulimit -l") != std::string::npos);
    assert_true(harness::lines[0].text.find("65536 bytes") != std::string::npos);
    EXPECT_OK(setrlimit(RLIMIT_MEMLOCK, &limit));
    world.fail("ibv_reg_mr", 1, EFAULT);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_mr_reg(peer, memory, 8, 1, &region), "EFAULT");
    assert_true(harness::lines[0].text.find("ulimit") == std::string::npos);
    harness::fail_allocation(1);
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_mr_reg(peer, memory, 8, 1, &region), "out of memory");
    assert_ptr_equal(region, harness::untouched<rpma_mr_local>());
    region = harness::make_region(peer, memory, 8, 1);
    world.fail("ibv_dereg_mr", 1, EBUSY);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_mr_dereg(&region), "ibv_dereg_mr");
    assert_null(region);
    EXPECT_OK(rpma_peer_delete(&peer));
}

void a_descriptor_holds_the_region(void**) {
    char memory[64];
    rpma_peer* peer = harness::make_peer();
    rpma_mr_local* region = harness::make_region(peer, memory, sizeof(memory), 0x18);
    size_t size = 0;
    EXPECT_OK(rpma_mr_get_descriptor_size(region, &size));
    assert_int_equal(size, 21);
    const auto expected =
        harness::descriptor(reinterpret_cast<std::uintptr_t>(memory), 64, world.mrs[0]->rkey, 0x18);
    for (int shift = 0; shift < 8; ++shift) {
        unsigned char bytes[32];
        std::memset(bytes, 0x5a, sizeof(bytes));
        EXPECT_OK(rpma_mr_get_descriptor(region, bytes + shift));
        assert_memory_equal(bytes + shift, expected.data(), 21);
        assert_int_equal(bytes[shift + 21], 0x5a);
        rpma_mr_remote* remote = nullptr;
        EXPECT_OK(rpma_mr_remote_from_descriptor(bytes + shift, 21, &remote));
        EXPECT_OK(rpma_mr_remote_get_size(remote, &size));
        assert_int_equal(size, 64);
        EXPECT_OK(rpma_mr_remote_delete(&remote));
    }
    EXPECT_OK(rpma_mr_dereg(&region));
    EXPECT_OK(rpma_peer_delete(&peer));
}

/// A descriptor that is understood, as this.
void expect_remote(const unsigned char* bytes, std::size_t given, std::uint64_t size, int flushes) {
    rpma_mr_remote* remote = nullptr;
    EXPECT_OK(rpma_mr_remote_from_descriptor(bytes, given, &remote));
    size_t got = 0;
    int flush = -1;
    EXPECT_OK(rpma_mr_remote_get_size(remote, &got));
    EXPECT_OK(rpma_mr_remote_get_flush_type(remote, &flush));
    assert_int_equal(got, size);
    assert_int_equal(flush, flushes);
    EXPECT_OK(rpma_mr_remote_delete(&remote));
    assert_null(remote);
}

/// Registers memory and then makes the fake MR report the recorded values. The library reads
/// address and size when registering, so the fake does it there.
void descriptors_equal_the_recorded_ones(void**) {
    int rows = 0;
    for (const auto& row : harness::read_table("mr_descriptors.tsv")) {
        const std::uint64_t address = std::stoull(row[0], nullptr, 16);
        const std::uint64_t size = std::stoull(row[1]);
        const auto rkey = static_cast<std::uint32_t>(std::stoul(row[2], nullptr, 16));
        const int usage = std::stoi(row[3], nullptr, 16);
        rpma_peer* peer = harness::make_peer();
        world.override_mr = true;
        world.override_values = {address, size, rkey};
        char memory = 0;
        rpma_mr_local* region = harness::make_region(peer, &memory, 1, usage);
        world.override_mr = false;
        for (int shift = 0; shift < 8; ++shift) {
            alignas(8) unsigned char bytes[32] = {};
            EXPECT_OK(rpma_mr_get_descriptor(region, bytes + shift));
            assert_string_equal(harness::to_hex(bytes + shift, 21).c_str(), row[4].c_str());
            // And the way back: whatever was encoded is a possible region.
            expect_remote(bytes + shift, 21, size, usage & 0x30);
        }
        EXPECT_OK(rpma_mr_dereg(&region));
        EXPECT_OK(rpma_peer_delete(&peer));
        ++rows;
    }
    assert_int_equal(rows, 20);
}

/// Where the recorded library took what no honest peer can send, this one refuses.
bool is_refused_here(const std::string& note) {
    return note == "length 0" || note == "address + length wraps by one" || note == "all ones" ||
           note == "address, length and rkey 0";
}

void expect_refused(const unsigned char* bytes, std::size_t given) {
    rpma_mr_remote* remote = harness::untouched<rpma_mr_remote>();
    harness::lines.clear();
    assert_int_equal(rpma_mr_remote_from_descriptor(bytes, given, &remote), RPMA_E_INVAL);
    assert_int_equal(harness::lines.size(), 1);
    assert_ptr_equal(remote, harness::untouched<rpma_mr_remote>());
}

void descriptors_are_read_as_recorded(void**) {
    int refused_here = 0;
    for (const auto& row : harness::read_table("mr_decode.tsv")) {
        const auto bytes = harness::from_hex(row[0]);
        const bool stricter = is_refused_here(row[2]);
        refused_here += stricter ? 1 : 0;
        print_message("%s\n", row[2].c_str());
        for (std::size_t shift = 0; shift < 8; ++shift) {
            std::vector<unsigned char> shifted(shift, 0x5a);
            shifted.insert(shifted.end(), bytes.begin(), bytes.end());
            shifted.push_back(0);  // data() must not be NULL
            if (stricter || row[3] != "0") {
                expect_refused(shifted.data() + shift, bytes.size());
            } else {
                expect_remote(shifted.data() + shift, bytes.size(), std::stoull(row[5]),
                              std::stoi(row[6], nullptr, 16));
            }
        }
    }
    assert_int_equal(refused_here, 4);
    harness::fail_allocation(1);
    const auto good = harness::descriptor(0x1000, 1, 1, 1);
    rpma_mr_remote* remote = harness::untouched<rpma_mr_remote>();
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_mr_remote_from_descriptor(good.data(), 21, &remote),
                 "out of memory");
}

void advice_is_passed_on(void**) {
    char memory[64];
    rpma_peer* peer = harness::make_peer();
    rpma_mr_local* region = harness::make_region(peer, memory, sizeof(memory), 1);
    EXPECT_OK(rpma_mr_advise(region, 16, 48, 1, 1));
    assert_int_equal(world.advice, 1);
    assert_int_equal(world.advised.at(0).addr, reinterpret_cast<std::uintptr_t>(memory) + 16);
    assert_int_equal(world.advised.at(0).length, 48);
    assert_int_equal(world.advised.at(0).lkey, world.mrs[0]->lkey);
    const struct {
        int err, code;
    } rows[] = {{EOPNOTSUPP, RPMA_E_NOSUPP},
                {EFAULT, RPMA_E_INVAL},
                {EINVAL, RPMA_E_INVAL},
                {EIO, RPMA_E_PROVIDER},
                {ENOMEM, RPMA_E_PROVIDER}};
    for (const auto& row : rows) {
        world.fail("advise_mr", 1, row.err);
        EXPECT_FAILS(row.code, rpma_mr_advise(region, 0, 64, 9, 2), "advice 9, flags 0x2");
    }
    EXPECT_OK(rpma_mr_dereg(&region));
    EXPECT_OK(rpma_peer_delete(&peer));
}

/// The verb's length has 32 bits; a right range is never refused for that.
void advice_about_more_than_4_gib_is_passed_on_in_pieces(void**) {
    constexpr std::uint64_t kStart = 0x100000000;
    constexpr std::uint64_t kSize = (5ULL << 30) + 4096;
    rpma_peer* peer = harness::make_peer();
    world.override_mr = true;
    world.override_values = {kStart, kSize, 1};
    char memory = 0;
    rpma_mr_local* region = harness::make_region(peer, &memory, 1, 1);
    world.override_mr = false;
    EXPECT_OK(rpma_mr_advise(region, 4096, kSize - 4096, 1, 1));
    std::uint64_t next = kStart + 4096;
    for (const ibv_sge& part : world.advised) {
        assert_int_equal(part.addr, next);
        assert_int_equal(part.lkey, world.mrs.at(0)->lkey);
        assert_true(part.length > 0);
        next += part.length;
    }
    assert_int_equal(next, kStart + kSize);
    // The first failure ends it.
    world.advised.clear();
    world.fail("advise_mr", 2, EIO);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_mr_advise(region, 0, 1ULL << 32, 1, 1), "EIO");
    assert_int_equal(world.advised.size(), 1);
    // Nothing is asked for once, as it was given.
    world.advised.clear();
    EXPECT_OK(rpma_mr_advise(region, kSize, 0, 1, 1));
    assert_int_equal(world.advised.size(), 1);
    assert_int_equal(world.advised.at(0).length, 0);
    EXPECT_OK(rpma_mr_dereg(&region));
    EXPECT_OK(rpma_peer_delete(&peer));
}

/// Providers answer with an errno value, with a negative one, or with -1 and errno.
void the_reason_of_a_refused_end_is_told_in_any_form(void**) {
    char memory[8];
    rpma_peer* peer = harness::make_peer();
    for (const int form : {EBUSY, -EBUSY, -1}) {
        rpma_mr_local* region = harness::make_region(peer, memory, 8, 1);
        world.fail("ibv_dereg_mr", 1, EBUSY);
        world.destroy_form = form;
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_mr_dereg(&region), "EBUSY");
        assert_int_equal(errno, EBUSY);
    }
    EXPECT_OK(rpma_peer_delete(&peer));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(usages_give_access_rights),
        TEST(getters_tell_what_was_registered),
        TEST(memory_that_cannot_be_pinned_is_registered_on_demand),
        TEST(failing_registrations_tell_why),
        TEST(a_descriptor_holds_the_region),
        TEST(descriptors_equal_the_recorded_ones),
        TEST(descriptors_are_read_as_recorded),
        TEST(advice_is_passed_on),
        TEST(advice_about_more_than_4_gib_is_passed_on_in_pieces),
        TEST(the_reason_of_a_refused_end_is_told_in_any_form),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
