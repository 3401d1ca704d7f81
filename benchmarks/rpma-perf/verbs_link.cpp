// SPDX-License-Identifier: BSD-3-Clause
#include "verbs_link.hpp"

#include <fcntl.h>
#include <librpma.h>
#include <netdb.h>
#include <poll.h>

#include "device_info.hpp"
#include "error.hpp"
#include "free_port.hpp"

namespace perf {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList numeric_address(const Endpoint& endpoint) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int error = getaddrinfo(endpoint.address.c_str(), endpoint.port.c_str(), &hints, &list);
    if (error != 0) {
        fail("{}: {}", endpoint.address, gai_strerror(error));
    }
    return {list, &freeaddrinfo};
}

void require(int result, const char* call) {
    if (result != 0) {
        fail("raw verbs: {} failed: {}", call, errno_text());
    }
}

template <typename T>
T* require(T* object, const char* call) {
    if (object == nullptr) {
        fail("raw verbs: {} failed: {}", call, errno_text());
    }
    return object;
}

// As librpma asks for.
rdma_conn_param connection_parameters() {
    constexpr std::uint8_t kRetries = 7;
    rdma_conn_param parameters{};
    parameters.responder_resources = RDMA_MAX_RESP_RES;
    parameters.initiator_depth = RDMA_MAX_INIT_DEPTH;
    parameters.flow_control = 1;
    parameters.retry_count = kRetries;
    parameters.rnr_retry_count = kRetries;
    return parameters;
}

rdma_cm_id* make_id() {
    rdma_cm_id* id = nullptr;
    require(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
    return id;
}

// Destroys the id if the constructor that makes it fails.
class IdGuard {
public:
    explicit IdGuard(rdma_cm_id* id) : id_(id) {}
    ~IdGuard() {
        if (id_ != nullptr) {
            if (id_->qp != nullptr) {
                rdma_destroy_qp(id_);
            }
            (void)rdma_destroy_id(id_);
        }
    }
    IdGuard(const IdGuard&) = delete;
    IdGuard& operator=(const IdGuard&) = delete;
    [[nodiscard]] rdma_cm_id* get() const { return id_; }
    rdma_cm_id* release() { return std::exchange(id_, nullptr); }

private:
    rdma_cm_id* id_;
};

}  // namespace

VerbsDevice::VerbsDevice(const std::string& address, bool local) {
    // librpma's own search, so that both use the same device.
    const int result = rpma_utils_get_ibv_context(
        address.c_str(), local ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE,
        &context_);
    if (result != 0) {
        fail("no RDMA device for {}: {}", address, rpma_err_2str(result));
    }
    pd_.reset(require(ibv_alloc_pd(context_), "ibv_alloc_pd"));
    const NativeOperations native = native_operations(context_);
    native_flush_ = native.flush;
    native_atomic_write_ = native.atomic_write;
}

VerbsLink::VerbsLink(const VerbsDevice& device, const Endpoint& to, const QueueSizes& queues,
                     void* memory, std::size_t size, const RemoteAccess& access)
    : remote_address_(access.address), rkey_(access.rkey) {
    register_memory(device, memory, size);
    const AddressList address = numeric_address(to);
    IdGuard guard(make_id());
    id_ = guard.get();
    require(rdma_resolve_addr(id_, nullptr, address->ai_addr, kConnectTimeoutMs),
            "rdma_resolve_addr");
    require(rdma_resolve_route(id_, kConnectTimeoutMs), "rdma_resolve_route");
    make_queues(device, queues);
    rdma_conn_param parameters = connection_parameters();
    require(rdma_connect(id_, &parameters), "rdma_connect");
    (void)guard.release();
}

VerbsLink::VerbsLink(const VerbsDevice& device, rdma_cm_id* id, const QueueSizes& queues,
                     void* memory, std::size_t size)
    : id_(id) {
    IdGuard guard(id);
    register_memory(device, memory, size);
    make_queues(device, queues);
    rdma_conn_param parameters = connection_parameters();
    require(rdma_accept(id_, &parameters), "rdma_accept");
    (void)guard.release();
}

