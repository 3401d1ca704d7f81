// SPDX-License-Identifier: BSD-3-Clause
// Local mistakes. At the verbs level a wrong lkey or range ends in one local protection error and a
// flushed queue, and the other side's memory is untouched.
#include <array>
#include <utility>
#include <vector>

#include "common/pattern.hpp"
#include "common/verbs.hpp"

namespace {

constexpr std::size_t kSize = 4096;
constexpr std::array<const char*, 3> kMistakes = {"range", "deregistered",
                                                  "other protection domain"};

// A registration that is wrong for this queue pair in one of three ways.
class WrongMemory {
public:
    WrongMemory(rdma_cm_id* id, std::size_t mistake)
        : bytes_(2 * kSize), pd_(ibv_alloc_pd(id->verbs)) {
        CHECK(pd_ != nullptr);
        constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE;
        mr_ = ibv_reg_mr(mistake == 2 ? pd_ : id->pd, bytes_.data(), kSize, kAccess);
        CHECK(mr_ != nullptr);
        sge_ = {.addr = reinterpret_cast<std::uintptr_t>(bytes_.data()) + (mistake == 0 ? 1 : 0),
                .length = kSize,
                .lkey = mr_->lkey};
        if (mistake == 1) {
            deregister();
        }
    }
    ~WrongMemory() {
        deregister();
        CHECK(ibv_dealloc_pd(pd_) == 0);
    }
    WrongMemory(const WrongMemory&) = delete;
    WrongMemory& operator=(const WrongMemory&) = delete;
    const ibv_sge& sge() const { return sge_; }

private:
    void deregister() {
        if (mr_ != nullptr) {
            CHECK(ibv_dereg_mr(std::exchange(mr_, nullptr)) == 0);
        }
    }

    std::vector<std::byte> bytes_;
    ibv_pd* pd_;
    ibv_mr* mr_ = nullptr;
    ibv_sge sge_{};
};

}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    for (std::size_t mistake = 0; mistake < kMistakes.size(); ++mistake) {
        const it::CmId id = it::verbs_accept(listener.get());
        it::VerbsMemory memory(id.get(), 2 * kSize, it::kAllAccess);
        it::fill(memory.bytes(), 6);
        role.peer().give("target", it::target_of(memory));
        role.peer().await("tried");
        it::check_filled(memory.bytes(), 6);
        role.peer().signal("listening");
        it::verbs_disconnect(id.get());
    }
}

void client(it::Role& role) {
    for (std::size_t mistake = 0; mistake < kMistakes.size(); ++mistake) {
        std::fprintf(stderr, "%s\n", kMistakes[mistake]);
        const it::CmId id = it::verbs_connect(role);
        it::VerbsMemory local(id.get(), kSize, it::kAllAccess);
        const auto target = role.peer().take<it::Target>("target");
        const WrongMemory wrong(id.get(), mistake);
        it::post(id.get(), it::rdma_request(IBV_WR_RDMA_WRITE, 1, target, 0), {wrong.sge()});
        CHECK_EQ(it::expect_status(id->send_cq, 1, IBV_WC_LOC_PROT_ERR).qp_num, id->qp->qp_num);
        it::post(id.get(), it::rdma_request(IBV_WR_RDMA_WRITE, 2, target, 0), {local.sge(0, 8)});
        it::expect_status(id->send_cq, 2, IBV_WC_WR_FLUSH_ERR);
        role.peer().signal("tried");
        it::verbs_disconnect(id.get());
    }
    role.peer().await("listening");
}
