// SPDX-License-Identifier: BSD-3-Clause
// Queues for which there is no memory: the program hears ENOMEM, and goes on.
#include <cerrno>
#include <cstdlib>

#include "cmocka.hpp"
#include "queue_pairs.hpp"

using verbs_test::Device;

namespace {

// While it lives, there is no memory for large arrays.
class Tight {
public:
    static bool allows(std::size_t bytes) { return !tight || bytes < 1U << 20; }

    Tight() { tight = true; }
    ~Tight() { tight = false; }
    Tight(const Tight&) = delete;
    Tight& operator=(const Tight&) = delete;

private:
    inline static bool tight = false;
};

struct Queues {
    Queues() { cq = device.make_cq(); }
    ~Queues() { ibv_destroy_cq(cq); }
    Queues(const Queues&) = delete;
    Queues& operator=(const Queues&) = delete;

    ibv_qp* make_pair(std::uint32_t requests) const {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq;
        attr.cap.max_send_wr = attr.cap.max_recv_wr = requests;
        attr.cap.max_send_sge = attr.cap.max_recv_sge = 32;
        attr.qp_type = IBV_QPT_RC;
        return ibv_create_qp(device.pd, &attr);
    }
    ibv_srq* make_shared_queue(std::uint32_t requests) const {
        ibv_srq_init_attr attr{};
        attr.attr = {requests, 32, 0};
        return ibv_create_srq(device.pd, &attr);
    }

    Device device;
    ibv_cq* cq;
};

void queue_pairs(void**) {
    const Queues queues;
    {
        const Tight tight;
        for (int round = 0; round < 3; ++round) {
            errno = 0;
            assert_null(queues.make_pair(1U << 16));
            assert_int_equal(errno, ENOMEM);
        }
        ibv_qp* const small = queues.make_pair(16);
        assert_non_null(small);
        assert_int_equal(ibv_destroy_qp(small), 0);
    }
    ibv_qp* const large = queues.make_pair(1U << 16);
    assert_non_null(large);
    assert_int_equal(ibv_destroy_qp(large), 0);
}

void shared_receive_queues(void**) {
    const Queues queues;
    const Tight tight;
    errno = 0;
    assert_null(queues.make_shared_queue(1U << 20));
    assert_int_equal(errno, ENOMEM);
    ibv_srq* const small = queues.make_shared_queue(16);
    assert_non_null(small);
    assert_int_equal(ibv_destroy_srq(small), 0);
}

void completion_queues(void**) {
    const Queues queues;
    const Tight tight;
    errno = 0;
    assert_null(ibv_create_cq(queues.device.context, (1 << 22) - 1, nullptr, nullptr, 0));
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(ibv_resize_cq(queues.cq, (1 << 22) - 1), ENOMEM);
}

}  // namespace

// The linker puts these in place of calloc (--wrap).
extern "C" {
void* __real_calloc(std::size_t count, std::size_t size);
void* __wrap_calloc(std::size_t count, std::size_t size);
}

void* __wrap_calloc(std::size_t count, std::size_t size) {
    if (Tight::allows(count * size))
        return __real_calloc(count, size);
    errno = ENOMEM;
    return nullptr;
}

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(queue_pairs),
        cmocka_unit_test(shared_receive_queues),
        cmocka_unit_test(completion_queues),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
