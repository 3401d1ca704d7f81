// SPDX-License-Identifier: BSD-3-Clause
// Regions on huge pages, private and of a file, are written, flushed and read across the border of
// two pages and up to their end. Skipped where the system has no huge pages to give.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/session.hpp"

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;
constexpr std::size_t kSize = 2 * kHugePage;
constexpr std::size_t kPiece = 8192;
constexpr std::size_t kBorder = kHugePage - kPiece / 2;
constexpr std::size_t kLast = kSize - kPiece;
constexpr std::byte kData{0x5a};

class HugePages {
public:
    explicit HugePages(bool of_file) {
        const int fd = of_file ? memfd_create("rpma-test", MFD_CLOEXEC | MFD_HUGETLB) : -1;
        const int flags = of_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
        if ((of_file && (fd < 0 || ftruncate(fd, kSize) != 0)) ||
            (pages_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags, fd, 0)) == MAP_FAILED) {
            it::skip("no huge pages (%s): /proc/sys/vm/nr_hugepages must give two of 2 MiB",
                     std::strerror(errno));
        }
        close(fd);
    }
    ~HugePages() { munmap(pages_, kSize); }
    HugePages(const HugePages&) = delete;
    HugePages& operator=(const HugePages&) = delete;
    it::Bytes bytes() const { return {static_cast<std::byte*>(pages_), kSize}; }

private:
    void* pages_ = nullptr;
};

bool holds_data(it::ConstBytes bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == kData; });
}

void offer(it::Role& role, rpma_peer* peer, it::Bytes memory) {
    const it::LocalMr mr = it::register_memory(peer, memory, it::kUsualUsage);
    role.peer().give("region", it::describe(mr.get()));
    role.peer().await("written");
    CHECK(holds_data(memory.subspan(kBorder, kPiece)) && holds_data(memory.subspan(kLast, kPiece)));
    CHECK(memory[kBorder - 1] == std::byte{0} && memory[kLast - 1] == std::byte{0});
    role.peer().signal("checked");
}

struct Place {
    rpma_mr_remote* remote;
    std::size_t offset;
};

void fill(rpma_conn* connection, const it::Region& local, const Place& place) {
    std::fill(local.bytes().begin(), local.bytes().end(), kData);
    CHECK_OK(rpma_write(connection, place.remote, place.offset, local.mr(), 0, kPiece,
                        RPMA_F_COMPLETION_ON_ERROR, nullptr));
    CHECK_OK(rpma_flush(connection, place.remote, place.offset, kPiece, RPMA_FLUSH_TYPE_VISIBILITY,
                        RPMA_F_COMPLETION_ON_ERROR, nullptr));
    CHECK_OK(rpma_read(connection, local.mr(), kPiece, place.remote, place.offset, kPiece,
                       RPMA_F_COMPLETION_ALWAYS, nullptr));
    it::expect_done(connection, IBV_WC_RDMA_READ, nullptr);
    CHECK(holds_data(local.bytes(kPiece, kPiece)));
}

}  // namespace

void server(it::Role& role) {
    const HugePages memory(false);
    const HugePages file(true);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get());
    offer(role, peer.get(), memory.bytes());
    offer(role, peer.get(), file.bytes());
    it::expect_closed(connection.get());
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region local(peer.get(), 2 * kPiece, it::kUsualUsage);
    const it::Connection connection = it::connect(role, peer.get());
    for (int region = 0; region < 2; ++region) {
        const it::RemoteMr remote = it::remote_region(role.peer().take<it::Descriptor>("region"));
        fill(connection.get(), local, {remote.get(), kBorder});
        std::fill(local.bytes().begin(), local.bytes().end(), std::byte{0});
        fill(connection.get(), local, {remote.get(), kLast});
        role.peer().signal("written");
        role.peer().await("checked");
    }
    it::disconnect(connection.get());
}
