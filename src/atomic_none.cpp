// SPDX-License-Identifier: BSD-3-Clause
// For headers without native atomic write: an inline write with a fence does it (data_path.cpp).
#include <cerrno>

#include "native.hpp"

namespace rpma {

const bool kHeadersKnowAtomicWrite = false;
const std::uint64_t kAtomicWriteSendOp = 0;

int post_native_atomic_write(ibv_qp*, const NativeTarget&, const void*) {
    return EOPNOTSUPP;
}

}  // namespace rpma
