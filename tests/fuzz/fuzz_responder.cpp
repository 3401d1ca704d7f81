// SPDX-License-Identifier: BSD-3-Clause
// A whole endpoint against a peer that sends anything in any order, while its own program posts,
// deregisters and changes states. Watched: no crash, no byte outside of registered memory, no
// completion that was not owed, every loop ends.
#include <chrono>

#include "memory/placement.hpp"
#include "program.hpp"
#include "script.hpp"
#include "victim.hpp"

using namespace fabric;
using namespace fabric::fuzz;

namespace {

class Attack {
public:
    explicit Attack(std::span<const std::uint8_t> bytes) : script_(bytes), victim_(script_.u8()) {
        victim_.endpoint.set_now(now_);
    }

    void run() {
        for (int steps = 0; steps < 400 && !script_.ended() && !closed_; ++steps) {
            step();
        }
        victim_.endpoint.set_state(IBV_QPS_ERR);
        drain();
        victim_.check_poison();
    }

private:
    void step() {
        const std::uint8_t choice = script_.u8();
        if (choice < 150) {
            hand_over(guided_packet());
        } else if (choice < 170) {
            hand_over(raw_packet());
        } else if (choice < 200) {
            program_.post_send();
        } else if (choice < 206) {
            program_.post_native();
        } else if (choice < 225) {
            program_.post_receive();
        } else if (choice < 240) {
            drain();
        } else {
            rare(choice);
        }
    }

    void rare(std::uint8_t choice) {
        switch (choice) {
            case 240:
                victim_.drop(victim_.open);
                break;
            case 241:
                victim_.drop(victim_.closed);
                break;
            case 242:
                victim_.endpoint.link_lost();
                break;
            case 243:
                move(IBV_QPS_RTS, IBV_QPS_SQD);
                break;
            case 244:
                move(IBV_QPS_SQD, IBV_QPS_RTS);
                break;
            case 245:
                victim_.reset();
                request_psn_ = answer_psn_ = Victim::kFirstPsn;
                break;
            default:
                now_ += std::chrono::microseconds(10) * script_.u8();
                victim_.endpoint.on_time(now_);
        }
    }

    void move(ibv_qp_state from, ibv_qp_state to) {
        if (victim_.endpoint.state() == from) {
            victim_.endpoint.set_state(to);
        }
    }

    struct Packet {
        wire::Header header;
        std::size_t payload = 0;
    };

    // Nearly right: the expected number, a valid key, an address in or close to the region.
    Packet guided_packet() {
        static constexpr std::array<std::uint8_t, 26> kOpcodes = {
            0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
            0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x1c, 0x1d, 0x64};
        Packet packet;
        wire::Header& header = packet.header;
        header.opcode = static_cast<wire::Opcode>(kOpcodes[script_.u8() % kOpcodes.size()]);
        header.destination_qp = 2;
        const std::uint8_t shape = script_.u8();
        const bool response = header.opcode >= wire::Opcode::ReadResponseFirst &&
                              header.opcode <= wire::Opcode::AtomicAcknowledge;
        std::uint32_t& psn = response ? answer_psn_ : request_psn_;
        header.psn =
            (psn + ((shape & 1) != 0 ? static_cast<std::uint32_t>(script_.u8()) - 128U : 0U)) &
            wire::kPsnMask;
        header.ack_request = (shape & 2) != 0;
        header.solicited = (shape & 4) != 0;
        header.rkey = victim_.open != nullptr ? victim_.open->key : 0;
        header.rkey ^= (shape & 8) != 0 ? script_.u32() : 0;
        header.remote_address =
            reinterpret_cast<std::uintptr_t>(victim_.at(kZone)) + script_.u16() % (kMemory + 16);
        header.dma_length = (shape & 16) != 0 ? script_.u16() % 1200 : 256;
        packet.payload = (shape & 32) != 0 ? script_.u8() : (shape & 64) != 0 ? 0 : 256;
        header.syndrome = (shape & 128) != 0 ? script_.u8() : 0x1f;
        header.flush_type = 1;
        header.swap_or_add = header.compare = script_.u8();
        psn += (shape & 1) != 0                             ? 0
               : header.opcode == wire::Opcode::ReadRequest ? (header.dma_length + 255) / 256
                                                            : 1;
        return packet;
    }

    Packet raw_packet() {
        std::array<std::byte, wire::kMaxHeaderBytes> bytes;
        for (std::byte& byte : bytes) {
            byte = static_cast<std::byte>(script_.u8());
        }
        const auto header = wire::decode(bytes);
        return {header.value_or(wire::Header{}), script_.u16() % std::size_t{600}};
    }

    void hand_over(const Packet& packet) {
        std::array<std::byte, 600> payload;
        payload.fill(std::byte{0x11});
        const auto begun = victim_.endpoint.begin(packet.header, packet.payload);
        if (begun.fatal) {
            closed_ = true;
            victim_.endpoint.link_lost();
            return;
        }
        std::size_t room = 0;
        for (const memory::Segment& segment : begun.target) {
            room += segment.length;
        }
        if (!begun.target.empty() && room != packet.payload) {
            std::abort();
        }
        const bool placed = begun.target.empty() ||
                            memory::copy(begun.target, 0, std::span(payload).first(packet.payload));
        victim_.endpoint.end(placed);
    }

    // Takes what the victim wants to send. That can be much, but it ends.
    void drain() {
        rc::OutPacket out;
        for (int packets = 0; victim_.endpoint.next_packet(out); ++packets) {
            std::array<std::byte, 256> payload;
            if (packets > 20000 || out.payload_size > payload.size() ||
                out.segment_count > rc::kMaxSge ||
                out.header_size != wire::header_bytes(out.header.opcode)) {
                std::abort();
            }
            const memory::Target source(out.segments.data(), out.segment_count);
            if (!memory::fetch(source, 0, std::span(payload).first(out.payload_size))) {
                std::abort();
            }
        }
    }

    Script script_;
    Victim victim_;
    Program program_{script_, victim_};
    std::uint32_t request_psn_ = Victim::kFirstPsn;
    std::uint32_t answer_psn_ = Victim::kFirstPsn;
    rc::TimePoint now_ = rc::TimePoint{} + std::chrono::seconds(1);
    bool closed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Attack attack({data, size});
    attack.run();
    return 0;
}
