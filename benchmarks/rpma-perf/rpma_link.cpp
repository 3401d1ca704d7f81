// SPDX-License-Identifier: BSD-3-Clause
#include "rpma_link.hpp"

#include <poll.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "error.hpp"
#include "free_port.hpp"

namespace perf {
namespace {

thread_local std::string last_message;

[[gnu::format(printf, 5, 6)]] void keep_message(rpma_log_level level, const char* /*file*/,
                                                int /*line*/, const char* /*function*/,
                                                const char* format, ...) {
    if (level > RPMA_LOG_LEVEL_ERROR) {
        return;
    }
    std::array<char, 512> text{};
    va_list arguments;
    va_start(arguments, format);
    (void)std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    last_message = text.data();
    while (!last_message.empty() && last_message.back() == '\n') {
        last_message.pop_back();
    }
}

void require(int result, const std::string& what) {
    if (result != 0) {
        fail("{}: {}", what, RpmaLink::text_of(result));
    }
}

bool readable(int fd, int timeout_ms) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) > 0;
}

using Config = RpmaOwned<rpma_conn_cfg, rpma_conn_cfg_delete>;

Config make_config(const QueueSizes& queues) {
    rpma_conn_cfg* raw = nullptr;
    require(rpma_conn_cfg_new(&raw), "connection configuration");
    Config config(raw);
    require(rpma_conn_cfg_set_sq_size(raw, queues.send), "send queue");
    require(rpma_conn_cfg_set_rq_size(raw, queues.receive), "receive queue");
    require(rpma_conn_cfg_set_cq_size(raw, queues.completion()), "completion queue");
    require(rpma_conn_cfg_set_timeout(raw, kConnectTimeoutMs), "time limit");
    return config;
}

void wait_event(rpma_conn* conn, rpma_conn_event wanted) {
    int fd = -1;
    require(rpma_conn_get_event_fd(conn, &fd), "event descriptor");
    if (!readable(fd, kConnectTimeoutMs)) {
        fail("connecting by librpma: the other side did not answer within {} s",
             kConnectTimeoutMs / 1000);
    }
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    require(rpma_conn_next_event(conn, &event), "connecting by librpma");
    if (event != wanted) {
        fail("connecting by librpma: {}", rpma_utils_conn_event_2str(event));
    }
}

}  // namespace

void capture_rpma_log() {
    (void)rpma_log_set_function(keep_message);
    (void)rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_ERROR);
}

std::string RpmaLink::text_of(int failure) {
    const std::string message = std::exchange(last_message, {});
    const char* const code = rpma_err_2str(failure);
    return message.empty() ? code : fmt::format("{} ({})", message, code);
}

RpmaDevice::RpmaDevice(const std::string& address, bool local) {
    const int result = rpma_utils_get_ibv_context(
        address.c_str(), local ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE,
        &context_);
    if (result != 0) {
        fail(
            "no RDMA device for {}: {}; without an adapter, start both sides by rpma-fabric run "
            "--, or use rpma-perf local",
            address, RpmaLink::text_of(result));
    }
    rpma_peer* raw = nullptr;
    require(rpma_peer_new(context_, &raw), "device");
    peer_.reset(raw);
}

RpmaLink::RpmaLink(const RpmaDevice& device, const Endpoint& to, const QueueSizes& queues,
                   void* memory, std::size_t size, const RemoteAccess& access) {
    register_memory(device, memory, size);
    const Config config = make_config(queues);
    rpma_conn_req* request = nullptr;
    require(rpma_conn_req_new(device.peer(), to.address.c_str(), to.port.c_str(), config.get(),
                              &request),
            "connecting by librpma");
    rpma_conn* raw = nullptr;
    require(rpma_conn_req_connect(&request, nullptr, &raw), "connecting by librpma");
    conn_.reset(raw);
    wait_event(raw, RPMA_CONN_ESTABLISHED);
    apply(access);
    prepare_queue();
}

