// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as the stream of a link, in pieces of any size, from the first one on: the receiver
// finds frames in it or gives up, hands over each packet once, and places payload where it was told
// to and nowhere else. The first datagrams are also read as a queue pair's introduction.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <vector>

#include "carrier/receiver.hpp"
#include "script.hpp"
#include "verbs/introduction.hpp"

using namespace fabric;
using fuzz::Script;

namespace {

constexpr std::size_t kGuard = 64;
constexpr std::size_t kPlace = 32768;
constexpr std::byte kPoison{0x5a};

void require(bool condition) {
    if (!condition)
        std::abort();
}

// Takes packets as the script says, into memory with guards around it.
class Taker final : public carrier::PacketHandler {
public:
    explicit Taker(Script& script) : script_(script), memory_(kPlace + 2 * kGuard, kPoison) {}

    rc::Endpoint::Begin begin(const wire::Header& header, std::size_t payload_bytes) override {
        require(!begun_ && wire::header_bytes(header.opcode) != 0);
        const std::uint8_t choice = script_.u8();
        if (choice < 8)
            return {{}, true};
        begun_ = true;
        if (choice < 32 || payload_bytes > kPlace || payload_bytes == 0)
            return {};
        const std::size_t first = choice < 128 ? payload_bytes : script_.u16() % payload_bytes;
        pieces_ = {{{memory_.data() + kGuard, first, nullptr},
                    {memory_.data() + kGuard + first, payload_bytes - first, nullptr}}};
        return {memory::Target(pieces_).first(first == payload_bytes ? 1 : 2), false};
    }
    void end(bool) override {
        require(begun_);
        begun_ = false;
    }
    bool next_packet(rc::OutPacket&) override { return false; }
    void link_lost() override {}

    void check_guards() const {
        const std::span all(memory_);
        for (const auto guard : {all.first(kGuard), all.last(kGuard)})
            require(std::all_of(guard.begin(), guard.end(),
                                [](std::byte byte) { return byte == kPoison; }));
    }

private:
    Script& script_;
    std::vector<std::byte> memory_;
    std::array<memory::Segment, 2> pieces_{};
    bool begun_ = false;
};

// What the attacker sends: whole frames with a flaw here and there, and bare bytes.
class Stream {
public:
    explicit Stream(Script& script) : script_(script) {}

    std::vector<std::byte> next() {
        std::vector<std::byte> out;
        const std::uint8_t choice = script_.u8();
        if (choice < 32)
            add_bytes(out, choice);
        else if (choice < 64)
            add_datagram(out);
        else
            add_packet(out, choice);
        return out;
    }

private:
    void add_bytes(std::vector<std::byte>& out, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            out.push_back(static_cast<std::byte>(script_.u8()));
    }

    void add_frame(std::vector<std::byte>& out, const wire::Header& header, std::size_t payload,
                   std::uint8_t flaw) {
        std::array<std::byte, wire::kMaxHeaderBytes> encoded;
        const std::size_t size = wire::encode(header, encoded);
        std::size_t length = size + payload + header.pad;
        if (flaw == 1)
            length = script_.u32();
        for (const unsigned shift : {24U, 16U, 8U, 0U})
            out.push_back(static_cast<std::byte>(length >> shift));
        out.insert(out.end(), encoded.begin(), encoded.begin() + static_cast<long>(size));
        out.insert(out.end(), payload + header.pad, std::byte{0x33});
        if (flaw == 2)
            out[script_.u16() % out.size()] ^= static_cast<std::byte>(script_.u8());
        if (flaw == 3)
            out.resize(script_.u16() % out.size());
    }

    void add_datagram(std::vector<std::byte>& out) {
        wire::Header header;
        header.opcode = wire::Opcode::UdSendOnly;
        header.destination_qp = header.source_qp = wire::kCmQpNumber;
        header.q_key = wire::kCmQKey;
        add_frame(out, header, carrier::kMadBytes, script_.u8() % 8);
    }

    void add_packet(std::vector<std::byte>& out, std::uint8_t choice) {
        constexpr std::array kOpcodes = {
            wire::Opcode::SendOnly,         wire::Opcode::WriteOnly,
            wire::Opcode::WriteFirst,       wire::Opcode::WriteLast,
            wire::Opcode::ReadRequest,      wire::Opcode::ReadResponseMiddle,
            wire::Opcode::ReadResponseOnly, wire::Opcode::Acknowledge};
        wire::Header header;
        header.opcode = kOpcodes[choice % kOpcodes.size()];
        header.destination_qp = 2;
        header.psn = psn_++;
        const std::uint8_t size = script_.u8();
        std::size_t payload = size < 128 ? size : script_.u16() % std::size_t{kPlace + 100};
        header.pad = static_cast<std::uint8_t>((4 - payload % 4) % 4);
        add_frame(out, header, payload, script_.u8() % 16);
    }

    Script& script_;
    std::uint32_t psn_ = 0;
};

class Link {
public:
    explicit Link(std::span<const std::uint8_t> bytes) : script_(bytes) {
        require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()) == 0);
    }
    ~Link() {
        for (const int fd : ends_)
            close(fd);
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void run() {
        bool alive = true;
        for (int steps = 0; steps < 60 && alive && !script_.ended(); ++steps) {
            const std::vector<std::byte> bytes = stream_.next();
            std::span<const std::byte> rest(bytes);
            while (alive && !rest.empty()) {
                const std::size_t size = std::min<std::size_t>(rest.size(), piece());
                require(write(ends_[0], rest.data(), size) == static_cast<ssize_t>(size));
                rest = rest.subspan(size);
                alive = round();
            }
        }
        taker_.check_guards();
    }

private:
    std::size_t piece() {
        const std::uint8_t choice = script_.u8();
        return choice == 0 ? std::size_t{script_.u8()} + 1 : 65536;
    }

    // As a link does it; false: the peer is broken.
    bool round() {
        static carrier::Receiver::Scratch scratch;
        receiver_.load(scratch);
        const bool alive = fill_and_parse();
        receiver_.save();
        return alive;
    }

    bool fill_and_parse() {
        for (int turns = 0; turns < 1000; ++turns) {
            if (!parse_all())
                return false;
            std::size_t bytes = 0;
            const auto got = receiver_.fill(ends_[1], &bytes);
            require(got != carrier::Receiver::Fill::Failed);
            if (got == carrier::Receiver::Fill::Nothing)
                return true;
        }
        std::abort();
    }

    bool parse_all() {
        carrier::Mad mad;
        for (;;) {
            switch (receiver_.parse(&taker_, true, mad)) {
                case carrier::Receiver::Parse::Datagram:
                    static_cast<void>(verbs::decode_introduction(mad));
                    break;
                case carrier::Receiver::Parse::Broken:
                    return false;
                default:
                    return true;
            }
        }
    }

    Script script_;
    Stream stream_{script_};
    Taker taker_{script_};
    carrier::Receiver receiver_{1};
    std::array<int, 2> ends_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Link link({data, size});
    link.run();
    return 0;
}
