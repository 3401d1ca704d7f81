// SPDX-License-Identifier: BSD-3-Clause
// What the transport tells the account of persistent memory: writes, reads, messages, and native
// flushes, which programs can only post where rdma-core's headers know them. The platform, adr with
// DDIO, comes from the environment, as it does for users.
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "cmocka.hpp"
#include "endpoints.hpp"
#include "memory/persistence/door.hpp"
#include "memory/persistence/tracker.hpp"

using namespace fabric;
using namespace fabric::test;
using memory::persistence::Kind;
using memory::persistence::Stage;
using memory::persistence::Tracker;

namespace {

constexpr std::size_t kSize = 4096;
constexpr std::size_t kPayload = 256;

// A file with a name, mapped and registered at b.
class PersistentMemory {
public:
    explicit PersistentMemory(const ibv_pd* pd) {
        std::string name = (std::filesystem::temp_directory_path() / "test-file-XXXXXX").string();
        const int fd = mkstemp(name.data());
        assert_true(fd >= 0);
        name_ = name;
        assert_int_equal(ftruncate(fd, kSize), 0);
        base_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_ptr_not_equal(base_, MAP_FAILED);
        close(fd);
        assert_int_equal(
            memory::Table::instance().add(pd, base_, kSize, address(), kAllAccess, &region_), 0);
    }
    ~PersistentMemory() {
        memory::Table::instance().retire(region_);
        memory::Table::instance().free(region_);
        munmap(base_, kSize);
        std::filesystem::remove(name_);
    }
    PersistentMemory(const PersistentMemory&) = delete;
    PersistentMemory& operator=(const PersistentMemory&) = delete;

    std::uint64_t address(std::size_t offset = 0) const {
        return reinterpret_cast<std::uintptr_t>(base_) + offset;
    }
    const void* bytes() const { return base_; }
    std::uint32_t key() const { return region_->key; }

private:
    std::string name_;
    void* base_ = nullptr;
    memory::Region* region_ = nullptr;
};

struct Scene {
    Pair pair;
    Block source{pair.a.pd(), kPayload};
    PersistentMemory target{pair.b.pd()};

    void write(std::size_t offset) {
        assert_int_equal(post(pair.a, {.opcode = IBV_WR_RDMA_WRITE,
                                       .sges = {source.sge(0, kPayload)},
                                       .remote = target.address(offset),
                                       .rkey = target.key()}),
                         0);
        done();
    }
    void flush(std::uint8_t type, std::uint8_t level, std::size_t offset) {
        post_flush(type, level, offset);
        done();
    }
    void post_flush(std::uint8_t type, std::uint8_t level, std::size_t offset) {
        rc::Endpoint::NativeRequest request{};
        request.kind = rc::Endpoint::NativeRequest::Kind::Flush;
        request.send_flags = IBV_SEND_SIGNALED;
        request.remote_address = target.address(offset);
        request.rkey = target.key();
        request.length = kPayload;
        request.type = type;
        request.level = level;
        assert_int_equal(pair.a.endpoint.post_native(request), 0);
    }
    void done() {
        pair.run();
        const rc::Completion completion = pair.a.sent();
        assert_int_equal(completion.wc.status, IBV_WC_SUCCESS);
        pair.a.endpoint.release_send_slots(completion.send_slots);
    }
};

std::size_t at_risk() {
    return Tracker::instance().model().operations().size();
}

std::uint64_t useless_flushes() {
    return Tracker::instance().notes().flushes.count;
}

void a_write_is_at_risk_until_a_native_flush_for_persistence(void**) {
    Scene scene;
    const std::size_t before = at_risk();
    scene.write(0);
    scene.write(1024);
    assert_int_equal(at_risk(), before + 2);
    scene.flush(1, 0, 0);  // visibility
    assert_int_equal(at_risk(), before + 2);
    scene.flush(2, 0, 0);
    assert_int_equal(at_risk(), before + 1);
    scene.flush(2, 1, 0);  // the whole region
    assert_int_equal(at_risk(), before);
}

void a_read_persists_nothing_here(void**) {
    Scene scene;
    const std::size_t before = at_risk();
    scene.write(0);
    assert_int_equal(post(scene.pair.a, {.opcode = IBV_WR_RDMA_READ,
                                         .sges = {scene.source.sge(0, 8)},
                                         .remote = scene.target.address(),
                                         .rkey = scene.target.key()}),
                     0);
    scene.done();
    assert_int_equal(at_risk(), before + 1);
    memory::persistence::persisted(scene.target.bytes(), kPayload);
    assert_int_equal(at_risk(), before);
}

void a_second_native_flush_is_for_nothing(void**) {
    Scene scene;
    scene.write(0);
    const std::uint64_t before = useless_flushes();
    scene.flush(2, 0, 0);
    assert_int_equal(useless_flushes(), before);
    scene.flush(2, 0, 0);
    assert_int_equal(useless_flushes(), before + 1);
}

const memory::persistence::Operation& latest() {
    return Tracker::instance().model().operations().rbegin()->second;
}

void the_payload_of_a_send_becomes_visible_by_its_completion(void**) {
    Scene scene;
    const std::size_t before = at_risk();
    scene.pair.b.receive(1, {{scene.target.address(), kPayload, scene.target.key()}});
    assert_int_equal(post(scene.pair.a, {.sges = {scene.source.sge(0, kPayload)}}), 0);
    scene.done();
    scene.pair.b.received();
    assert_int_equal(at_risk(), before + 1);
    assert_true(latest().kind == Kind::Send && latest().stage == Stage::Visible);
    memory::persistence::persisted(scene.target.bytes(), kPayload);
    assert_int_equal(at_risk(), before);
}

void a_write_with_immediate_becomes_visible_by_its_completion(void**) {
    Scene scene;
    const std::size_t before = at_risk();
    scene.pair.b.receive(1, {});
    assert_int_equal(post(scene.pair.a, {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                                         .sges = {scene.source.sge(0, kPayload)},
                                         .remote = scene.target.address(),
                                         .rkey = scene.target.key()}),
                     0);
    scene.done();
    scene.pair.b.received();
    assert_true(latest().kind == Kind::WriteImm && latest().stage == Stage::Visible);
    memory::persistence::persisted(scene.target.bytes(), kPayload);
    assert_int_equal(at_risk(), before);
}

void atomics_are_operations_if_they_change_the_word(void**) {
    Scene scene;
    const std::size_t before = at_risk();
    const auto atomic = [&scene](ibv_wr_opcode opcode, std::uint64_t compare_add) {
        assert_int_equal(post(scene.pair.a, {.opcode = opcode,
                                             .sges = {scene.source.sge(0, 8)},
                                             .remote = scene.target.address(),
                                             .rkey = scene.target.key(),
                                             .compare_add = compare_add,
                                             .swap = 7}),
                         0);
        scene.done();
    };
    atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 5);
    assert_true(latest().kind == Kind::FetchAdd && latest().stage == Stage::Adapter);
    const std::uint64_t number = latest().number;
    atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 4);  // it is 5
    assert_int_equal(latest().number, number);
    atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 5);
    assert_true(latest().kind == Kind::CompareSwap && latest().stage == Stage::Adapter);
    scene.flush(2, 0, 0);
    assert_int_equal(at_risk(), before);
}

