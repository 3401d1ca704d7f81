// SPDX-License-Identifier: BSD-3-Clause
// One client of the server: answers its requests until it goes.
#pragma once

#include <atomic>
#include <memory>

#include "control.hpp"
#include "target.hpp"

namespace perf {

// What the sessions of a server share.
struct ServerState {
    MemoryOptions memory;
    int first_data_port = 0;
    std::shared_ptr<TargetMemory> file;    // mapped once; nullptr: DRAM, for each case anew
    std::atomic<bool> file_in_use{false};  // one client at a time
    std::atomic<bool> stop{false};
};

class Session {
public:
    Session(ServerState& server, Socket socket) : server_(server), control_(std::move(socket)) {}
    ~Session() { end_case(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Returns when the client has gone, after an empty text, or one that says what went wrong.
    std::string run();

private:
    bool next_request();
    nlohmann::json answer(const nlohmann::json& message);
    nlohmann::json describe() const;
    nlohmann::json open(const Case& point);
    nlohmann::json close();
    void take_memory(std::size_t needed);
    void end_case();

    ServerState& server_;
    Control control_;
    std::shared_ptr<TargetMemory> memory_;
    bool holds_file_ = false;
    std::unique_ptr<Target> target_;  // ends before its memory
};

}  // namespace perf
