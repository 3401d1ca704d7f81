// SPDX-License-Identifier: BSD-3-Clause
// What the two kinds of RDMA connection have in common (rpma_link.hpp, verbs_link.hpp). Both have
// the same functions, inline, so that a loop is compiled once for each and nothing stands between
// it and the API that is measured:
//
//   int read(local, remote, length, signaled, id)     0 or a failure that text_of() explains
//   int write(local, remote, length, signaled, id)
//   int flush(remote, length, type, signaled, id)
//   int atomic_write(remote, const char[8], signaled, id)
//   int send(local, length, signaled, id)
//   int recv(local, length, id)
//   int poll(ibv_wc*, capacity)                        how many, or -1
//   int fd(), void take_event()                        to sleep until there is something to poll
//
// `local` and `remote` are offsets into the registered memory of the two sides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perf {

struct QueueSizes {
    std::uint32_t send;
    std::uint32_t receive;
    [[nodiscard]] std::uint32_t completion() const { return send + receive + 1; }
};

// How the target's memory is reached; from server to client.
struct RemoteAccess {
    std::vector<std::uint8_t> region;  // librpma's descriptors
    std::vector<std::uint8_t> peer_config;
    std::uint64_t address = 0;  // the same for raw verbs
    std::uint32_t rkey = 0;
    std::uint64_t size = 0;
};

// The address that one side has and the other connects to.
struct Endpoint {
    std::string address;
    std::string port;
};

// How long connecting may take, each step of it.
inline constexpr int kConnectTimeoutMs = 10'000;

}  // namespace perf
