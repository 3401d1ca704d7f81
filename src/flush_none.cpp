// SPDX-License-Identifier: BSD-3-Clause
// For headers without native flush: a read behind the writes does it (flush.cpp).
#include <cerrno>

#include "native.hpp"

namespace rpma {

const bool kHeadersKnowFlush = false;
const std::uint64_t kFlushSendOps = 0;
const int kAccessFlushVisibility = 0;
const int kAccessFlushPersistent = 0;

int post_native_flush(ibv_qp*, const NativeTarget&, std::size_t, bool) {
    return EOPNOTSUPP;
}

}  // namespace rpma
