// SPDX-License-Identifier: BSD-3-Clause
#include "cm/param.hpp"

#include <cerrno>
#include <cstring>

#include "cm/device.hpp"
#include "cm/limits.hpp"
#include "wire/packet.hpp"

namespace fabric::cm {

rdma_conn_param defaults() {
    rdma_conn_param param{};
    param.responder_resources = RDMA_MAX_RESP_RES;
    param.initiator_depth = RDMA_MAX_INIT_DEPTH;
    param.flow_control = 1;
    param.retry_count = kDefaultRetry;
    param.rnr_retry_count = kDefaultRetry;
    return param;
}

int check(const Id& id, const rdma_conn_param* param, std::size_t limit) {
    if (param == nullptr)
        return id.qp == nullptr && id.ps == RDMA_PS_TCP ? EINVAL : 0;
    const Device* const device = Device::get();
    if (device == nullptr)
        return ENODEV;
    if (param->responder_resources != RDMA_MAX_RESP_RES &&
        param->responder_resources > device->max_responder_resources())
        return EINVAL;
    if (param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
        param->initiator_depth > device->max_initiator_depth())
        return EINVAL;
    return param->private_data != nullptr && param->private_data_len > limit ? EINVAL : 0;
}

void copy_private_data(const rdma_conn_param& param, std::span<std::byte> out) {
    if (param.private_data != nullptr && param.private_data_len <= out.size())
        std::memcpy(out.data(), param.private_data, param.private_data_len);
}

std::uint32_t queue_pair_number(const Id& id, const rdma_conn_param& param) {
    return (id.qp != nullptr ? id.qp->qp_num : param.qp_num) & wire::kPsnMask;
}

bool shares_receive_queue(const Id& id, const rdma_conn_param& param) {
    return id.qp != nullptr ? id.qp->srq != nullptr : param.srq != 0;
}

}  // namespace fabric::cm
