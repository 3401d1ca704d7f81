// SPDX-License-Identifier: BSD-3-Clause
// The server's side of a case: the port where its connections come in, and whoever answers them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "case.hpp"
#include "link.hpp"
#include "slots.hpp"
#include "target_memory.hpp"

namespace perf {

class Target {
public:
    virtual ~Target() = default;

    [[nodiscard]] virtual std::string port() const = 0;
    [[nodiscard]] virtual RemoteAccess access() const = 0;
    // Waits until all connections are there and can be used. Throws Error.
    virtual void wait_ready(int timeout_ms) = 0;
    // Ends the answering; what was verified. Throws Error if answering has failed.
    virtual Verified stop() = 0;
};

struct TargetOptions {
    std::string address;  // where to listen
    int first_port = 0;   // 0: any
};

std::unique_ptr<Target> make_target(const Case& point, const TargetOptions& options,
                                    const TargetMemory& memory);

// Answers one connection in a thread of its own.
class Responder {
public:
    virtual ~Responder() = default;
    virtual void run(const std::atomic<bool>& stop) = 0;
    [[nodiscard]] const Verified& verified() const { return verified_; }
    [[nodiscard]] const std::string& failure() const { return failure_; }

protected:
    Verified verified_;
    std::string failure_;
};

// Accepts the connections of a case and runs their responders; the same for all APIs.
class Answering {
public:
    ~Answering() { end(); }

    // accept(connection number): the next responder, or nullptr if nobody came for a moment. It is
    // called in a thread until there are as many as wanted.
    template <typename Accept>
    void begin(std::uint32_t wanted, Accept accept) {
        wanted_ = wanted;
        acceptor_ = std::thread([this, accept] { accept_all(accept); });
    }
    void wait_ready(int timeout_ms);
    Verified stop();

private:
    template <typename Accept>
    void accept_all(Accept accept) {
        try {
            while (!stop_ && responders_.size() < wanted_) {
                if (auto responder = accept(responders_.size())) {
                    add(std::move(responder));
                }
            }
        } catch (const std::exception& error) {
            refuse(error.what());
        }
    }
    void add(std::unique_ptr<Responder> responder);
    void refuse(const char* why);
    void end();

    std::atomic<bool> stop_{false};
    std::thread acceptor_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint32_t wanted_ = 0;
    std::vector<std::unique_ptr<Responder>> responders_;
    std::vector<std::thread> threads_;
    std::string failure_;
};

// The pattern that a client with --verify expects to read.
void fill_for_reading(const Case& point, const TargetMemory& memory);

// How long an accept in begin() may wait.
inline constexpr int kAcceptMs = 50;

}  // namespace perf