VerbsLink::~VerbsLink() {
    // On an id with a channel of its own the call would wait for the other side, which may be gone.
    (void)fcntl(id_->channel->fd, F_SETFL, O_NONBLOCK);
    (void)rdma_disconnect(id_);
    rdma_destroy_qp(id_);
    cq_.reset();
    (void)rdma_destroy_id(id_);
}

void VerbsLink::register_memory(const VerbsDevice& device, void* memory, std::size_t size) {
    constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE;
    memory_mr_.reset(require(ibv_reg_mr(device.pd(), memory, size, kAccess), "ibv_reg_mr"));
    flush_mr_.reset(
        require(ibv_reg_mr(device.pd(), flush_copy_, sizeof(flush_copy_), kAccess), "ibv_reg_mr"));
    address_ = reinterpret_cast<std::uintptr_t>(memory);
    lkey_ = memory_mr_->lkey;
}

void VerbsLink::make_queues(const VerbsDevice& device, const QueueSizes& queues) {
    channel_.reset(require(ibv_create_comp_channel(device.context()), "ibv_create_comp_channel"));
    cq_.reset(require(ibv_create_cq(device.context(), static_cast<int>(queues.completion()),
                                    nullptr, channel_.get(), 0),
                      "ibv_create_cq"));
    require(ibv_req_notify_cq(cq_.get(), 0), "ibv_req_notify_cq");
    native_flush_ = device.native_flush();
    native_atomic_write_ = device.native_atomic_write();
    ibv_qp_init_attr_ex attributes{};
    attributes.cap = {queues.send, queues.receive, 1, 1, 8};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = cq_.get();
    attributes.recv_cq = cq_.get();
    attributes.pd = device.pd();
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
    attributes.send_ops_flags = (native_flush_ ? rpma::kFlushSendOps : 0) |
                                (native_atomic_write_ ? rpma::kAtomicWriteSendOp : 0);
    if (attributes.send_ops_flags != 0) {
        attributes.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    }
    require(rdma_create_qp_ex(id_, &attributes), "rdma_create_qp_ex");
    qp_ = id_->qp;
}

void VerbsLink::take_event() {
    ibv_cq* source = nullptr;
    void* context = nullptr;
    if (ibv_get_cq_event(channel_.get(), &source, &context) == 0) {
        ibv_ack_cq_events(source, 1);
        (void)ibv_req_notify_cq(cq_.get(), 0);
    }
}

std::string VerbsLink::text_of(int failure) {
    return errno_text(failure < 0 ? -failure : failure);
}

VerbsListener::VerbsListener(const std::string& address, int first_port, const TargetMemory& memory)
    : device_(address, true) {
    const int flush_access = device_.native_flush()
                                 ? rpma::kAccessFlushVisibility |
                                       (memory.direct_write() ? rpma::kAccessFlushPersistent : 0)
                                 : 0;
    constexpr int kAccess =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    region_.reset(require(ibv_reg_mr(device_.pd(), memory.data(), memory.size(),
                                     static_cast<unsigned>(kAccess | flush_access)),
                          "ibv_reg_mr"));
    port_ = on_free_port(address, first_port, [&](const std::string& port) {
        IdGuard guard(make_id());
        const AddressList local = numeric_address({address, port});
        if (rdma_bind_addr(guard.get(), local->ai_addr) != 0 ||
            rdma_listen(guard.get(), kMaxConnections) != 0) {
            return errno_text();
        }
        listener_ = guard.release();
        return std::string();
    });
}

VerbsListener::~VerbsListener() {
    if (listener_ != nullptr) {
        (void)rdma_destroy_id(listener_);
    }
}

RemoteAccess VerbsListener::access() const {
    RemoteAccess access;
    access.address = reinterpret_cast<std::uintptr_t>(region_->addr);
    access.rkey = region_->rkey;
    access.size = region_->length;
    return access;
}

std::unique_ptr<VerbsLink> VerbsListener::accept(const QueueSizes& queues, void* memory,
                                                 std::size_t size, int timeout_ms) {
    pollfd one{listener_->channel->fd, POLLIN, 0};
    if (::poll(&one, 1, timeout_ms) <= 0) {
        return nullptr;
    }
    rdma_cm_id* id = nullptr;
    require(rdma_get_request(listener_, &id), "rdma_get_request");
    return std::make_unique<VerbsLink>(device_, id, queues, memory, size);
}

}  // namespace perf
