// SPDX-License-Identifier: BSD-3-Clause
// Calls everything that a device with reliable connections only does not have, and compares the
// answers with those of devices that lack it: an errno, never success and never a crash.
//
// refusals            runs the calls; exit code 1 if one was answered otherwise
// refusals --names    prints the names of the functions called
#include "refusals.hpp"

#include <cstdio>
#include <cstring>
#include <memory>

namespace {

template <typename T>
using Owned = std::unique_ptr<T, int (*)(T*)>;

int run(Objects& objects, const std::vector<Refusal>& refusals) {
    int wrong = 0;
    for (const Refusal& refusal : refusals) {
        errno = 0;
        const int error = refusal.call(objects);
        if (error == refusal.wanted)
            continue;
        std::printf("%s: %s, expected %s\n", refusal.name,
                    error == 0 ? "success" : strerrorname_np(error),
                    strerrorname_np(refusal.wanted));
        ++wrong;
    }
    std::printf("%zu calls, %d answered wrongly\n", refusals.size(), wrong);
    return wrong;
}

int run_with_objects(const std::vector<Refusal>& refusals) {
    ibv_device** const devices = ibv_get_device_list(nullptr);
    const Owned<ibv_context> context(devices != nullptr ? ibv_open_device(devices[0]) : nullptr,
                                     ibv_close_device);
    ibv_free_device_list(devices);
    if (context == nullptr)
        return -1;
    const Owned<ibv_pd> pd(ibv_alloc_pd(context.get()), ibv_dealloc_pd);
    const Owned<ibv_cq> cq(ibv_create_cq(context.get(), 8, nullptr, nullptr, 0), ibv_destroy_cq);
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.send_cq = attr.recv_cq = cq.get();
    attr.cap = {1, 1, 1, 1, 0};
    const Owned<ibv_qp> qp(ibv_create_qp(pd.get(), &attr), ibv_destroy_qp);
    Objects objects{context.get(), pd.get(), cq.get(), qp.get()};
    return qp == nullptr ? -1 : run(objects, refusals);
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Refusal> refusals = verbs_refusals();
    const auto more = cm_refusals();
    refusals.insert(refusals.end(), more.begin(), more.end());
    if (argc > 1 && std::strcmp(argv[1], "--names") == 0) {
        for (const Refusal& refusal : refusals)
            std::puts(refusal.name);
        return 0;
    }
    return run_with_objects(refusals) == 0 ? 0 : 1;
}
