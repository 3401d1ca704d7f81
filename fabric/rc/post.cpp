// SPDX-License-Identifier: BSD-3-Clause
#include "rc/post.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

#include "rc/native.hpp"
#include "rc/scatter_gather.hpp"

namespace fabric::rc {

namespace {

constexpr unsigned kKnownFlags =
    IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

std::optional<Kind> kind_of(ibv_wr_opcode opcode) {
    switch (opcode) {
        case IBV_WR_SEND:
            return Kind::Send;
        case IBV_WR_SEND_WITH_IMM:
            return Kind::SendImm;
        case IBV_WR_SEND_WITH_INV:
            return Kind::SendInvalidate;
        case IBV_WR_RDMA_WRITE:
            return Kind::Write;
        case IBV_WR_RDMA_WRITE_WITH_IMM:
            return Kind::WriteImm;
        case IBV_WR_RDMA_READ:
            return Kind::Read;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
            return Kind::CompareSwap;
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            return Kind::FetchAdd;
        default:
            return std::nullopt;
    }
}

void set_flags(unsigned send_flags, const Capacity& capacity, SendRequest& out) {
    out.signaled = capacity.signal_all || (send_flags & IBV_SEND_SIGNALED) != 0;
    out.solicited = (send_flags & IBV_SEND_SOLICITED) != 0;
    out.fence = (send_flags & IBV_SEND_FENCE) != 0;
    out.is_inline = (send_flags & IBV_SEND_INLINE) != 0;
}

void set_remote(const ibv_send_wr& wr, SendRequest& out) {
    if (out.kind == Kind::CompareSwap || out.kind == Kind::FetchAdd) {
        out.remote_address = wr.wr.atomic.remote_addr;
        out.rkey = wr.wr.atomic.rkey;
        const bool swap = out.kind == Kind::CompareSwap;
        out.swap_or_add = swap ? wr.wr.atomic.swap : wr.wr.atomic.compare_add;
        out.compare = swap ? wr.wr.atomic.compare_add : 0;
        return;
    }
    out.remote_address = wr.wr.rdma.remote_addr;
    out.rkey = wr.wr.rdma.rkey;
    out.immediate = out.kind == Kind::SendInvalidate ? wr.invalidate_rkey : wr.imm_data;
}

void copy_inline(std::span<const ibv_sge> sges, std::byte* to) {
    for (const ibv_sge& sge : sges) {
        if (sge.length != 0) {
            std::memcpy(to, std::bit_cast<const void*>(sge.addr), sge.length);
            to += sge.length;
        }
    }
}

void take_data(std::span<const ibv_sge> sges, SendRequest& out) {
    out.length = total_length(sges);
    out.sge_count = 0;
    if (out.is_inline) {
        copy_inline(sges, out.tail());
        return;
    }
    out.sge_count = static_cast<std::uint8_t>(sges.size());
    std::copy(sges.begin(), sges.end(), out.sge_storage());
}

std::span<const ibv_sge> pieces_of(const ibv_send_wr& wr) {
    return {wr.sg_list, static_cast<std::size_t>(wr.num_sge)};
}

}  // namespace

int check(const ibv_send_wr& wr, const Capacity& capacity) {
    const auto kind = kind_of(wr.opcode);
    const std::uint32_t sge_limit = std::min(capacity.send_sge, kMaxSge);
    if (!kind || (wr.send_flags & ~kKnownFlags) != 0 || wr.num_sge < 0 ||
        static_cast<std::uint32_t>(wr.num_sge) > sge_limit) {
        return EINVAL;
    }
    const bool is_inline = (wr.send_flags & IBV_SEND_INLINE) != 0;
    const bool fits =
        !is_inline || (!brings_data(*kind) &&
                       total_length(pieces_of(wr)) <= std::min(capacity.inline_bytes, kMaxInline));
    return fits ? 0 : EINVAL;
}

int check(const Endpoint::NativeRequest& request) {
    const bool flush = request.kind == Endpoint::NativeRequest::Kind::Flush;
    constexpr unsigned kTypes = kFlushGlobal | kFlushPersistent;
    const bool bad_flush = (request.type & kTypes) == 0 || (request.type & ~kTypes) != 0 ||
                           request.level > kFlushRegion;
    return (request.send_flags & ~kKnownFlags) != 0 || (flush && bad_flush) ? EINVAL : 0;
}

int take(const ibv_send_wr& wr, const Capacity& capacity, SendRequest& out) {
    if (const int error = check(wr, capacity); error != 0) {
        return error;
    }
    out.wr_id = wr.wr_id;
    out.kind = *kind_of(wr.opcode);
    out.received = 0;
    set_flags(wr.send_flags, capacity, out);
    set_remote(wr, out);
    take_data(pieces_of(wr), out);
    return 0;
}

int take(const Endpoint::NativeRequest& request, const Capacity& capacity, SendRequest& out) {
    if (const int error = check(request); error != 0) {
        return error;
    }
    const bool flush = request.kind == Endpoint::NativeRequest::Kind::Flush;
    out.wr_id = request.wr_id;
    out.kind = flush ? Kind::Flush : Kind::AtomicWrite;
    out.received = 0;
    set_flags(request.send_flags, capacity, out);
    out.remote_address = request.remote_address;
    out.rkey = request.rkey;
    out.sge_count = 0;
    out.length = flush ? request.length : request.value.size();
    out.flush_type = request.type;
    out.flush_level = request.level;
    out.value = request.value;
    return 0;
}

}  // namespace fabric::rc
