// SPDX-License-Identifier: BSD-3-Clause
// Local regions: registering, describing, advising.
#include "mr.hpp"

#include <endian.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "api.hpp"
#include "err.hpp"

using rpma::Status;

namespace {

constexpr int kAllUsages = 0xff;

void encode(const rpma_mr_local& region, void* descriptor) {
    const std::uint64_t address = htole64(region.address);
    const std::uint64_t size = htole64(region.size);
    const std::uint32_t rkey = htole32(region.mr->rkey);
    const auto usage = static_cast<std::uint8_t>(region.usage);
    auto* out = static_cast<unsigned char*>(descriptor);
    std::memcpy(out, &address, sizeof(address));
    std::memcpy(out + 8, &size, sizeof(size));
    std::memcpy(out + 16, &rkey, sizeof(rkey));
    std::memcpy(out + 20, &usage, sizeof(usage));
}

Status check_registration(std::size_t size, int usage) {
    if (size == 0) {
        return Status::failure(RPMA_E_INVAL, "size must not be 0");
    }
    if (usage == 0 || (usage & ~kAllUsages) != 0) {
        return Status::failure(RPMA_E_INVAL, "usage 0x%x: it must be RPMA_MR_USAGE_* values, not 0",
                               static_cast<unsigned>(usage));
    }
    return {};
}

/// One part, of less than 4 GiB: the verb's length has 32 bits.
Status advise_part(const rpma_mr_local& region, std::size_t offset, std::size_t len, int advice,
                   std::uint32_t flags) {
    ibv_sge part = {region.address + offset, static_cast<std::uint32_t>(len), region.mr->lkey};
    const int result = ibv_advise_mr(
        region.peer->pd(), static_cast<ib_uverbs_advise_mr_advice>(advice), flags, &part, 1);
    if (result == 0) {
        return {};
    }
    const int err = rpma::errno_of(result);
    int code = RPMA_E_PROVIDER;
    if (err == EOPNOTSUPP || err == ENOTSUP) {
        code = RPMA_E_NOSUPP;
    } else if (err == EFAULT || err == EINVAL) {
        code = RPMA_E_INVAL;
    }
    Status status = Status::system(
        code, err, "ibv_advise_mr(advice %d, flags 0x%x) of %zu bytes failed", advice, flags, len);
    status.append("; the memory works without advice, too: see ibv_advise_mr(3)");
    return status;
}

Status advise(const rpma_mr_local& region, std::size_t offset, std::size_t len, int advice,
              std::uint32_t flags) {
    constexpr std::size_t kPart = std::size_t{1} << 30;
    if (!rpma::inside(region.size, offset, len)) {
        return Status::failure(RPMA_E_INVAL,
                               "offset %zu and length %zu do not lie inside the region of %zu "
                               "bytes",
                               offset, len, static_cast<std::size_t>(region.size));
    }
    const std::size_t end = offset + len;
    Status status;
    do {
        const std::size_t part = std::min(end - offset, kPart);
        status = advise_part(region, offset, part, advice, flags);
        offset += part;
    } while (status.ok() && offset < end);
    return status;
}

}  // namespace

Status rpma_mr_local::open(rpma_peer* peer, void* start, std::size_t size, int usage,
                           rpma::Owned<rpma_mr_local>& out) {
    rpma::Owned<rpma_mr_local> region(rpma::create<rpma_mr_local>());
    if (region == nullptr) {
        return Status::out_of_memory();
    }
    const Status status = peer->register_memory(start, size, peer->access_of(usage), region->mr);
    if (!status.ok()) {
        return status;
    }
    region->peer = rpma::Ref<rpma_peer>(peer);
    region->address = reinterpret_cast<std::uintptr_t>(region->mr->addr);
    region->size = region->mr->length;
    region->lkey_high = static_cast<std::uint64_t>(region->mr->lkey) << 32;
    region->usage = usage;
    region->source_limit = rpma::fast_limit(true, region->size);
    region->destination_limit =
        rpma::fast_limit(rpma::takes_reads(usage, peer->capabilities().iwarp), region->size);
    out = std::move(region);
    return {};
}

Status rpma_mr_local::close() {
    Status status = mr.close();
    status.keep_first(peer.release());
    return status;
}

int rpma_mr_reg(struct rpma_peer* peer, void* ptr, size_t size, int usage,
                struct rpma_mr_local** mr_ptr) {
    if (const int bad = rpma::refuse_null({{"peer", peer}, {"ptr", ptr}, {"mr_ptr", mr_ptr}})) {
        return bad;
    }
    Status status = check_registration(size, usage);
    if (status.ok()) {
        rpma::Owned<rpma_mr_local> region;
        status = rpma_mr_local::open(peer, ptr, size, usage, region);
        if (status.ok()) {
            *mr_ptr = region.release();
        }
    }
    return rpma::finish(status);
}

int rpma_mr_dereg(struct rpma_mr_local** mr_ptr) {
    if (const int bad = rpma::refuse_null({{"mr_ptr", mr_ptr}})) {
        return bad;
    }
    const rpma::Owned<rpma_mr_local> region(std::exchange(*mr_ptr, nullptr));
    return region == nullptr ? 0 : rpma::finish(region->close());
}

int rpma_mr_get_descriptor(const struct rpma_mr_local* mr, void* desc) {
    if (const int bad = rpma::refuse_null({{"mr", mr}, {"desc", desc}})) {
        return bad;
    }
    encode(*mr, desc);
    return 0;
}

int rpma_mr_get_descriptor_size(const struct rpma_mr_local* mr, size_t* desc_size) {
    if (const int bad = rpma::refuse_null({{"mr", mr}, {"desc_size", desc_size}})) {
        return bad;
    }
    *desc_size = rpma::kMrDescriptorSize;
    return 0;
}

int rpma_mr_get_ptr(const struct rpma_mr_local* mr, void** ptr) {
    if (const int bad = rpma::refuse_null({{"mr", mr}, {"ptr", ptr}})) {
        return bad;
    }
    *ptr = mr->mr->addr;
    return 0;
}

int rpma_mr_get_size(const struct rpma_mr_local* mr, size_t* size) {
    if (const int bad = rpma::refuse_null({{"mr", mr}, {"size", size}})) {
        return bad;
    }
    *size = mr->size;
    return 0;
}

int rpma_mr_advise(struct rpma_mr_local* mr, size_t offset, size_t len, int advice,
                   uint32_t flags) {
    if (const int bad = rpma::refuse_null({{"mr", mr}})) {
        return bad;
    }
    return rpma::finish(advise(*mr, offset, len, advice, flags));
}
