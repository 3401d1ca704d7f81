// SPDX-License-Identifier: BSD-3-Clause
#include "pcap/recorder.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log.hpp"
#include "wire/roce.hpp"

namespace fabric::pcap {

std::atomic<signed char> detail::state{-1};

namespace {

constexpr std::uint32_t kMagicNanoseconds = 0xa1b23c4d;
constexpr std::uint32_t kSnapshot = 1U << 18;
constexpr std::uint32_t kEthernet = 1;
constexpr std::uint16_t kFirstSourcePort = 0xc000;  // adapters take theirs from here on

struct FileHeader {
    std::uint32_t magic = kMagicNanoseconds;
    std::uint16_t major = 2;
    std::uint16_t minor = 4;
    std::uint32_t zone = 0;
    std::uint32_t accuracy = 0;
    std::uint32_t snapshot = kSnapshot;
    std::uint32_t link_type = kEthernet;
};
static_assert(sizeof(FileHeader) == 24);

struct FrameHeader {
    std::uint32_t seconds;
    std::uint32_t nanoseconds;
    std::uint32_t recorded_bytes;
    std::uint32_t frame_bytes;
};
static_assert(sizeof(FrameHeader) == 16);

bool is_mapped(const in6_addr& address) {
    return IN6_IS_ADDR_V4MAPPED(&address) != 0;
}

// A locally administered Ethernet address made from the IP address.
void fill_mac(wire::RoceEnd& end, std::span<const std::byte> last_bytes) {
    end.mac[0] = std::byte{0x02};
    std::copy(last_bytes.begin(), last_bytes.end(), end.mac.begin() + 2);
}

// False: an IPv6 address.
bool fill_end(const sockaddr_storage& address, wire::RoceEnd& end) {
    std::array<std::byte, 16> raw{};
    if (address.ss_family == AF_INET) {
        std::memcpy(raw.data(), &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
    } else {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
        std::memcpy(raw.data(), &v6, sizeof v6);
        if (!is_mapped(v6)) {
            end.address = raw;
            fill_mac(end, std::span(raw).last<4>());
            return false;
        }
        std::copy(raw.begin() + 12, raw.end(), raw.begin());
        std::fill(raw.begin() + 4, raw.end(), std::byte{0});
    }
    end.address = raw;
    fill_mac(end, std::span(raw).first<4>());
    return true;
}

wire::RocePath path_of(std::uint64_t link, const sockaddr_storage& from,
                       const sockaddr_storage& to) {
    wire::RocePath path;
    const bool v4 = fill_end(from, path.source);
    path.ipv6 = !fill_end(to, path.destination) || !v4;
    path.source_port = static_cast<std::uint16_t>(kFirstSourcePort + link % 0x4000);
    return path;
}

std::string file_name() {
    const char* const name = std::getenv("RPMA_FABRIC_PCAP");
    if (name == nullptr || *name == '\0')
        return {};
    const char* const first = std::getenv("RPMA_FABRIC_PCAP_PID");
    const std::string own = std::to_string(getpid());
    return first != nullptr && own == first ? name : std::string(name) + "." + own;
}

class Recorder {
public:
    // -1 if there is none to write to; the reason was logged.
    int open_file();
    void add_link(std::uint64_t link, const sockaddr_storage& local, const sockaddr_storage& peer);
    void remove_link(std::uint64_t link);
    void record(std::uint64_t link, bool outgoing, std::span<const std::byte> packet);

private:
    struct Paths {
        wire::RocePath out;
        wire::RocePath in;
    };
    void write_frame(const wire::RocePath& path, std::span<const std::byte> packet);
    void follow_fork();

    std::mutex mutex_;
    int fd_ = -1;
    pid_t owner_ = 0;
    std::unordered_map<std::uint64_t, Paths> links_;
};

Recorder& recorder() {
    static auto* const instance = new Recorder;  // threads may still use it while the process ends
    return *instance;
}

int Recorder::open_file() {
    owner_ = getpid();
    const std::string name = file_name();
    if (name.empty())
        return fd_ = -1;
    fd_ = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    const FileHeader header;
    if (fd_ >= 0 && write(fd_, &header, sizeof header) == ssize_t{sizeof header})
        return fd_;
    log(LogLevel::Error, "cannot write %s: %s; no frames are recorded", name.c_str(),
        std::strerror(errno));
    return -1;
}

// A child made by fork has a file of its own.
void Recorder::follow_fork() {
    if (owner_ == getpid())
        return;
    if (fd_ >= 0)
        close(fd_);
    links_.clear();
    open_file();
}

void Recorder::add_link(std::uint64_t link, const sockaddr_storage& local,
                        const sockaddr_storage& peer) {
    const std::lock_guard guard(mutex_);
    follow_fork();
    links_[link] = {path_of(link, local, peer), path_of(link, peer, local)};
}

void Recorder::remove_link(std::uint64_t link) {
    const std::lock_guard guard(mutex_);
    links_.erase(link);
}

void Recorder::record(std::uint64_t link, bool outgoing, std::span<const std::byte> packet) {
    const std::lock_guard guard(mutex_);
    const auto found = links_.find(link);
    if (fd_ >= 0 && found != links_.end())
        write_frame(outgoing ? found->second.out : found->second.in, packet);
}

void Recorder::write_frame(const wire::RocePath& path, std::span<const std::byte> packet) {
    const auto frame = wire::roce_frame(path, packet);
    const std::size_t left_out = packet.size() > wire::kRoceMaxPacket
                                     ? packet.size() - wire::kRoceMaxPacket + wire::kRoceCrcBytes
                                     : 0;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const FrameHeader header{static_cast<std::uint32_t>(now.tv_sec),
                             static_cast<std::uint32_t>(now.tv_nsec),
                             static_cast<std::uint32_t>(frame.size()),
                             static_cast<std::uint32_t>(frame.size() + left_out)};
    std::vector<std::byte> whole(sizeof header + frame.size());
    std::memcpy(whole.data(), &header, sizeof header);
    std::copy(frame.begin(), frame.end(), whole.begin() + sizeof header);
    if (write(fd_, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()))
        return;
    log(LogLevel::Error, "cannot write a frame: %s; no more are recorded", std::strerror(errno));
    close(std::exchange(fd_, -1));
}

}  // namespace

bool detail::decide() {
    static const bool on = recorder().open_file() >= 0;
    state.store(on ? 1 : 0, std::memory_order_relaxed);
    return on;
}

void opened(std::uint64_t link, const sockaddr_storage& local, const sockaddr_storage& peer) {
    recorder().add_link(link, local, peer);
}

void closed(std::uint64_t link) {
    recorder().remove_link(link);
}

void sent(std::uint64_t link, std::span<const std::byte> headers, memory::Target payload,
          std::span<const std::byte> more_payload, std::size_t pad) {
    std::vector<std::byte> packet(headers.begin(), headers.end());
    for (const memory::Segment& piece : payload) {
        const std::size_t at = packet.size();
        packet.resize(at + piece.length);
        const auto place = std::span(packet).subspan(at);
        if (piece.region == nullptr)
            std::copy_n(piece.address, piece.length, place.begin());
        else
            static_cast<void>(memory::fetch({&piece, 1}, 0, place));
    }
    packet.insert(packet.end(), more_payload.begin(), more_payload.end());
    packet.resize(packet.size() + pad);
    recorder().record(link, true, packet);
}

void received(std::uint64_t link, std::span<const std::byte> packet) {
    recorder().record(link, false, packet);
}

}  // namespace fabric::pcap
