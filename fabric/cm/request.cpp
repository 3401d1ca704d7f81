// SPDX-License-Identifier: BSD-3-Clause
#include "cm/request.hpp"

#include <algorithm>

#include "cm/device.hpp"
#include "cm/limits.hpp"
#include "cm/param.hpp"
#include "cm/route.hpp"
#include "wire/packet.hpp"

namespace fabric::cm {
namespace {

void agree(Id& id, const rdma_conn_param& param) {
    const Device& device = *Device::get();
    Terms& terms = id.terms;
    terms.local_id = new_local_id();
    terms.transaction = static_cast<std::uint64_t>(random_number()) << 32 | terms.local_id;
    terms.local_qp = queue_pair_number(id, param);
    terms.local_psn = random_number() & wire::kPsnMask;
    terms.mtu_code = Device::mtu_code();
    terms.responder_resources = param.responder_resources == RDMA_MAX_RESP_RES
                                    ? device.max_responder_resources()
                                    : param.responder_resources;
    terms.initiator_depth = param.initiator_depth == RDMA_MAX_INIT_DEPTH
                                ? device.max_initiator_depth()
                                : param.initiator_depth;
    terms.retry_count = param.retry_count & 7;
    terms.rnr_retry_wish = param.rnr_retry_count & 7;
}

void fill_gids(wire::CmRequest& request, const Id& id) {
    const rdma_ib_addr& gids = id.route.addr.addr.ibaddr;
    std::copy_n(reinterpret_cast<const std::byte*>(gids.sgid.raw), 16, request.local_gid.begin());
    std::copy_n(reinterpret_cast<const std::byte*>(gids.dgid.raw), 16, request.remote_gid.begin());
}

void fill_ip_header(wire::CmRequest& request, const Id& id) {
    wire::CmIpHeader header;
    header.ipv6 = id.route.addr.src_storage.ss_family == AF_INET6;
    header.source_port = port_of(id.route.addr.src_storage);
    header.source = request.local_gid;
    header.destination = request.remote_gid;
    if (!header.ipv6) {
        std::fill_n(header.source.begin(), 12, std::byte{0});
        std::fill_n(header.destination.begin(), 12, std::byte{0});
    }
    wire::encode_ip_header(header, std::span(request.private_data).first<wire::kCmIpHeaderBytes>());
}

std::uint64_t requested_service(const Id& id) {
    return (static_cast<std::uint64_t>(id.ps) << 16) + port_of(id.route.addr.dst_storage);
}

}  // namespace

void write_request(Id& id, const rdma_conn_param& param) {
    agree(id, param);
    wire::CmRequest request;
    request.local_id = id.terms.local_id;
    request.service_id = requested_service(id);
    request.ca_guid = Device::get()->guid();
    request.qp_number = id.terms.local_qp;
    request.responder_resources = id.terms.responder_resources;
    request.initiator_depth = id.terms.initiator_depth;
    request.remote_timeout = kResponseTimeoutCode;
    request.local_timeout = kResponseTimeoutCode;
    request.flow_control = param.flow_control != 0;
    request.starting_psn = id.terms.local_psn;
    request.retry_count = id.terms.retry_count;
    request.rnr_retry_count = id.terms.rnr_retry_wish;
    request.max_cm_retries = kMaxCmRetries;
    request.partition_key = kPartitionKey;
    request.mtu_code = id.terms.mtu_code;
    request.shared_receive_queue = shares_receive_queue(id, param);
    request.traffic_class = id.options.traffic_class;
    request.hop_limit = kHopLimit;
    request.packet_rate = id.path.rate;
    request.ack_timeout = kAckTimeoutCode;
    request.ece = {.vendor = id.terms.local_ece.vendor_id, .options = id.terms.local_ece.options};
    fill_gids(request, id);
    fill_ip_header(request, id);
    copy_private_data(param, std::span(request.private_data).subspan<wire::kCmIpHeaderBytes>());
    id.request = request;
}

void set_source_port(Id& id, std::uint16_t port) {
    set_port(id.route.addr.src_storage, port);
    fill_ip_header(id.request, id);
}

}  // namespace fabric::cm
