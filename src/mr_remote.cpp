// SPDX-License-Identifier: BSD-3-Clause
// Remote regions, made from descriptors that came over the network.
#include <endian.h>

#include <algorithm>
#include <cstring>

#include "api.hpp"
#include "mr.hpp"

using rpma::Status;

namespace {

Status check_descriptor_size(std::size_t size) {
    if (size < rpma::kMrDescriptorSize) {
        return Status::failure(RPMA_E_INVAL,
                               "a region descriptor has %zu bytes, only %zu are given",
                               rpma::kMrDescriptorSize, size);
    }
    return {};
}

Status open_remote(const void* descriptor, std::size_t size, rpma::Owned<rpma_mr_remote>& out) {
    const Status status = check_descriptor_size(size);
    if (!status.ok()) {
        return status;
    }
    rpma::Owned<rpma_mr_remote> region(rpma::create<rpma_mr_remote>());
    if (region == nullptr) {
        return Status::out_of_memory();
    }
    if (!region->decode(descriptor)) {
        return Status::failure(
            RPMA_E_INVAL, "impossible region descriptor: address 0x%llx, size %llu, usage 0x%x",
            static_cast<unsigned long long>(region->address),
            static_cast<unsigned long long>(region->size), static_cast<unsigned>(region->usage));
    }
    out = std::move(region);
    return {};
}

}  // namespace

bool rpma_mr_remote::decode(const void* descriptor) {
    const auto* in = static_cast<const unsigned char*>(descriptor);
    std::uint32_t key = 0;
    std::memcpy(&address, in, sizeof(address));
    std::memcpy(&size, in + 8, sizeof(size));
    std::memcpy(&key, in + 16, sizeof(key));
    address = le64toh(address);
    size = le64toh(size);
    rkey = le32toh(key);
    usage = in[20];
    if (usage == 0 || size == 0 || address + (size - 1) < address) {
        return false;
    }
    // What only iWARP allows is looked at by the precise checks, which know the connection.
    destination_limit = rpma::fast_limit(rpma::can_be_written_remotely(usage, false), size);
    source_limit = rpma::fast_limit(rpma::can_be_read_remotely(usage), size);
    probe.length =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(size, rpma::FlushBuffer::kSize));
    last_probe = size - probe.length;
    constexpr std::uint64_t kAtomic = RPMA_ATOMIC_WRITE_ALIGNMENT;
    if (address % kAtomic == 0 && destination_limit >= kAtomic) {
        atomic_limit = destination_limit - (kAtomic - 1);
    }
    flush_types = rpma::flush_types_of(usage);
    return true;
}

int rpma_mr_remote_from_descriptor(const void* desc, size_t desc_size,
                                   struct rpma_mr_remote** mr_ptr) {
    if (const int bad = rpma::refuse_null({{"desc", desc}, {"mr_ptr", mr_ptr}})) {
        return bad;
    }
    rpma::Owned<rpma_mr_remote> region;
    const Status status = open_remote(desc, desc_size, region);
    if (status.ok()) {
        *mr_ptr = region.release();
    }
    return rpma::finish(status);
}

int rpma_mr_remote_get_size(const struct rpma_mr_remote* mr, size_t* size) {
    if (const int bad = rpma::refuse_null({{"mr", mr}, {"size", size}})) {
        return bad;
    }
    *size = mr->size;
    return 0;
}

int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote* mr, int* flush_type) {
    if (const int bad = rpma::refuse_null({{"mr", mr}, {"flush_type", flush_type}})) {
        return bad;
    }
    *flush_type =
        mr->usage & (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
    return 0;
}

int rpma_mr_remote_delete(struct rpma_mr_remote** mr_ptr) {
    if (const int bad = rpma::refuse_null({{"mr_ptr", mr_ptr}})) {
        return bad;
    }
    rpma::destroy(std::exchange(*mr_ptr, nullptr));
    return 0;
}
