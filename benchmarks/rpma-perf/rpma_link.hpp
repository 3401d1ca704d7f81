// SPDX-License-Identifier: BSD-3-Clause
// Connections by librpma.
#pragma once

#include <librpma.h>

#include <memory>
#include <string>

#include "case.hpp"
#include "link.hpp"
#include "target_memory.hpp"

namespace perf {

// Each of librpma's delete functions takes the address of the pointer.
template <typename T, int (*Delete)(T**)>
struct RpmaDelete {
    void operator()(T* object) const { (void)Delete(&object); }
};
template <typename T, int (*Delete)(T**)>
using RpmaOwned = std::unique_ptr<T, RpmaDelete<T, Delete>>;

// A device in use, found by an address of this side (server) or of the other one (client).
class RpmaDevice {
public:
    RpmaDevice(const std::string& address, bool local);

    [[nodiscard]] rpma_peer* peer() const { return peer_.get(); }
    [[nodiscard]] ibv_context* context() const { return context_; }

private:
    ibv_context* context_ = nullptr;
    RpmaOwned<rpma_peer, rpma_peer_delete> peer_;
};

class RpmaLink {
public:
    using Device = RpmaDevice;

    // Client: connects. `memory` is registered for all that a client does with it.
    RpmaLink(const RpmaDevice& device, const Endpoint& to, const QueueSizes& queues, void* memory,
             std::size_t size, const RemoteAccess& access);
    // Server: takes over an accepted connection.
    RpmaLink(const RpmaDevice& device, rpma_conn* connection, void* memory, std::size_t size);
    RpmaLink(const RpmaLink&) = delete;
    RpmaLink& operator=(const RpmaLink&) = delete;
    ~RpmaLink();

    int read(std::size_t local, std::size_t remote, std::size_t length, bool signaled,
             std::uint64_t id) {
        return rpma_read(conn_.get(), local_.get(), local, remote_.get(), remote, length,
                         flags(signaled), context(id));
    }
    int write(std::size_t local, std::size_t remote, std::size_t length, bool signaled,
              std::uint64_t id) {
        return rpma_write(conn_.get(), remote_.get(), remote, local_.get(), local, length,
                          flags(signaled), context(id));
    }
    int flush(std::size_t remote, std::size_t length, FlushType type, bool signaled,
              std::uint64_t id) {
        return rpma_flush(
            conn_.get(), remote_.get(), remote, length,
            type == FlushType::persistent ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY,
            flags(signaled), context(id));
    }
    int atomic_write(std::size_t remote, const char* word, bool signaled, std::uint64_t id) {
        return rpma_atomic_write(conn_.get(), remote_.get(), remote, word, flags(signaled),
                                 context(id));
    }
    int send(std::size_t local, std::size_t length, bool signaled, std::uint64_t id) {
        return rpma_send(conn_.get(), local_.get(), local, length, flags(signaled), context(id));
    }
    int recv(std::size_t local, std::size_t length, std::uint64_t id) {
        return rpma_recv(conn_.get(), local_.get(), local, length, context(id));
    }
    int poll(ibv_wc* completions, int capacity) {
        int got = 0;
        const int result = rpma_cq_get_wc(cq_, capacity, completions, &got);
        if (result == 0) {
            return got;
        }
        return result == RPMA_E_NO_COMPLETION ? 0 : -1;
    }
    [[nodiscard]] int fd() const { return fd_; }
    void take_event() { (void)rpma_cq_wait(cq_); }

    static std::string text_of(int failure);

private:
    static int flags(bool signaled) {
        return signaled ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR;
    }
    static const void* context(std::uint64_t id) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): never followed; it comes back as the number
        return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(id));
    }
    void register_memory(const RpmaDevice& device, void* memory, std::size_t size);
    void apply(const RemoteAccess& access);
    void prepare_queue();

    RpmaOwned<rpma_mr_local, rpma_mr_dereg> local_;
    RpmaOwned<rpma_mr_remote, rpma_mr_remote_delete> remote_;
    RpmaOwned<rpma_conn, rpma_conn_delete> conn_;
    rpma_cq* cq_ = nullptr;
    int fd_ = -1;
};

// The server's side: the region that clients work on, and the port where they connect.
class RpmaListener {
public:
    using Link = RpmaLink;

    // `first_port` 0: any free one.
    RpmaListener(const std::string& address, int first_port, const TargetMemory& memory);

    [[nodiscard]] const RpmaDevice& device() const { return device_; }
    [[nodiscard]] std::string port() const { return port_; }
    [[nodiscard]] RemoteAccess access() const;
    // The next connection, established; nullptr if none came within the time.
    std::unique_ptr<RpmaLink> accept(const QueueSizes& queues, void* memory, std::size_t size,
                                     int timeout_ms);

private:
    RpmaDevice device_;
    bool direct_write_;
    RpmaOwned<rpma_mr_local, rpma_mr_dereg> region_;
    RpmaOwned<rpma_ep, rpma_ep_shutdown> endpoint_;
    std::string port_;
};

// Keeps the library's messages for the text of failures instead of sending them to syslog.
void capture_rpma_log();

}  // namespace perf
