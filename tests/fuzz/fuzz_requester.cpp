// SPDX-License-Identifier: BSD-3-Clause
// A requester whose peer answers with anything: acknowledgements of what was never sent, responses
// nobody asked for, of wrong length, twice, or too late. Watched, besides what the victim watches:
// completions come in the order of posting, each once, and nothing but memory that the requests
// name is written.
#include <deque>

#include "memory/placement.hpp"
#include "program.hpp"
#include "script.hpp"
#include "victim.hpp"

using namespace fabric;
using namespace fabric::fuzz;
using wire::Opcode;

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
    struct Asked {
        Opcode opcode;
        std::uint32_t psn;
        std::uint32_t length;
    };

    void step() {
        const std::uint8_t choice = script_.u8();
        if (choice < 60) {
            program_.post_send();
        } else if (choice < 70) {
            program_.post_native();
        } else if (choice < 110) {
            drain();
        } else if (choice < 190) {
            answer_honestly();
        } else if (choice < 240) {
            hand_over(hostile_answer(), script_.u16() % std::size_t{300});
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
                victim_.reset();
                asked_.clear();
                break;
            default:
                now_ += std::chrono::microseconds(10) * script_.u8();
                victim_.endpoint.on_time(now_);
        }
    }

    // Of the oldest request that was sent, all packets or only some.
    void answer_honestly() {
        if (asked_.empty()) {
            return;
        }
        const Asked asked = asked_.front();
        asked_.pop_front();
        const std::uint8_t shape = script_.u8();
        if (asked.opcode == Opcode::ReadRequest) {
            respond(asked, shape);
        } else if (asked.opcode == Opcode::CompareSwap || asked.opcode == Opcode::FetchAdd) {
            hand_over(answer(Opcode::AtomicAcknowledge, asked.psn), 0);
        } else if (asked.opcode == Opcode::Flush || asked.opcode == Opcode::AtomicWrite) {
            hand_over(answer(Opcode::ReadResponseOnly, asked.psn), 0);
        } else {
            hand_over(answer(Opcode::Acknowledge, asked.psn), 0);
        }
    }

    void respond(const Asked& asked, std::uint8_t shape) {
        constexpr std::uint32_t kMtu = 256;
        const std::uint32_t packets = asked.length == 0 ? 1 : (asked.length + kMtu - 1) / kMtu;
        const std::uint32_t sent = (shape & 1) != 0 ? shape % (packets + 1) : packets;
        for (std::uint32_t i = 0; i < sent && !closed_; ++i) {
            const bool first = i == 0;
            const bool last = i + 1 == packets;
            const Opcode opcode = first && last ? Opcode::ReadResponseOnly
                                  : first       ? Opcode::ReadResponseFirst
                                  : last        ? Opcode::ReadResponseLast
                                                : Opcode::ReadResponseMiddle;
            hand_over(answer(opcode, (asked.psn + i) & wire::kPsnMask),
                      last ? asked.length - i * kMtu : kMtu);
        }
    }

    static wire::Header answer(Opcode opcode, std::uint32_t psn) {
        wire::Header header;
        header.opcode = opcode;
        header.destination_qp = 2;
        header.psn = psn;
        header.syndrome = 0x1f;
        return header;
    }

    // About a request that was sent, or near to it.
    wire::Header hostile_answer() {
        constexpr std::uint32_t kFirst = static_cast<std::uint32_t>(Opcode::ReadResponseFirst);
        const auto opcode = static_cast<Opcode>(kFirst + script_.u8() % 6);
        const std::uint32_t psn =
            asked_.empty() ? Victim::kFirstPsn : asked_[script_.u8() % asked_.size()].psn;
        const std::uint8_t shape = script_.u8();
        wire::Header header =
            answer(opcode, (psn + ((shape & 1) != 0 ? script_.u8() - 128U : 0U)) & wire::kPsnMask);
        header.syndrome = (shape & 2) != 0 ? script_.u8() : 0x1f;
        header.destination_qp = (shape & 12) == 12 ? script_.u8() : 2;
        header.original = script_.u8();
        return header;
    }

    void hand_over(const wire::Header& header, std::size_t size) {
        std::array<std::byte, 300> payload;
        payload.fill(std::byte{0x22});
        const auto begun = victim_.endpoint.begin(header, size);
        if (begun.fatal) {
            closed_ = true;
            victim_.endpoint.link_lost();
            return;
        }
        std::size_t room = 0;
        for (const memory::Segment& segment : begun.target) {
            room += segment.length;
        }
        if (!begun.target.empty() && room != size) {
            std::abort();
        }
        victim_.endpoint.end(begun.target.empty() ||
                             memory::copy(begun.target, 0, std::span(payload).first(size)));
    }

    // What goes out is remembered, so that it can be answered.
    void drain() {
        constexpr std::size_t kRemembered = 64;
        rc::OutPacket out;
        for (int packets = 0; victim_.endpoint.next_packet(out); ++packets) {
            if (packets > 20000 || out.segment_count > rc::kMaxSge) {
                std::abort();
            }
            asked_.push_back({out.header.opcode, out.header.psn, out.header.dma_length});
            if (asked_.size() > kRemembered) {
                asked_.pop_front();
            }
        }
    }

    Script script_;
    Victim victim_;
    Program program_{script_, victim_};
    std::deque<Asked> asked_;
    rc::TimePoint now_ = rc::TimePoint{} + std::chrono::seconds(1);
    bool closed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Attack attack({data, size});
    attack.run();
    return 0;
}
