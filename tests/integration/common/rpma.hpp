// SPDX-License-Identifier: BSD-3-Clause
// librpma's objects with owners, and waits with an upper bound. Uses the public C API only.
#pragma once

#include <librpma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/check.hpp"
#include "common/deadline.hpp"

namespace it {

// Fails unless the code of a librpma call is the expected one.
void check_code(const char* file, int line, const char* what, int actual, int expected);

#define CHECK_CODE(call, expected) it::check_code(__FILE__, __LINE__, #call, (call), (expected))
#define CHECK_OK(call) CHECK_CODE(call, 0)

template <auto Delete>
struct Deleter {
    template <class T>
    void operator()(T* object) const {
        CHECK_OK(Delete(&object));
    }
};

using Peer = std::unique_ptr<rpma_peer, Deleter<rpma_peer_delete>>;
using PeerCfg = std::unique_ptr<rpma_peer_cfg, Deleter<rpma_peer_cfg_delete>>;
using ConnCfg = std::unique_ptr<rpma_conn_cfg, Deleter<rpma_conn_cfg_delete>>;
using SrqCfg = std::unique_ptr<rpma_srq_cfg, Deleter<rpma_srq_cfg_delete>>;
using Srq = std::unique_ptr<rpma_srq, Deleter<rpma_srq_delete>>;
using Endpoint = std::unique_ptr<rpma_ep, Deleter<rpma_ep_shutdown>>;
using Request = std::unique_ptr<rpma_conn_req, Deleter<rpma_conn_req_delete>>;
using Connection = std::unique_ptr<rpma_conn, Deleter<rpma_conn_delete>>;
using LocalMr = std::unique_ptr<rpma_mr_local, Deleter<rpma_mr_dereg>>;
using RemoteMr = std::unique_ptr<rpma_mr_remote, Deleter<rpma_mr_remote_delete>>;

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;
using Descriptor = std::array<std::byte, 21>;

// All but persistent flushes, which some devices refuse on memory that is not persistent.
inline constexpr int kUsualUsage = 0xff & ~RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
inline constexpr int kReadWrite = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST |
                                  RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST;

// A word that says which operation a completion belongs to.
inline const void* context(std::uintptr_t number) {
    return reinterpret_cast<const void*>(
        number);  // NOLINT(performance-no-int-to-ptr): the API carries numbers this way
}

Peer open_peer(const std::string& address, rpma_util_ibv_context_type side);

// Anonymous zeroed pages and their registration.
class Region {
public:
    Region(rpma_peer* peer, std::size_t size, int usage);

    rpma_mr_local* mr() const { return mr_.get(); }
    Bytes bytes() const { return {pages_.get(), size_}; }
    Bytes bytes(std::size_t offset, std::size_t size) const {
        return bytes().subspan(offset, size);
    }

private:
    struct Unmap {
        std::size_t size;
        void operator()(std::byte* pages) const;
    };
    std::size_t size_;
    std::unique_ptr<std::byte, Unmap> pages_;
    LocalMr mr_;
};

LocalMr register_memory(rpma_peer* peer, Bytes memory, int usage);
// The same with a usage that has persistent flushes in it. Skips the test where the device takes
// nothing but persistent memory for these, as rdma_rxe does.
LocalMr register_for_persistence(rpma_peer* peer, Bytes memory, int usage);
Descriptor describe(const rpma_mr_local* mr);
RemoteMr remote_region(ConstBytes descriptor);

struct Sizes {
    std::uint32_t cq = 10;
    std::uint32_t sq = 10;
    std::uint32_t rq = 10;
    std::uint32_t rcq = 0;
    bool shared_channel = false;
};
ConnCfg configure(const Sizes& sizes);

// --- completions

// The next completion of the queue, waiting for it if need be.
ibv_wc next_completion(rpma_cq* cq, const Deadline& deadline = Deadline());
// The same, of the connection's main queue, which must report success of this operation.
ibv_wc expect_done(rpma_conn* connection, ibv_wc_opcode opcode, const void* op_context);
ibv_wc expect_done(rpma_cq* cq, ibv_wc_opcode opcode, const void* op_context);
void expect_none(rpma_cq* cq);
rpma_cq* main_cq(const rpma_conn* connection);
rpma_cq* receive_cq(const rpma_conn* connection);

// --- events

rpma_conn_event next_event(rpma_conn* connection, const Deadline& deadline = Deadline());
void expect_event(rpma_conn* connection, rpma_conn_event event);
void expect_closed(rpma_conn* connection);  // CLOSED
void expect_closed_or_lost(rpma_conn* connection);
void disconnect(rpma_conn* connection);  // asks for it and waits for CLOSED

// Data of the other side as the connection reports it.
ConstBytes private_data(const rpma_conn* connection);
ConstBytes private_data(const rpma_conn_req* request);
rpma_conn_private_data to_private_data(ConstBytes bytes);

}  // namespace it
