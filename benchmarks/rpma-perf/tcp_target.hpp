// SPDX-License-Identifier: BSD-3-Clause
// The server's side of the TCP baseline.
#pragma once

#include "socket.hpp"
#include "target.hpp"
#include "tcp_protocol.hpp"

namespace perf {

class TcpTarget : public Target {
public:
    TcpTarget(const Case& point, const TargetOptions& options, const TargetMemory& memory);

    [[nodiscard]] std::string port() const override;
    [[nodiscard]] RemoteAccess access() const override { return {}; }
    void wait_ready(int timeout_ms) override { answering_.wait_ready(timeout_ms); }
    Verified stop() override { return answering_.stop(); }

private:
    Socket listener_;
    Answering answering_;
};

}  // namespace perf
