// SPDX-License-Identifier: BSD-3-Clause
// Connections by ibv_* and rdma_* alone, with queue pairs made as librpma makes them: what remains
// when the library is taken away.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <string>

#include "case.hpp"
#include "link.hpp"
#include "native.hpp"
#include "target_memory.hpp"

namespace perf {

template <typename T, int (*Destroy)(T*)>
struct VerbsDestroy {
    void operator()(T* object) const { (void)Destroy(object); }
};
template <typename T, int (*Destroy)(T*)>
using VerbsOwned = std::unique_ptr<T, VerbsDestroy<T, Destroy>>;

class VerbsDevice {
public:
    VerbsDevice(const std::string& address, bool local);

    [[nodiscard]] ibv_context* context() const { return context_; }
    [[nodiscard]] ibv_pd* pd() const { return pd_.get(); }
    [[nodiscard]] bool native_flush() const { return native_flush_; }
    [[nodiscard]] bool native_atomic_write() const { return native_atomic_write_; }

private:
    ibv_context* context_ = nullptr;
    VerbsOwned<ibv_pd, ibv_dealloc_pd> pd_;
    bool native_flush_ = false;
    bool native_atomic_write_ = false;
};

class VerbsLink {
public:
    using Device = VerbsDevice;

    VerbsLink(const VerbsDevice& device, const Endpoint& to, const QueueSizes& queues, void* memory,
              std::size_t size, const RemoteAccess& access);
    VerbsLink(const VerbsDevice& device, rdma_cm_id* id, const QueueSizes& queues, void* memory,
              std::size_t size);
    VerbsLink(const VerbsLink&) = delete;
    VerbsLink& operator=(const VerbsLink&) = delete;
    ~VerbsLink();

    int read(std::size_t local, std::size_t remote, std::size_t length, bool signaled,
             std::uint64_t id) {
        ibv_sge part = local_part(local, length);
        return post_rdma(IBV_WR_RDMA_READ, part, remote, signal_flag(signaled), id);
    }
    int write(std::size_t local, std::size_t remote, std::size_t length, bool signaled,
              std::uint64_t id) {
        ibv_sge part = local_part(local, length);
        return post_rdma(IBV_WR_RDMA_WRITE, part, remote, signal_flag(signaled), id);
    }
    int flush(std::size_t remote, std::size_t length, FlushType type, bool signaled,
              std::uint64_t id) {
        if (native_flush_) {
            return rpma::post_native_flush(qp_, target(remote, signaled, id), length,
                                           type == FlushType::persistent);
        }
        ibv_sge part{reinterpret_cast<std::uintptr_t>(flush_copy_), sizeof(flush_copy_),
                     flush_mr_->lkey};
        return post_rdma(IBV_WR_RDMA_READ, part, remote, signal_flag(signaled), id);
    }
    int atomic_write(std::size_t remote, const char* word, bool signaled, std::uint64_t id) {
        const unsigned fence = native_flush_ ? 0U : static_cast<unsigned>(IBV_SEND_FENCE);
        if (native_atomic_write_) {
            rpma::NativeTarget to = target(remote, signaled, id);
            to.send_flags |= fence;
            return rpma::post_native_atomic_write(qp_, to, word);
        }
        ibv_sge part{reinterpret_cast<std::uintptr_t>(word), 8, 0};
        return post_rdma(IBV_WR_RDMA_WRITE, part, remote,
                         signal_flag(signaled) | IBV_SEND_INLINE | IBV_SEND_FENCE, id);
    }
    int send(std::size_t local, std::size_t length, bool signaled, std::uint64_t id) {
        ibv_sge part = local_part(local, length);
        ibv_send_wr request;  // NOLINT(cppcoreguidelines-pro-type-member-init): set below
        fill(request, IBV_WR_SEND, part, signal_flag(signaled), id);
        ibv_send_wr* bad = nullptr;
        return ibv_post_send(qp_, &request, &bad);
    }
    int recv(std::size_t local, std::size_t length, std::uint64_t id) {
        ibv_sge part = local_part(local, length);
        ibv_recv_wr request{id, nullptr, &part, 1};
        ibv_recv_wr* bad = nullptr;
        return ibv_post_recv(qp_, &request, &bad);
    }
    int poll(ibv_wc* completions, int capacity) {
        return ibv_poll_cq(cq_.get(), capacity, completions);
    }
    [[nodiscard]] int fd() const { return channel_->fd; }
    void take_event();

    static std::string text_of(int failure);

private:
    static unsigned signal_flag(bool signaled) {
        return signaled ? static_cast<unsigned>(IBV_SEND_SIGNALED) : 0U;
    }
    // The fields that the verb reads, as librpma does it.
    static void fill(ibv_send_wr& request, ibv_wr_opcode opcode, ibv_sge& part, unsigned flags,
                     std::uint64_t id) {
        request.wr_id = id;
        request.next = nullptr;
        request.sg_list = &part;
        request.num_sge = 1;
        request.opcode = opcode;
        request.send_flags = flags;
    }
    [[nodiscard]] ibv_sge local_part(std::size_t offset, std::size_t length) const {
        return {address_ + offset, static_cast<std::uint32_t>(length), lkey_};
    }
    [[nodiscard]] rpma::NativeTarget target(std::size_t offset, bool signaled,
                                            std::uint64_t id) const {
        return {id, signal_flag(signaled), remote_address_ + offset, rkey_};
    }
    int post_rdma(ibv_wr_opcode opcode, ibv_sge& part, std::size_t remote, unsigned flags,
                  std::uint64_t id) {
        ibv_send_wr request;  // NOLINT(cppcoreguidelines-pro-type-member-init): set below
        fill(request, opcode, part, flags, id);
        request.wr.rdma.remote_addr = remote_address_ + remote;
        request.wr.rdma.rkey = rkey_;
        ibv_send_wr* bad = nullptr;
        return ibv_post_send(qp_, &request, &bad);
    }
    void make_queues(const VerbsDevice& device, const QueueSizes& queues);
    void register_memory(const VerbsDevice& device, void* memory, std::size_t size);

    VerbsOwned<ibv_mr, ibv_dereg_mr> memory_mr_;
    VerbsOwned<ibv_mr, ibv_dereg_mr> flush_mr_;
    VerbsOwned<ibv_comp_channel, ibv_destroy_comp_channel> channel_;
    VerbsOwned<ibv_cq, ibv_destroy_cq> cq_;
    rdma_cm_id* id_ = nullptr;
    ibv_qp* qp_ = nullptr;
    std::uint64_t address_ = 0;
    std::uint32_t lkey_ = 0;
    std::uint64_t remote_address_ = 0;
    std::uint32_t rkey_ = 0;
    bool native_flush_ = false;
    bool native_atomic_write_ = false;
    char flush_copy_[8] = {};
};

class VerbsListener {
public:
    using Link = VerbsLink;

    VerbsListener(const std::string& address, int first_port, const TargetMemory& memory);
    ~VerbsListener();
    VerbsListener(const VerbsListener&) = delete;
    VerbsListener& operator=(const VerbsListener&) = delete;

    [[nodiscard]] const VerbsDevice& device() const { return device_; }
    [[nodiscard]] std::string port() const { return port_; }
    [[nodiscard]] RemoteAccess access() const;
    std::unique_ptr<VerbsLink> accept(const QueueSizes& queues, void* memory, std::size_t size,
                                      int timeout_ms);

private:
    VerbsDevice device_;
    VerbsOwned<ibv_mr, ibv_dereg_mr> region_;
    rdma_cm_id* listener_ = nullptr;
    std::string port_;
};

}  // namespace perf
