// SPDX-License-Identifier: BSD-3-Clause
#include "rc/request_packet.hpp"

#include <algorithm>

#include "rc/limits.hpp"
#include "rc/psn.hpp"
#include "rc/scatter_gather.hpp"

namespace fabric::rc {

namespace {

using wire::Opcode;

Opcode send_opcode(Kind kind, bool first, bool last) {
    if (!last) {
        return first ? Opcode::SendFirst : Opcode::SendMiddle;
    }
    switch (kind) {
        case Kind::SendImm:
            return first ? Opcode::SendOnlyImm : Opcode::SendLastImm;
        case Kind::SendInvalidate:
            return first ? Opcode::SendOnlyInvalidate : Opcode::SendLastInvalidate;
        default:
            return first ? Opcode::SendOnly : Opcode::SendLast;
    }
}

Opcode write_opcode(Kind kind, bool first, bool last) {
    if (!last) {
        return first ? Opcode::WriteFirst : Opcode::WriteMiddle;
    }
    if (kind == Kind::WriteImm) {
        return first ? Opcode::WriteOnlyImm : Opcode::WriteLastImm;
    }
    return first ? Opcode::WriteOnly : Opcode::WriteLast;
}

Opcode opcode_of(Kind kind, bool first, bool last) {
    switch (kind) {
        case Kind::Write:
        case Kind::WriteImm:
            return write_opcode(kind, first, last);
        case Kind::Read:
            return Opcode::ReadRequest;
        case Kind::CompareSwap:
            return Opcode::CompareSwap;
        case Kind::FetchAdd:
            return Opcode::FetchAdd;
        case Kind::Flush:
            return Opcode::Flush;
        case Kind::AtomicWrite:
            return Opcode::AtomicWrite;
        default:
            return send_opcode(kind, first, last);
    }
}

// Bytes of the message that one packet carries at most; its PSN offset says where they start.
struct Share {
    std::uint64_t offset;
    std::uint32_t bytes;
};

Share share_of(const SendRequest& request, std::uint32_t packet, std::uint32_t mtu) {
    const std::uint64_t offset = std::uint64_t{packet} * mtu;
    return {offset,
            static_cast<std::uint32_t>(std::min<std::uint64_t>(mtu, request.length - offset))};
}

void fill_header(const SendRequest& request, std::uint32_t packet, const Attributes& attributes,
                 wire::Header& header) {
    const bool last = packet + 1 == request.psn_count;
    const std::uint64_t skipped =
        request.kind == Kind::Read ? std::uint64_t{packet} * attributes.path_mtu : 0;
    header = {};
    header.opcode = opcode_of(request.kind, packet == 0, last);
    header.destination_qp = attributes.destination_qp;
    header.psn = psn_add(request.first_psn, packet);
    header.remote_address = request.remote_address + skipped;
    header.rkey = request.kind == Kind::SendInvalidate ? request.immediate : request.rkey;
    header.dma_length = static_cast<std::uint32_t>(request.length - skipped);
    header.swap_or_add = request.swap_or_add;
    header.compare = request.compare;
    header.immediate = request.immediate;
    header.flush_type = request.flush_type;
    header.flush_level = request.flush_level;
    const bool wakes = request.kind <= Kind::SendInvalidate || request.kind == Kind::WriteImm;
    header.solicited = last && wakes && request.solicited;
}

bool fill_payload(const SendRequest& request, const Share& share, const Context& context,
                  OutPacket& out) {
    out.payload_size = share.bytes;
    if (!request.is_inline) {
        const Piece piece{request.sges(), share.offset, share.bytes};
        return resolve(piece, context.host.pd(), 0, out.segments, out.segment_count);
    }
    auto* const data = const_cast<SendRequest&>(request).tail() + share.offset;
    out.segments[0] = {data, share.bytes, nullptr};
    out.segment_count = share.bytes == 0 ? 0 : 1;
    return true;
}

}  // namespace

void count_psns(SendRequest& request, std::uint32_t mtu) {
    const bool one = has_response(request.kind) && request.kind != Kind::Read;
    request.psn_count = one ? 1 : packets_for(static_cast<std::uint32_t>(request.length), mtu);
}

std::uint32_t packets_of(const SendRequest& request) {
    return request.kind == Kind::Read ? 1 : request.psn_count;
}

void seal(OutPacket& out) {
    out.header.pad = (4 - out.payload_size % 4) % 4;
    out.header_size = static_cast<std::uint32_t>(wire::encode(out.header, out.header_data));
}

bool build_request(const SendRequest& request, std::uint32_t packet, const Context& context,
                   OutPacket& out) {
    fill_header(request, packet, context.attributes, out.header);
    out.payload_size = 0;
    out.segment_count = 0;
    if (request.kind == Kind::AtomicWrite) {
        out.payload_size = static_cast<std::uint32_t>(request.value.size());
        auto* const value = const_cast<std::byte*>(request.value.data());
        out.segments[out.segment_count++] = {value, request.value.size(), nullptr};
    } else if (!has_response(request.kind)) {
        return fill_payload(request, share_of(request, packet, context.attributes.path_mtu),
                            context, out);
    }
    return true;
}

ibv_wc_status check_local(const SendRequest& request, const Context& context) {
    const bool atomic = request.kind == Kind::CompareSwap || request.kind == Kind::FetchAdd;
    if (request.length > kMaxMessage || (atomic && request.length != sizeof(std::uint64_t))) {
        return IBV_WC_LOC_LEN_ERR;
    }
    if (has_response(request.kind) && context.attributes.max_rd_atomic == 0) {
        return IBV_WC_LOC_QP_OP_ERR;
    }
    if (request.sge_count == 0) {
        return IBV_WC_SUCCESS;
    }
    std::array<memory::Segment, kMaxSge> segments;
    std::uint32_t count = 0;
    const unsigned access =
        brings_data(request.kind) ? static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE) : 0;
    const bool granted =
        resolve({request.sges(), 0, request.length}, context.host.pd(), access, segments, count);
    return granted ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

}  // namespace fabric::rc
