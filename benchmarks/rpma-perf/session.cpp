// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <cstring>

#include "error.hpp"
#include "machine.hpp"
#include "units.hpp"

namespace perf {
namespace {

constexpr int kLookMs = 200;
constexpr std::size_t kPage = 4096;

}  // namespace

std::string Session::run() {
    try {
        control_.greet(kControlTimeoutMs);
        while (!server_.stop && next_request()) {
        }
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

// False when the client has closed the connection between two requests.
bool Session::next_request() {
    if (!control_.socket().readable(kLookMs)) {
        return true;
    }
    if (control_.socket().is_gone()) {
        return false;
    }
    const nlohmann::json message = control_.receive(kControlTimeoutMs);
    nlohmann::json reply;
    try {
        reply = answer(message);
    } catch (const std::exception& error) {
        end_case();
        reply = {{"error", error.what()}};
    }
    control_.send(reply);
    return true;
}

nlohmann::json Session::answer(const nlohmann::json& message) {
    const auto wanted = message.at("do").get<std::string>();
    if (wanted == request::kDescribe) {
        return describe();
    }
    if (wanted == request::kOpen) {
        return open(message.at("case").get<Case>());
    }
    if (wanted == request::kCpu) {
        return own_cpu_time();
    }
    if (wanted == request::kClose) {
        return close();
    }
    if (wanted != request::kStart || target_ == nullptr) {
        fail("cannot do '{}' now", wanted);
    }
    target_->wait_ready(kConnectTimeoutMs);
    return nlohmann::json::object();
}

nlohmann::json Session::describe() const {
    nlohmann::json out = describe_machine(control_.socket().local().host, true);
    out["target_memory"] = {{"kind", server_.file != nullptr ? server_.file->kind() : "DRAM"},
                            {"path", server_.memory.path},
                            {"size", server_.memory.size},
                            {"direct_write", server_.memory.direct_write}};
    return out;
}

nlohmann::json Session::open(const Case& point) {
    check(point);
    end_case();
    const Layout layout(point);
    take_memory(layout.window() * point.connections);
    if (point.op == Op::read) {
        fill_for_reading(point, *memory_);
    }
    target_ =
        make_target(point, {control_.socket().local().host, server_.first_data_port}, *memory_);
    return {{"port", target_->port()}, {"access", target_->access()}};
}

void Session::take_memory(std::size_t needed) {
    const std::size_t room = server_.file != nullptr ? server_.file->size() : server_.memory.size;
    if (needed > room) {
        fail(
            "{} of target memory are needed, there are {}: start the server with a larger "
            "--memory-size",
            format_size(needed), format_size(room));
    }
    if (server_.file == nullptr) {
        MemoryOptions options = server_.memory;
        options.size = (needed + kPage - 1) / kPage * kPage;
        memory_ = std::make_shared<TargetMemory>(options);
        std::memset(memory_->data(), 0, memory_->size());  // no page faults while it is measured
        return;
    }
    if (server_.file_in_use.exchange(true)) {
        fail("{} is in use by another client", server_.memory.path);
    }
    holds_file_ = true;
    memory_ = server_.file;
}

nlohmann::json Session::close() {
    Verified verified;
    if (target_ != nullptr) {
        verified = target_->stop();
    }
    end_case();
    return {{"verified_bytes", verified.bytes}, {"mismatches", verified.mismatches}};
}

void Session::end_case() {
    target_.reset();
    memory_.reset();
    if (std::exchange(holds_file_, false)) {
        server_.file_in_use = false;
    }
}

}  // namespace perf
