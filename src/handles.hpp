// SPDX-License-Identifier: BSD-3-Clause
// Owners of rdma-core's objects. Every one of them lives in exactly one Handle.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <utility>

#include "err.hpp"
#include "public.hpp"
#include "status.hpp"

namespace rpma {

/// Traits: Type; call, the name of the function that destroys; destroy(), 0 or an errno value.
template <typename Traits>
class Handle {
public:
    using Type = typename Traits::Type;

    Handle() = default;
    explicit Handle(Type* object) : object_(object) {}
    Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        if (this != &other) {
            (void)close();
            object_ = std::exchange(other.object_, nullptr);
        }
        return *this;
    }
    ~Handle() { (void)close(); }

    [[nodiscard]] Type* get() const { return object_; }
    Type* operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

    /// Destroys the object. It is given up also when rdma-core refuses: nobody could try again.
    Status close() {
        Type* const object = std::exchange(object_, nullptr);
        const int result = object != nullptr ? Traits::destroy(object) : 0;
        return result == 0
                   ? Status()
                   : Status::system(RPMA_E_PROVIDER, errno_of(result), "%s failed", Traits::call);
    }

private:
    Type* object_ = nullptr;
};

struct PdTraits {
    using Type = ibv_pd;
    static constexpr const char* call = "ibv_dealloc_pd";
    static int destroy(Type* pd) { return ibv_dealloc_pd(pd); }
};

struct MrTraits {
    using Type = ibv_mr;
    static constexpr const char* call = "ibv_dereg_mr";
    static int destroy(Type* mr) { return ibv_dereg_mr(mr); }
};

struct CqTraits {
    using Type = ibv_cq;
    static constexpr const char* call = "ibv_destroy_cq";
    static int destroy(Type* cq) { return ibv_destroy_cq(cq); }
};

struct CompChannelTraits {
    using Type = ibv_comp_channel;
    static constexpr const char* call = "ibv_destroy_comp_channel";
    static int destroy(Type* channel) { return ibv_destroy_comp_channel(channel); }
};

struct SrqTraits {
    using Type = ibv_srq;
    static constexpr const char* call = "ibv_destroy_srq";
    static int destroy(Type* srq) { return ibv_destroy_srq(srq); }
};

struct EventChannelTraits {
    using Type = rdma_event_channel;
    static constexpr const char* call = "rdma_destroy_event_channel";
    static int destroy(Type* channel) {
        rdma_destroy_event_channel(channel);
        return 0;
    }
};

struct CmIdTraits {
    using Type = rdma_cm_id;
    static constexpr const char* call = "rdma_destroy_id";
    static int destroy(Type* id) { return rdma_destroy_id(id) == 0 ? 0 : errno; }
};

/// The QP of an id; rdma_cm keeps it in the id.
struct QpTraits {
    using Type = rdma_cm_id;
    static constexpr const char* call = "rdma_destroy_qp";
    static int destroy(Type* id) {
        rdma_destroy_qp(id);
        return 0;
    }
};

using Pd = Handle<PdTraits>;
using Mr = Handle<MrTraits>;
using Cq = Handle<CqTraits>;
using CompChannel = Handle<CompChannelTraits>;
using Srq = Handle<SrqTraits>;
using EventChannel = Handle<EventChannelTraits>;
using CmId = Handle<CmIdTraits>;
using Qp = Handle<QpTraits>;

}  // namespace rpma
