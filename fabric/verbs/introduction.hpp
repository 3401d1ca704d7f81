// SPDX-License-Identifier: BSD-3-Clause
// The message by which a queue pair that was connected by hand makes itself known on a new link.
//
// A management datagram (256 bytes, to queue pair 1) of the vendor class 0x0a, class version 1,
// method Send (3), attribute 0x0010:
//
//   offset  bytes
//        0     24  MAD header (IBTA vol. 1, 13.4.3)
//       24      4  format, 1
//       28      4  payload bytes of one packet (both sides must use the same)
//       32      4  queue pair number of the sender
//       36      4  queue pair number of the receiver
//       40     16  GID of the sender
//       56     16  GID of the receiver
//       72    184  zero
//
// All numbers big-endian. It is the first thing on the link, and it has no answer: the receiver
// starts to read on when its queue pair is in state RTR and was given the sender's number and GID,
// and closes the link if it was given others.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fabric::verbs {

struct Introduction {
    std::uint32_t stream_mtu = 0;
    std::uint32_t source_qp = 0;
    std::uint32_t destination_qp = 0;
    ibv_gid source_gid{};
    ibv_gid destination_gid{};
};

std::array<std::byte, 256> encode(const Introduction& introduction);
// Nothing: not such a message, or a field is out of range.
std::optional<Introduction> decode_introduction(std::span<const std::byte> mad);

}  // namespace fabric::verbs
