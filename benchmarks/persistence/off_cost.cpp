// SPDX-License-Identifier: BSD-3-Clause
// off_cost WRITES: so many writes of 4 KiB between two endpoints in this process, packets encoded
// and decoded as on a wire. Its instructions are counted by callgrind; off_cost.py takes
// differences of them.
#include <array>
#include <cstdlib>
#include <memory>

#include "endpoints.hpp"

namespace {

using fabric::test::Block;
using fabric::test::Pair;

constexpr std::size_t kSize = 4096;
constexpr std::uint64_t kAckEvery = 8;  // so often a completion is asked for

// Everything that one side wants to send now, straight to the other.
bool pass_on(fabric::test::Side& from, fabric::test::Side& to, fabric::rc::OutPacket& packet) {
    static std::array<std::byte, kSize> wire;
    bool any = false;
    while (from.endpoint.next_packet(packet)) {
        any = true;
        const auto header =
            fabric::wire::decode(std::span(packet.header_data).first(packet.header_size));
        const auto payload = std::span(wire).first(packet.payload_size);
        const fabric::memory::Target source(packet.segments.data(), packet.segment_count);
        if (!header || !fabric::memory::fetch(source, 0, payload)) {
            std::abort();
        }
        const auto begun = to.endpoint.begin(*header, payload.size());
        to.endpoint.end(begun.target.empty() || fabric::memory::copy(begun.target, 0, payload));
    }
    return any;
}

std::uint64_t poll(fabric::test::Side& side) {
    std::uint64_t count = 0;
    for (; !side.sends.empty(); ++count) {
        side.endpoint.release_send_slots(side.sends.front().send_slots);
        side.sends.pop_front();
    }
    return count;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t writes = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 1;
    fabric::test::Setup setup;
    setup.a.path_mtu = kSize;
    setup.b.path_mtu = kSize;
    Pair pair(setup);
    const Block source(&pair.a.domain, kSize);
    const Block target(&pair.b.domain, kSize);
    const auto packet = std::make_unique<fabric::rc::OutPacket>();
    std::uint64_t completions = 0;
    for (std::uint64_t i = 1; i <= writes; ++i) {
        const unsigned flags = i % kAckEvery == 0 ? unsigned{IBV_SEND_SIGNALED} : 0U;
        if (fabric::test::post(pair.a, {.opcode = IBV_WR_RDMA_WRITE,
                                        .flags = flags,
                                        .sges = {source.sge(0, kSize)},
                                        .remote = target.address(),
                                        .rkey = target.key()}) != 0) {
            return 1;
        }
        while (pass_on(pair.a, pair.b, *packet) || pass_on(pair.b, pair.a, *packet)) {
        }
        completions += poll(pair.a);
    }
    return completions == writes / kAckEvery ? 0 : 1;
}
