// SPDX-License-Identifier: BSD-3-Clause
// Memory regions: thin handles over the table of registrations. Nothing is pinned: pages may come
// and go as with on-demand paging.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "carrier/link.hpp"
#include "config.hpp"
#include "faults/plan.hpp"
#include "memory/table.hpp"
#include "verbs/api.hpp"
#include "verbs/birth.hpp"
#include "verbs/limits.hpp"
#include "verbs/operations.hpp"
#include "verbs/pd.hpp"
#include "verbs/qp_registry.hpp"

namespace fabric::verbs {
namespace {

using memory::Region;
using memory::Table;

struct Mr {
    ibv_mr shown{};  // first: what programs hold
    std::unique_ptr<PdUse> pd_use;
    Region* region = nullptr;
    const Birth birth{};  // the process it was made in

    static Mr& of(ibv_mr* mr) { return *reinterpret_cast<Mr*>(mr); }
};

constexpr unsigned kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
// Wishes about how, not about what: fulfilled by doing nothing.
constexpr unsigned kHints = IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;

// 0, or the errno for access bits this device does not have.
int check_access(unsigned access) {
    unsigned known = kRights | kHints | IBV_ACCESS_ZERO_BASED;
    if (config().native_flush)
        known |= limits::kAccessFlushGlobal | limits::kAccessFlushPersistent;
    return (access & ~known) == 0 ? 0 : EOPNOTSUPP;
}

// What a region is made from, as the table wants it.
struct Request {
    std::uint64_t iova;
    unsigned rights;
};

Request request_of(std::uint64_t iova, unsigned access) {
    return {(access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova,
            access & ~(kHints | IBV_ACCESS_ZERO_BASED)};
}

// Afterwards nobody in this process reaches the memory through a region that the table does not
// give any more: whoever found it before holds the lock of a queue pair or of a link, so each of
// those is passed once.
void await_users(const Region* region) {
    qp_registry::pass_locks();
    carrier::release_everywhere(region);
}

void deregister(Region* region) {
    Table::instance().retire(region);
    await_users(region);
    Table::instance().free(region);
}

void show(Mr& mr, ibv_pd* pd, void* address, std::size_t length) {
    mr.shown.context = pd->context;
    mr.shown.pd = pd;
    mr.shown.addr = address;
    mr.shown.length = length;
    mr.shown.lkey = mr.shown.rkey = mr.region->key;
    mr.shown.handle = mr.region->key;
}

ibv_mr* register_memory(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        unsigned access) {
    auto mr = std::make_unique<Mr>();
    const Request request = request_of(iova, access);
    int error = check_access(access);
    if (error == 0)
        error = faults::refusal(faults::Kind::RefuseMr);
    if (error == 0)
        error =
            Table::instance().add(pd, address, length, request.iova, request.rights, &mr->region);
    if (error != 0)
        return fail(error);
    mr->pd_use = std::make_unique<PdUse>(pd);
    show(*mr, pd, address, length);
    return &mr.release()->shown;
}

std::uint64_t offset_in_page(std::uint64_t address) {
    return address & (static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) - 1);
}

// Adapters translate pages, so the kernel asks for the same offset in a page on both sides.
ibv_mr* register_elsewhere(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                           unsigned access) {
    if (offset_in_page(iova) != offset_in_page(reinterpret_cast<std::uintptr_t>(address)))
        return fail(EINVAL);
    return register_memory(pd, address, length, iova, access);
}

// Makes the pages present; the kernel may refuse, that is no error.
void prefetch(std::byte* address, std::size_t length, bool now, bool write) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto before = reinterpret_cast<std::uintptr_t>(address) & (page - 1);
    const int advice = !now ? MADV_WILLNEED : write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    madvise(address - before, before + length, advice);
}

}  // namespace

// ENOENT: no such key here. EFAULT: outside of its region. EPERM: prefetch for writing without the
// right to write.
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list,
              std::uint32_t count) {
    if (advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT ||
        (flags & ~static_cast<unsigned>(IBV_ADVISE_MR_FLAG_FLUSH)) != 0)
        return EINVAL;
    if (count == 0 || list == nullptr)
        return EINVAL;
    const bool write = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
    const bool now =
        (flags & IBV_ADVISE_MR_FLAG_FLUSH) != 0 && advice != IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
    const Table& table = Table::instance();
    for (const ibv_sge& range : std::span(list, count)) {
        if (!table.find_region(range.lkey, pd, 0))
            return ENOENT;
        if (write && !table.find_region(range.lkey, pd, IBV_ACCESS_LOCAL_WRITE))
            return EPERM;
        const auto found = table.find(range.lkey, pd, range.addr, range.length, 0);
        if (!found)
            return EFAULT;
        prefetch(found->address, found->length, now, write);
    }
    return 0;
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

FABRIC_API ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
    return register_memory(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                           static_cast<unsigned>(access));
}

FABRIC_API ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length,
                                   std::uint64_t iova, int access) {
    return register_elsewhere(pd, address, length, iova, static_cast<unsigned>(access));
}

FABRIC_API ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length,
                                    std::uint64_t iova, unsigned access) {
    return register_elsewhere(pd, address, length, iova, access);
}

FABRIC_API int ibv_dereg_mr(ibv_mr* mr) {
    if (Mr::of(mr).birth.inherited())
        return 0;
    const std::unique_ptr<Mr> self(&Mr::of(mr));
    deregister(self->region);
    return 0;
}

// A new registration takes the place of the old one, which is valid until then and stays if the new
// one fails.
FABRIC_API int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length,
                            int access) {
    constexpr int kKnown =
        IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
    const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
    const bool changes_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0;
    if (flags == 0 || (flags & ~kKnown) != 0 || (moves && (length == 0 || address == nullptr)) ||
        (changes_pd && pd == nullptr)) {
        errno = EINVAL;
        return IBV_REREG_MR_ERR_INPUT;
    }
    Mr& self = Mr::of(mr);
    Region* const old = self.region;
    const unsigned rights =
        (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? static_cast<unsigned>(access) : old->access;
    ibv_pd* const new_pd = changes_pd ? pd : mr->pd;
    void* const start = moves ? address : mr->addr;
    const std::size_t size = moves ? length : mr->length;
    const std::uint64_t iova = moves ? reinterpret_cast<std::uintptr_t>(address) : old->iova;
    const Request request = request_of(iova, rights);
    int error = check_access(rights);
    if (error == 0)
        error = Table::instance().replace(old, new_pd, start, size, request.iova, request.rights,
                                          &self.region);
    if (error != 0) {
        errno = error;
        return IBV_REREG_MR_ERR_INPUT;
    }
    await_users(old);
    Table::instance().discard(old);
    self.pd_use = std::make_unique<PdUse>(new_pd);
    show(self, new_pd, start, size);
    return 0;
}

FABRIC_API ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
    return fail(EOPNOTSUPP);
}