RpmaLink::RpmaLink(const RpmaDevice& device, rpma_conn* connection, void* memory, std::size_t size)
    : conn_(connection) {
    wait_event(connection, RPMA_CONN_ESTABLISHED);
    register_memory(device, memory, size);
    prepare_queue();
}

RpmaLink::~RpmaLink() {
    if (conn_ != nullptr) {
        (void)rpma_conn_disconnect(conn_.get());
    }
}

void RpmaLink::register_memory(const RpmaDevice& device, void* memory, std::size_t size) {
    rpma_mr_local* raw = nullptr;
    require(rpma_mr_reg(device.peer(), memory, size,
                        RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_SEND |
                            RPMA_MR_USAGE_RECV,
                        &raw),
            "registering memory");
    local_.reset(raw);
}

void RpmaLink::apply(const RemoteAccess& access) {
    rpma_peer_cfg* config = nullptr;
    require(rpma_peer_cfg_from_descriptor(access.peer_config.data(), access.peer_config.size(),
                                          &config),
            "the server's configuration");
    const RpmaOwned<rpma_peer_cfg, rpma_peer_cfg_delete> owned(config);
    require(rpma_conn_apply_remote_peer_cfg(conn_.get(), config), "the server's configuration");
    rpma_mr_remote* remote = nullptr;
    require(rpma_mr_remote_from_descriptor(access.region.data(), access.region.size(), &remote),
            "the server's memory");
    remote_.reset(remote);
}

void RpmaLink::prepare_queue() {
    require(rpma_conn_get_cq(conn_.get(), &cq_), "completion queue");
    require(rpma_cq_get_fd(cq_, &fd_), "completion queue");
}

RpmaListener::RpmaListener(const std::string& address, int first_port, const TargetMemory& memory)
    : device_(address, true), direct_write_(memory.direct_write()) {
    constexpr int kBase =
        RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
    const int usage = kBase | (direct_write_ ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT : 0);
    rpma_mr_local* region = nullptr;
    require(rpma_mr_reg(device_.peer(), memory.data(), memory.size(), usage, &region),
            "registering the target memory");
    region_.reset(region);
    rpma_ep* endpoint = nullptr;
    port_ = on_free_port(address, first_port, [&](const std::string& port) {
        const int result = rpma_ep_listen(device_.peer(), address.c_str(), port.c_str(), &endpoint);
        return result == 0 ? std::string() : RpmaLink::text_of(result);
    });
    endpoint_.reset(endpoint);
}

RemoteAccess RpmaListener::access() const {
    RemoteAccess access;
    std::size_t size = 0;
    require(rpma_mr_get_descriptor_size(region_.get(), &size), "descriptor");
    access.region.resize(size);
    require(rpma_mr_get_descriptor(region_.get(), access.region.data()), "descriptor");
    rpma_peer_cfg* config = nullptr;
    require(rpma_peer_cfg_new(&config), "descriptor");
    const RpmaOwned<rpma_peer_cfg, rpma_peer_cfg_delete> owned(config);
    require(rpma_peer_cfg_set_direct_write_to_pmem(config, direct_write_), "descriptor");
    require(rpma_peer_cfg_get_descriptor_size(config, &size), "descriptor");
    access.peer_config.resize(size);
    require(rpma_peer_cfg_get_descriptor(config, access.peer_config.data()), "descriptor");
    return access;
}

std::unique_ptr<RpmaLink> RpmaListener::accept(const QueueSizes& queues, void* memory,
                                               std::size_t size, int timeout_ms) {
    int fd = -1;
    require(rpma_ep_get_fd(endpoint_.get(), &fd), "listening by librpma");
    if (!readable(fd, timeout_ms)) {
        return nullptr;
    }
    const Config config = make_config(queues);
    rpma_conn_req* request = nullptr;
    require(rpma_ep_next_conn_req(endpoint_.get(), config.get(), &request), "connection request");
    rpma_conn* conn = nullptr;
    require(rpma_conn_req_connect(&request, nullptr, &conn), "accepting by librpma");
    return std::make_unique<RpmaLink>(device_, conn, memory, size);
}

}  // namespace perf
