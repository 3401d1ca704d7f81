// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/qp_ex.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "config.hpp"
#include "verbs/api.hpp"
#include "verbs/limits.hpp"
#include "verbs/queue_pair.hpp"

namespace fabric::verbs {

// --- the batch ---

void SendBatch::start() {
    mutex_.lock();
    items_.clear();
    pieces_.clear();
    inline_data_.clear();
    error_ = 0;
}

void SendBatch::add(const ibv_send_wr& wr) {
    Item& item = items_.emplace_back();
    item.wr = wr;
    item.first_piece = pieces_.size();
}

void SendBatch::add(const Native& request) {
    Item& item = items_.emplace_back();
    item.is_native = true;
    item.native = request;
}

void SendBatch::refuse(int error) {
    if (error_ == 0)
        error_ = error;
}

void SendBatch::set_pieces(std::span<const ibv_sge> pieces) {
    if (items_.empty() || pieces.size() > static_cast<std::size_t>(limits::kMaxSge)) {
        refuse(EINVAL);
        return;
    }
    Item& item = items_.back();
    pieces_.resize(item.first_piece);
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
    item.wr.num_sge = static_cast<int>(pieces.size());
}

void SendBatch::set_inline(std::span<const ibv_data_buf> buffers) {
    if (items_.empty()) {
        refuse(EINVAL);
        return;
    }
    Item& item = items_.back();
    item.wr.send_flags |= IBV_SEND_INLINE;
    item.inline_offset = inline_data_.size();
    for (const ibv_data_buf& buffer : buffers) {
        if (buffer.length > static_cast<std::size_t>(limits::kMaxInline)) {
            refuse(EINVAL);
            return;
        }
        const auto* const data = static_cast<const std::byte*>(buffer.addr);
        inline_data_.insert(inline_data_.end(), data, data + buffer.length);
    }
    item.inline_bytes = inline_data_.size() - item.inline_offset;
}

int SendBatch::post_to(rc::Endpoint& endpoint) const {
    const auto check = [](rc::Endpoint& to, const Item& item, const ibv_send_wr& wr) {
        return item.is_native ? rc::Endpoint::check_native(item.native) : to.check_send(wr);
    };
    const auto post = [](rc::Endpoint& to, const Item& item, const ibv_send_wr& wr) {
        return item.is_native ? to.post_native(item.native) : to.post_send(wr);
    };
    if (items_.size() > 1)
        if (const int error = each(check, endpoint); error != 0)
            return error;
    return each(post, endpoint);
}

// Until the first error, which is returned.
int SendBatch::each(int (*act)(rc::Endpoint&, const Item&, const ibv_send_wr&),
                    rc::Endpoint& endpoint) const {
    for (const Item& item : items_) {
        ibv_send_wr wr = item.wr;
        ibv_sge inline_piece = {
            reinterpret_cast<std::uintptr_t>(inline_data_.data() + item.inline_offset),
            static_cast<std::uint32_t>(item.inline_bytes), 0};
        const bool is_inline = (wr.send_flags & IBV_SEND_INLINE) != 0;
        // The transport only reads the list.
        wr.sg_list =
            is_inline ? &inline_piece : const_cast<ibv_sge*>(pieces_.data() + item.first_piece);
        wr.num_sge = is_inline ? 1 : wr.num_sge;
        if (const int error = act(endpoint, item, wr); error != 0)
            return error;
    }
    return 0;
}

namespace {

// --- the functions programs call ---

SendBatch& batch_of(ibv_qp_ex* qp) {
    return *RcQueuePair::of(qp).batch();
}

ibv_send_wr request(const ibv_qp_ex* qp, ibv_wr_opcode opcode) {
    ibv_send_wr wr{};
    wr.wr_id = qp->wr_id;
    wr.opcode = opcode;
    wr.send_flags = qp->wr_flags;
    return wr;
}

ibv_send_wr rdma_request(const ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey,
                         std::uint64_t address) {
    ibv_send_wr wr = request(qp, opcode);
    wr.wr.rdma.rkey = rkey;
    wr.wr.rdma.remote_addr = address;
    return wr;
}

ibv_send_wr atomic_request(const ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey,
                           std::uint64_t address) {
    ibv_send_wr wr = request(qp, opcode);
    wr.wr.atomic.rkey = rkey;
    wr.wr.atomic.remote_addr = address;
    return wr;
}

void wr_start(ibv_qp_ex* qp) {
    batch_of(qp).start();
}

int wr_complete(ibv_qp_ex* qp) {
    RcQueuePair& self = RcQueuePair::of(qp);
    const int error = self.post_batch(*self.batch());
    self.batch()->finish();
    return error;
}

void wr_abort(ibv_qp_ex* qp) {
    batch_of(qp).finish();
}

void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
    batch_of(qp).add(rdma_request(qp, IBV_WR_RDMA_WRITE, rkey, address));
}

void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, __be32 imm) {
    ibv_send_wr wr = rdma_request(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address);
    wr.imm_data = imm;
    batch_of(qp).add(wr);
}

void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
    batch_of(qp).add(rdma_request(qp, IBV_WR_RDMA_READ, rkey, address));
}

void wr_send(ibv_qp_ex* qp) {
    batch_of(qp).add(request(qp, IBV_WR_SEND));
}

void wr_send_imm(ibv_qp_ex* qp, __be32 imm) {
    ibv_send_wr wr = request(qp, IBV_WR_SEND_WITH_IMM);
    wr.imm_data = imm;
    batch_of(qp).add(wr);
}

