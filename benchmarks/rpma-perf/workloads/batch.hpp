// SPDX-License-Identifier: BSD-3-Clause
// A workload is one file beside this one: how a batch of its operations is posted, by whichever API
// (link.hpp). All have
//
//   template <typename Link> static int post(Link&, const Batch&)   0 or the failure
//   static constexpr Shape shape                                    what posting it takes
//
// Only the last operation that a batch posts makes a completion, besides the answers of the target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../case.hpp"

namespace perf {

struct Batch {
    std::uint64_t id;     // of its completions: the slot
    std::size_t count;    // operations
    std::size_t size;     // bytes of one
    std::size_t local;    // data on this side, `count * size` bytes
    std::size_t remote;   // and on the other
    std::size_t commit;   // on the other side: the commit word
    std::size_t request;  // on this side: a message to the target's CPU
    std::size_t reply;    // on this side: room for answers
    FlushType flush;
    const char* commit_word;  // 8 bytes
};

// How a batch ends that has not been verified yet.
enum class Check {
    read_back,   // the target's memory is read and compared
    local_data,  // what was read is compared
    replies,     // the answers are compared
    by_target,   // the target compares what it gets
};

struct Shape {
    std::uint32_t extra_sends;  // besides one for each operation
    bool reply_per_operation;   // the target answers each operation
    bool reply_per_batch;       // the target answers the batch
    bool target_receives_data;  // each operation is a message
    Check check;
};

}  // namespace perf
