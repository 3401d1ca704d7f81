// SPDX-License-Identifier: BSD-3-Clause
// Refuses requests that nothing is wrong with, as an adapter in trouble does.
#pragma once

#include <cstdint>

#include "wire/packet.hpp"

namespace fabric::rc {

class RequestFilter {
public:
    enum class Answer : std::uint8_t { None, NotReady, InvalidRequest, RemoteAccess, Operation };

    virtual ~RequestFilter() = default;
    // Asked once for each request packet, in order, with the queue pair's lock held; again for one
    // that comes again because it was answered as "not ready".
    virtual Answer answer(const wire::Header& header) = 0;
};

}  // namespace fabric::rc