void an_atomic_write_is_at_risk_like_others(void**) {
    Scene scene;
    const std::size_t before = at_risk();
    rc::Endpoint::NativeRequest request{};
    request.kind = rc::Endpoint::NativeRequest::Kind::AtomicWrite;
    request.send_flags = IBV_SEND_SIGNALED;
    request.remote_address = scene.target.address();
    request.rkey = scene.target.key();
    request.value.fill(std::byte{1});
    assert_int_equal(scene.pair.a.endpoint.post_native(request), 0);
    scene.done();
    assert_int_equal(at_risk(), before + 1);
    assert_true(latest().kind == Kind::AtomicWrite && latest().stage == Stage::Adapter);
    scene.flush(2, 0, 0);
    assert_int_equal(at_risk(), before);
}

// Counted events of a write behind a flush that nobody has waited for.
std::uint64_t events_of_pipeline(ibv_wr_opcode opcode, unsigned flags) {
    Scene scene;
    scene.write(0);
    const std::uint64_t before = Tracker::instance().events();
    scene.pair.b.receive(1, {});
    scene.post_flush(2, 0, 0);
    assert_int_equal(post(scene.pair.a, {.opcode = opcode,
                                         .flags = IBV_SEND_SIGNALED | flags,
                                         .sges = {scene.source.sge(0, kPayload)},
                                         .remote = scene.target.address(1024),
                                         .rkey = scene.target.key()}),
                     0);
    scene.done();
    scene.done();
    scene.flush(2, 1, 0);
    return Tracker::instance().events() - before;
}

// Flush, write, flush; that the first may not be done yet when the write is there; and a message.
void a_posted_write_may_overtake_a_flush(void**) {
    assert_int_equal(events_of_pipeline(IBV_WR_RDMA_WRITE, IBV_SEND_FENCE), 3);
    assert_int_equal(events_of_pipeline(IBV_WR_RDMA_WRITE, 0), 4);
    assert_int_equal(events_of_pipeline(IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_FENCE), 4);
    assert_int_equal(events_of_pipeline(IBV_WR_RDMA_WRITE_WITH_IMM, 0), 5);
}

}  // namespace

int main() {
    if (!memory::persistence::on()) {
        print_error("RPMA_FABRIC_PLATFORM=adr is not set\n");
        return 1;
    }
    const CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_at_risk_until_a_native_flush_for_persistence),
        cmocka_unit_test(a_read_persists_nothing_here),
        cmocka_unit_test(a_second_native_flush_is_for_nothing),
        cmocka_unit_test(the_payload_of_a_send_becomes_visible_by_its_completion),
        cmocka_unit_test(a_write_with_immediate_becomes_visible_by_its_completion),
        cmocka_unit_test(atomics_are_operations_if_they_change_the_word),
        cmocka_unit_test(an_atomic_write_is_at_risk_like_others),
        cmocka_unit_test(a_posted_write_may_overtake_a_flush),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
