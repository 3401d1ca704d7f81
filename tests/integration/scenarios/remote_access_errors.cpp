// SPDX-License-Identifier: BSD-3-Clause
// Remote accesses that the responder must refuse: a wrong key, one byte beyond the region, a right
// that the region does not give, an atomic at an odd address. The requester sees the error on that
// request and the rest flushed; no byte changes; another connection of the same server is unhurt.
#include <array>
#include <functional>

#include "common/pattern.hpp"
#include "common/verbs.hpp"

namespace {

constexpr std::size_t kSize = 8192;

struct Offer {
    it::Target writable;
    it::Target read_only;
    it::Target write_only;
};

using Attack = std::function<void(rdma_cm_id*, const Offer&, const it::VerbsMemory&)>;

void rdma(rdma_cm_id* id, ibv_wr_opcode opcode, const it::Target& target, std::uint64_t offset,
          const ibv_sge& sge) {
    it::post(id, it::rdma_request(opcode, 1, target, offset), {sge});
}

it::Target with_key(it::Target target, std::uint32_t flip) {
    target.rkey ^= flip;
    return target;
}

void atomic_at(rdma_cm_id* id, const it::Target& target, std::uint64_t offset,
               const it::VerbsMemory& local) {
    ibv_send_wr request = it::send_request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1);
    request.wr.atomic = {
        .remote_addr = target.address + offset, .compare_add = 1, .swap = 0, .rkey = target.rkey};
    it::post(id, request, {local.sge(0, 8)});
}

struct Case {
    const char* name;
    ibv_wc_status status;
    Attack attack;
};

const std::array<Case, 9>& cases() {
    static const std::array<Case, 9> all = {{
        {"write with a wrong key", IBV_WC_REM_ACCESS_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             rdma(id, IBV_WR_RDMA_WRITE, with_key(offer.writable, 0x10000), 0, local.sge(0, 8));
         }},
        {"read with a wrong key", IBV_WC_REM_ACCESS_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             rdma(id, IBV_WR_RDMA_READ, with_key(offer.writable, 0x1), 0, local.sge(0, 8));
         }},
        {"write one byte too far", IBV_WC_REM_ACCESS_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             rdma(id, IBV_WR_RDMA_WRITE, offer.writable, 1, local.sge(0, kSize));
         }},
        {"write one byte before", IBV_WC_REM_ACCESS_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             rdma(id, IBV_WR_RDMA_WRITE, offer.writable, UINT64_MAX, local.sge(0, 8));
         }},
        {"read one byte too far", IBV_WC_REM_ACCESS_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             rdma(id, IBV_WR_RDMA_READ, offer.writable, kSize - 7, local.sge(0, 8));
         }},
        {"write to memory for reading", IBV_WC_REM_ACCESS_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             rdma(id, IBV_WR_RDMA_WRITE, offer.read_only, 0, local.sge(0, 8));
         }},
        {"read of memory for writing", IBV_WC_REM_ACCESS_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             rdma(id, IBV_WR_RDMA_READ, offer.write_only, 0, local.sge(0, 8));
         }},
        {"atomic without the right", IBV_WC_REM_ACCESS_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             atomic_at(id, offer.write_only, 0, local);
         }},
        {"atomic at an odd address", IBV_WC_REM_INV_REQ_ERR,
         [](rdma_cm_id* id, const Offer& offer, const it::VerbsMemory& local) {
             atomic_at(id, offer.writable, 4, local);
         }},
    }};
    return all;
}

// rdma_rxe takes the last one for a mistake of the caller's and does not even post it.
std::size_t case_count() {
    return cases().size() - (it::on_fabric() ? 0 : 1);
}

void check_untouched(it::VerbsMemory& memory) {
    it::check_filled(memory.bytes(), 1);
}

}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    const it::CmId steady = it::verbs_accept(listener.get());
    it::VerbsMemory writable(steady.get(), kSize, it::kAllAccess);
    it::VerbsMemory read_only(steady.get(), kSize, IBV_ACCESS_REMOTE_READ);
    it::VerbsMemory write_only(steady.get(), kSize,
                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    for (it::VerbsMemory* memory : {&writable, &read_only, &write_only}) {
        it::fill(memory->bytes(), 1);
    }
    role.peer().give("offer", Offer{it::target_of(writable), it::target_of(read_only),
                                    it::target_of(write_only)});
    for (std::size_t index = 0; index < case_count(); ++index) {
        role.peer().signal("listening");
        const it::CmId attacked = it::verbs_accept(listener.get());
        role.peer().await("attacked");
        for (it::VerbsMemory* memory : {&writable, &read_only, &write_only}) {
            check_untouched(*memory);
        }
        role.peer().signal("checked");
    }
    role.peer().await("done");
    it::verbs_disconnect(steady.get());
}

namespace {

void attack(it::Role& role, const Case& one, const Offer& offer) {
    std::fprintf(stderr, "%s\n", one.name);
    const it::CmId id = it::verbs_connect(role);
    it::VerbsMemory local(id.get(), kSize, it::kAllAccess);
    one.attack(id.get(), offer, local);
    it::post(id.get(), it::rdma_request(IBV_WR_RDMA_WRITE, 2, offer.writable, 0, 0),
             {local.sge(0, 8)});
    it::post(id.get(), it::rdma_request(IBV_WR_RDMA_READ, 3, offer.writable, 0), {local.sge(0, 8)});
    CHECK_EQ(it::expect_status(id->send_cq, 1, one.status).qp_num, id->qp->qp_num);
    it::expect_status(id->send_cq, 2, IBV_WC_WR_FLUSH_ERR);
    it::expect_status(id->send_cq, 3, IBV_WC_WR_FLUSH_ERR);
    role.peer().signal("attacked");
    role.peer().await("checked");
}

}  // namespace

void client(it::Role& role) {
    const it::CmId steady = it::verbs_connect(role);
    it::VerbsMemory local(steady.get(), kSize, it::kAllAccess);
    const auto offer = role.peer().take<Offer>("offer");
    for (std::size_t index = 0; index < case_count(); ++index) {
        attack(role, cases()[index], offer);
        it::post(steady.get(), it::rdma_request(IBV_WR_RDMA_READ, 7, offer.writable, 0),
                 {local.sge(0, kSize)});
        it::expect_success(steady->send_cq, 7);
        it::check_filled(local.bytes(), 1);
    }
    role.peer().signal("done");
    it::verbs_disconnect(steady.get());
}
