// SPDX-License-Identifier: BSD-3-Clause
// Whoever reaches the listening TCP port of the software device can send anything: random bytes,
// frames with absurd lengths, the beginning of a frame and then nothing. The server's other
// connections go on, and it takes new ones. Client 0 is the attacker, client 1 an honest one.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 65536;
constexpr int kAttacks = 300;
constexpr std::size_t kAttacker = 0;
constexpr std::size_t kHonest = 1;

class RawSocket {
public:
    explicit RawSocket(const std::string& port)
        : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    RawSocket& operator=(RawSocket&&) = delete;
    RawSocket(const RawSocket&) = delete;
    RawSocket& operator=(const RawSocket&) = delete;
    ~RawSocket() {
        if (fd_ >= 0) {
            close(fd_);
        }
    }
    // The server may close at any byte.
    void send(it::ConstBytes bytes) const {
        (void)::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }

private:
    int fd_;
};

// Random bytes behind a frame length of one of several kinds.
std::vector<std::byte> make_attack(std::mt19937& random, int kind) {
    std::vector<std::byte> bytes(random() % 2000 + 5);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    const std::array<std::uint32_t, 4> lengths = {0, 0xffffffff, 276,
                                                  static_cast<std::uint32_t>(bytes.size() - 4)};
    if (kind < 4) {
        const std::uint32_t length = htonl(lengths[static_cast<std::size_t>(kind)]);
        std::memcpy(bytes.data(), &length, sizeof length);
    }
    if (kind == 2 || kind == 3) {
        bytes[4] = std::byte{0x64};  // the opcode of a datagram, as connecting begins
    }
    return bytes;
}

void attack(const std::string& port) {
    std::mt19937 random(4711);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same attacks every time
    std::vector<RawSocket> half_open;
    for (int count = 0; count < kAttacks; ++count) {
        RawSocket raw(port);
        raw.send(make_attack(random, count % 5));
        if (count % 10 == 0) {
            half_open.push_back(std::move(raw));
        }
    }
}

void exchange(const it::Attached& attached, std::uint64_t seed) {
    it::fill(attached.local.bytes(0, kSize), seed);
    attached.write(0, 0, kSize);
    attached.read(kSize, 0, kSize);
    it::check_filled(attached.local.bytes(kSize, kSize), seed);
}

}  // namespace

void server(it::Role& role) {
    it::require_fabric();
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection first = it::accept(endpoint.get(), nullptr, it::describe(region.mr()));
    role.peers[kAttacker].signal("attack");
    role.peers[kAttacker].await("attacked");
    role.peers[kHonest].signal("attacked");
    const it::Connection second = it::accept(endpoint.get(), nullptr, it::describe(region.mr()));
    it::expect_closed(second.get());
    it::expect_closed(first.get());
}

void client(it::Role& role) {
    it::require_fabric();
    if (role.number == kAttacker) {
        role.peer().await("listening");
        role.peer().await("attack");
        attack(role.port);
        role.peer().signal("attacked");
        return;
    }
    const it::Attached attached = it::attach(role, 2 * kSize);
    const it::Deadline quick(std::chrono::milliseconds(0));
    std::uint64_t round = 0;
    while (!it::wait_readable(role.peer().fd(), quick)) {
        exchange(attached, ++round);
    }
    role.peer().await("attacked");
    exchange(attached, ++round);
    it::disconnect(it::establish(it::new_request(role, attached.peer.get())).get());
    it::disconnect(attached.conn());
}
