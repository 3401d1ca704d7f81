// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/context.hpp"

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "verbs/api.hpp"
#include "verbs/device.hpp"
#include "verbs/operations.hpp"
#include "verbs/qp.hpp"

namespace fabric::verbs {
namespace {

constexpr int kMaxCompVectors = 64;

}  // namespace

Context::Context() {
    shown_.self = this;
    verbs_context& verbs = shown_.verbs;
    verbs.sz = sizeof verbs;
    fill_operations(verbs);
    ibv_context& context = verbs.context;
    context.device = &device();
    // A kernel device has a descriptor here, and programs duplicate it; there is nothing behind
    // this one.
    context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    context.async_fd = async.fd();
    context.num_comp_vectors = std::clamp(get_nprocs(), 1, kMaxCompVectors);
    pthread_mutex_init(&context.mutex, nullptr);
    context.abi_compat = __VERBS_ABI_IS_EXTENDED;  // struct verbs_context is in front of it
}

Context& Context::of(const ibv_context* handle) {
    const auto* const shown = reinterpret_cast<const Shown*>(
        reinterpret_cast<const std::byte*>(handle) - offsetof(Shown, verbs.context));
    return *shown->self;
}

Context::~Context() {
    if (handle()->cmd_fd >= 0)
        close(handle()->cmd_fd);
}

void Context::drop_user() {
    if (users_.fetch_sub(1) == 1)
        delete this;
}

void fill_operations(verbs_context& verbs) {
    verbs.query_port = query_port;
    verbs.query_device_ex = query_device_ex;
    verbs.advise_mr = advise_mr;
    verbs.create_cq_ex = create_cq_ex;
    verbs.create_qp_ex = create_qp_ex;
    verbs.create_srq_ex = create_srq_ex;
    verbs.query_rt_values = query_rt_values;
    verbs.close_xrcd = close_xrcd;  // the header calls it without looking
    ibv_context_ops& basic = verbs.context.ops;
    basic.alloc_mw = alloc_mw;
    basic.bind_mw = bind_mw;
    basic.dealloc_mw = dealloc_mw;
    basic.poll_cq = poll_cq;
    basic.req_notify_cq = req_notify_cq;
    basic.post_srq_recv = post_srq_recv;
    basic.post_send = post_send;
    basic.post_recv = post_recv;
}

// A forked child gets one of its own: the descriptor of the parent's events is the parent's.
ibv_context* shared_context() {
    static std::atomic<Context*> current{nullptr};
    Context* known = current.load(std::memory_order_acquire);
    if (known == nullptr || known->birth.inherited()) {
        auto* const fresh = new Context;
        if (current.compare_exchange_strong(known, fresh, std::memory_order_acq_rel))
            known = fresh;
        else
            fresh->drop_user();  // another thread was faster
    }
    return known->handle()->async_fd < 0 ? nullptr : known->handle();
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

FABRIC_API ibv_context* ibv_open_device(ibv_device* wanted) {
    if (wanted != &device())
        return fail(ENODEV);
    auto* const context = new Context;
    if (context->handle()->async_fd >= 0)
        return context->handle();
    const int error = errno;
    context->drop_user();
    return fail(error);
}

FABRIC_API int ibv_close_device(ibv_context* context) {
    if (context != shared_context() && !Context::of(context).birth.inherited())
        Context::of(context).drop_user();
    return 0;
}