void wr_send_inv(ibv_qp_ex* qp, std::uint32_t rkey) {
    ibv_send_wr wr = request(qp, IBV_WR_SEND_WITH_INV);
    wr.invalidate_rkey = rkey;
    batch_of(qp).add(wr);
}

void wr_atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                       std::uint64_t compare, std::uint64_t swap) {
    ibv_send_wr wr = atomic_request(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address);
    wr.wr.atomic.compare_add = compare;
    wr.wr.atomic.swap = swap;
    batch_of(qp).add(wr);
}

void wr_atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                         std::uint64_t add) {
    ibv_send_wr wr = atomic_request(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address);
    wr.wr.atomic.compare_add = add;
    batch_of(qp).add(wr);
}

SendBatch::Native native_request(const ibv_qp_ex* qp, SendBatch::Native::Kind kind,
                                 std::uint32_t rkey, std::uint64_t address) {
    SendBatch::Native out{};
    out.kind = kind;
    out.wr_id = qp->wr_id;
    out.send_flags = qp->wr_flags;
    out.rkey = rkey;
    out.remote_address = address;
    return out;
}

#ifdef RPMA_HAVE_NATIVE_ATOMIC_WRITE
void wr_atomic_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, const void* value) {
    auto wr = native_request(qp, SendBatch::Native::Kind::AtomicWrite, rkey, address);
    wr.send_flags &= ~static_cast<unsigned>(IBV_SEND_INLINE);  // the value is taken now anyway
    std::memcpy(wr.value.data(), value, wr.value.size());
    batch_of(qp).add(wr);
}
#endif

#ifdef RPMA_HAVE_NATIVE_FLUSH
void wr_flush(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::size_t length,
              std::uint8_t type, std::uint8_t level) {
    auto wr = native_request(qp, SendBatch::Native::Kind::Flush, rkey, address);
    if (length > UINT32_MAX)
        batch_of(qp).refuse(EINVAL);
    wr.length = static_cast<std::uint32_t>(length);
    wr.type = type;
    wr.level = level;
    batch_of(qp).add(wr);
}
#endif

void wr_set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
    const ibv_sge piece = {address, length, lkey};
    batch_of(qp).set_pieces({&piece, 1});
}

void wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
    batch_of(qp).set_pieces({list, count});
}

void wr_set_inline_data(ibv_qp_ex* qp, void* address, std::size_t length) {
    const ibv_data_buf buffer = {address, length};
    batch_of(qp).set_inline({&buffer, 1});
}

void wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
    batch_of(qp).set_inline({list, count});
}

constexpr std::uint64_t kBasicOps =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
    IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV;

}  // namespace

std::uint64_t supported_send_ops() {
    std::uint64_t ops = kBasicOps;
#ifdef RPMA_HAVE_NATIVE_ATOMIC_WRITE
    if (config().native_atomic_write)
        ops |= IBV_QP_EX_WITH_ATOMIC_WRITE;
#endif
#ifdef RPMA_HAVE_NATIVE_FLUSH
    if (config().native_flush)
        ops |= IBV_QP_EX_WITH_FLUSH;
#endif
    return ops;
}

// Only the operations that were asked for at creation may be used; the others stay empty, as with
// every provider.
void fill_qp_functions(ibv_qp_ex& qp, std::uint64_t send_ops) {
    const auto give = [send_ops](std::uint64_t operation, auto& place, auto function) {
        if ((send_ops & operation) != 0)
            place = function;
    };
    give(IBV_QP_EX_WITH_RDMA_WRITE, qp.wr_rdma_write, wr_rdma_write);
    give(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, qp.wr_rdma_write_imm, wr_rdma_write_imm);
    give(IBV_QP_EX_WITH_SEND, qp.wr_send, wr_send);
    give(IBV_QP_EX_WITH_SEND_WITH_IMM, qp.wr_send_imm, wr_send_imm);
    give(IBV_QP_EX_WITH_RDMA_READ, qp.wr_rdma_read, wr_rdma_read);
    give(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, qp.wr_atomic_cmp_swp, wr_atomic_cmp_swp);
    give(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, qp.wr_atomic_fetch_add, wr_atomic_fetch_add);
    give(IBV_QP_EX_WITH_SEND_WITH_INV, qp.wr_send_inv, wr_send_inv);
#ifdef RPMA_HAVE_NATIVE_ATOMIC_WRITE
    give(IBV_QP_EX_WITH_ATOMIC_WRITE, qp.wr_atomic_write, wr_atomic_write);
#endif
#ifdef RPMA_HAVE_NATIVE_FLUSH
    give(IBV_QP_EX_WITH_FLUSH, qp.wr_flush, wr_flush);
#endif
    qp.wr_start = wr_start;
    qp.wr_complete = wr_complete;
    qp.wr_abort = wr_abort;
    qp.wr_set_sge = wr_set_sge;
    qp.wr_set_sge_list = wr_set_sge_list;
    qp.wr_set_inline_data = wr_set_inline_data;
    qp.wr_set_inline_data_list = wr_set_inline_data_list;
}

}  // namespace fabric::verbs

FABRIC_API ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
    using fabric::verbs::RcQueuePair;
    RcQueuePair& self = RcQueuePair::of(qp);
    return self.batch() != nullptr ? self.extended_handle() : fabric::verbs::fail(EOPNOTSUPP);
}
