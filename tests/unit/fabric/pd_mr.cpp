// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <thread>
#include <vector>

#include "cmocka.hpp"
#include "queue_pairs.hpp"

using verbs_test::Device;
using verbs_test::Node;

namespace {

constexpr unsigned kLocalWrite = IBV_ACCESS_LOCAL_WRITE;
constexpr unsigned kRemoteRead = IBV_ACCESS_REMOTE_READ;

void a_domain_in_use_is_busy(void**) {
    Device device;
    std::array<char, 64> memory{};
    ibv_mr* const mr = device.register_memory(memory.data(), memory.size());
    assert_int_equal(ibv_dealloc_pd(device.pd), EBUSY);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    {
        Node node(device);
        assert_int_equal(ibv_dealloc_pd(device.pd), EBUSY);
    }
    ibv_srq_init_attr init{};
    init.attr = {4, 1, 0};
    ibv_srq* const srq = ibv_create_srq(device.pd, &init);
    assert_int_equal(ibv_dealloc_pd(device.pd), EBUSY);
    assert_int_equal(ibv_destroy_srq(srq), 0);
}

void wrong_registrations(void**) {
    Device device;
    std::array<char, 64> memory{};
    const auto refused = [&](void* address, std::size_t length, unsigned access, int error) {
        errno = 0;
        assert_null(ibv_reg_mr(device.pd, address, length, access));
        assert_int_equal(errno, error);
    };
    refused(memory.data(), 0, IBV_ACCESS_LOCAL_WRITE, EINVAL);
    refused(memory.data(), memory.size(), IBV_ACCESS_REMOTE_WRITE, EINVAL);
    refused(memory.data(), memory.size(), IBV_ACCESS_REMOTE_ATOMIC, EINVAL);
    refused(reinterpret_cast<void*>(0x1000), 64, IBV_ACCESS_LOCAL_WRITE, EFAULT);
    refused(memory.data(), SIZE_MAX, IBV_ACCESS_LOCAL_WRITE, EINVAL);
    refused(memory.data(), memory.size(), IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE, EOPNOTSUPP);
    refused(memory.data(), memory.size(), 1U << 19, EOPNOTSUPP);
}

void read_only_memory(void**) {
    Device device;
    void* const page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = 0;
    assert_null(ibv_reg_mr(device.pd, page, 4096, kLocalWrite));
    assert_int_equal(errno, EFAULT);
    ibv_mr* const mr = ibv_reg_mr(device.pd, page, 4096, kRemoteRead);
    assert_non_null(mr);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    munmap(page, 4096);
}

void hints_are_taken(void**) {
    Device device;
    std::array<char, 64> memory{};
    ibv_mr* const mr =
        ibv_reg_mr(device.pd, memory.data(), memory.size(),
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_ON_DEMAND);
    assert_non_null(mr);
    assert_int_equal(mr->lkey, mr->rkey);
    assert_ptr_equal(mr->addr, memory.data());
    assert_int_equal(mr->length, memory.size());
    assert_int_equal(ibv_dereg_mr(mr), 0);
}

void advice(void**) {
    Device device;
    std::vector<char> memory(3 * 4096);
    ibv_mr* const mr = device.register_memory(memory.data(), memory.size());
    ibv_mr* const read_only = ibv_reg_mr(device.pd, memory.data(), memory.size(), kRemoteRead);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const auto give = [&](ibv_advise_mr_advice what, std::uint32_t flags, std::uint64_t from,
                          std::uint32_t length, std::uint32_t key) {
        ibv_sge range = {from, length, key};
        return ibv_advise_mr(device.pd, what, flags, &range, 1);
    };
    for (const auto what : {IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
                            IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT})
        for (const std::uint32_t flags : {0U, std::uint32_t{IBV_ADVISE_MR_FLAG_FLUSH}}) {
            assert_int_equal(give(what, flags, address, 3 * 4096, mr->lkey), 0);
            assert_int_equal(give(what, flags, address + 5, 17, mr->lkey), 0);
        }
    const auto prefetch = IBV_ADVISE_MR_ADVICE_PREFETCH;
    assert_int_equal(give(prefetch, 0, address, 3 * 4096 + 1, mr->lkey), EFAULT);
    assert_int_equal(give(prefetch, 0, address - 1, 2, mr->lkey), EFAULT);
    assert_int_equal(give(prefetch, 2, address, 1, mr->lkey), EINVAL);
    assert_int_equal(give(static_cast<ibv_advise_mr_advice>(3), 0, address, 1, mr->lkey), EINVAL);
    assert_int_equal(give(prefetch, 0, address, 1, mr->lkey + 1000), ENOENT);
    assert_int_equal(give(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, address, 1, read_only->lkey),
                     EPERM);
    assert_int_equal(ibv_dereg_mr(read_only), 0);
    assert_int_equal(ibv_dereg_mr(mr), 0);
}

void registering_again(void**) {
    Device device;
    std::array<char, 64> first{};
    std::array<char, 128> second{};
    ibv_mr* const mr = device.register_memory(first.data(), first.size());
    const std::uint32_t key = mr->rkey;
    assert_int_equal(ibv_rereg_mr(mr, 0, nullptr, nullptr, 0, 0), IBV_REREG_MR_ERR_INPUT);
    assert_int_equal(
        ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, second.data(), 0, 0),
        IBV_REREG_MR_ERR_INPUT);
    assert_int_equal(
        ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, second.data(), second.size(), 0),
        0);
    assert_ptr_equal(mr->addr, second.data());
    assert_int_equal(mr->length, second.size());
    ibv_pd* const other = ibv_alloc_pd(device.context);
    assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS, other,
                                  nullptr, 0, IBV_ACCESS_REMOTE_READ),
                     0);
    assert_ptr_equal(mr->pd, other);
    assert_int_equal(mr->rkey, key);
    assert_int_equal(ibv_dealloc_pd(other), EBUSY);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    assert_int_equal(ibv_dealloc_pd(other), 0);
}

