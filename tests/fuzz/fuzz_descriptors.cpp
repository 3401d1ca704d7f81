// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a region's and as a peer's descriptor, at any address: decoding never reads beyond
// them, takes what an honest peer can have made and nothing else, and understands it right.
#include <librpma.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

constexpr std::size_t kRegionSize = 21;
constexpr int kFlushUsages =
    RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

std::uint64_t little_endian(const std::uint8_t* bytes, int count) {
    std::uint64_t value = 0;
    for (int i = count - 1; i >= 0; --i) {
        value = value << 8 | bytes[i];
    }
    return value;
}

void decode_region(const std::uint8_t* data, std::size_t size) {
    rpma_mr_remote* region = nullptr;
    const int code = rpma_mr_remote_from_descriptor(data, size, &region);
    bool possible = size >= kRegionSize;
    std::uint64_t length = 0;
    int usage = 0;
    if (possible) {
        const std::uint64_t address = little_endian(data, 8);
        length = little_endian(data + 8, 8);
        usage = data[20];
        possible = usage != 0 && length != 0 && length - 1 <= UINT64_MAX - address;
    }
    expect(code == (possible ? 0 : RPMA_E_INVAL));
    expect((region != nullptr) == possible);
    if (!possible) {
        return;
    }
    std::size_t got = 0;
    int flushes = -1;
    expect(rpma_mr_remote_get_size(region, &got) == 0 && got == length);
    expect(rpma_mr_remote_get_flush_type(region, &flushes) == 0);
    expect(flushes == (usage & kFlushUsages));
    expect(rpma_mr_remote_delete(&region) == 0 && region == nullptr);
}

void decode_peer(const std::uint8_t* data, std::size_t size) {
    rpma_peer_cfg* peer = nullptr;
    const int code = rpma_peer_cfg_from_descriptor(data, size, &peer);
    expect(code == (size != 0 ? 0 : RPMA_E_INVAL));
    if (code != 0) {
        expect(peer == nullptr);
        return;
    }
    bool direct = false;
    unsigned char again = 0xff;
    expect(rpma_peer_cfg_get_direct_write_to_pmem(peer, &direct) == 0);
    expect(direct == (data[0] != 0));
    expect(rpma_peer_cfg_get_descriptor(peer, &again) == 0 && again == (direct ? 1 : 0));
    expect(rpma_peer_cfg_delete(&peer) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bool quiet = rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED) == 0;
    expect(quiet);
    if (size == 0) {
        return 0;
    }
    // The first byte chooses the alignment. A copy that ends with the bytes, so that the sanitizer
    // sees a read beyond them.
    const std::size_t shift = data[0] % 8;
    const std::size_t length = size - 1;
    const auto copy = std::make_unique<std::uint8_t[]>(shift + length);
    std::memcpy(copy.get() + shift, data + 1, length);
    decode_region(copy.get() + shift, length);
    decode_peer(copy.get() + shift, length);
    return 0;
}