// The address of the word is aligned, the word is not: no CPU or adapter does that atomically.
void words_across_words(void**) {
    Device device;
    for (const std::size_t skew : {0U, 4U}) {
        Node a(device);
        Node b(device);
        verbs_test::connect(a, b);
        ibv_mr* const based = ibv_reg_mr(b.qp->pd, b.memory.data() + skew, 64,
                                         verbs_test::kAllRights | IBV_ACCESS_ZERO_BASED);
        assert_non_null(based);
        ibv_sge sge = a.piece(8);
        ibv_send_wr wr{};
        ibv_send_wr* bad = nullptr;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.wr.atomic.remote_addr = 8;
        wr.wr.atomic.rkey = based->rkey;
        wr.wr.atomic.compare_add = 1;
        assert_int_equal(ibv_post_send(a.qp, &wr, &bad), 0);
        assert_int_equal(a.next().status, skew == 0 ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR);
        assert_int_equal(std::to_integer<int>(b.memory[skew + 8]), skew == 0 ? 1 : 0);
        assert_int_equal(ibv_dereg_mr(based), 0);
    }
}

void another_start_for_the_peer(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    const auto offset = reinterpret_cast<std::uintptr_t>(b.memory.data() + 64) &
                        (static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
    const std::uint64_t start = 0x500000 + offset;
    const auto elsewhere = [&](std::uint64_t iova) {
        return ibv_reg_mr_iova(b.qp->pd, b.memory.data() + 64, 64, iova,
                               static_cast<int>(verbs_test::kAllRights));
    };
    assert_null(elsewhere(start + 8));
    assert_int_equal(errno, EINVAL);
    ibv_mr* const moved = elsewhere(start);
    assert_non_null(moved);
    a.memory[0] = std::byte{42};
    ibv_sge sge = a.piece(1);
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = start + 3;
    wr.wr.rdma.rkey = moved->rkey;
    assert_int_equal(ibv_post_send(a.qp, &wr, &bad), 0);
    assert_int_equal(a.next().status, IBV_WC_SUCCESS);
    assert_int_equal(std::to_integer<int>(b.memory[67]), 42);
    assert_int_equal(ibv_dereg_mr(moved), 0);
}

void deregistered_while_a_peer_writes(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    std::vector<std::byte> target(8 << 20);
    std::vector<std::byte> source(target.size(), std::byte{1});
    ibv_mr* const from = device.register_memory(source.data(), source.size());
    ibv_mr* const to = device.register_memory(target.data(), target.size());
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(source.data()),
                   static_cast<std::uint32_t>(source.size()), from->lkey};
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(target.data());
    wr.wr.rdma.rkey = to->rkey;
    for (int i = 0; i < 16; ++i)
        assert_int_equal(ibv_post_send(a.qp, &wr, &bad), 0);
    const ibv_wc first = a.next();
    assert_int_equal(first.status, IBV_WC_SUCCESS);
    assert_int_equal(ibv_dereg_mr(to), 0);
    // From here on the memory is the program's alone.
    std::fill(target.begin(), target.end(), std::byte{7});
    ibv_wc wc{};
    do {
        wc = a.next();
    } while (wc.status == IBV_WC_SUCCESS);
    assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
    for (const std::byte byte : target)
        assert_int_equal(std::to_integer<int>(byte), 7);
    assert_int_equal(ibv_dereg_mr(from), 0);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(a_domain_in_use_is_busy),
        cmocka_unit_test(wrong_registrations),
        cmocka_unit_test(read_only_memory),
        cmocka_unit_test(hints_are_taken),
        cmocka_unit_test(advice),
        cmocka_unit_test(registering_again),
        cmocka_unit_test(words_across_words),
        cmocka_unit_test(another_start_for_the_peer),
        cmocka_unit_test(deregistered_while_a_peer_writes),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
