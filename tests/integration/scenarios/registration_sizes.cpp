// SPDX-License-Identifier: BSD-3-Clause
// Registration under a locked-memory limit of 64 KiB: sizes around it, a sparse gigabyte, files; a
// remote read gets the last byte of each. Size 0 and unmapped addresses are refused. Fabric only: a
// real device pins memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>

#include "common/session.hpp"

namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30U;
constexpr std::array<std::size_t, 8> kSizes = {1,      4095,   65536,           65537,
                                               200016, 409600, (1U << 20U) + 1, kGiB};
constexpr std::byte kLast{0x5a};

void limit_locked_memory() {
    rlimit limit{};
    CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
    CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
}

class Mapping {
public:
    explicit Mapping(std::size_t size) : size_(size) {
        pages_ = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(pages_ != MAP_FAILED);
    }
    // A file that has no name any more.
    Mapping(std::size_t size, const std::string& directory) : size_(size) {
        std::string path = directory + "/rpma-test-XXXXXX";
        const int fd = mkstemp(path.data());
        CHECK(fd >= 0);
        CHECK(unlink(path.c_str()) == 0);
        CHECK(ftruncate(fd, static_cast<off_t>(size)) == 0);
        pages_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        CHECK(pages_ != MAP_FAILED);
        close(fd);
    }
    ~Mapping() { munmap(pages_, size_); }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    it::Bytes bytes() const { return {static_cast<std::byte*>(pages_), size_}; }

private:
    std::size_t size_;
    void* pages_ = nullptr;
};

void offer(it::Role& role, rpma_peer* peer, it::Bytes memory) {
    memory.back() = kLast;
    const it::LocalMr mr = it::register_memory(peer, memory, RPMA_MR_USAGE_READ_SRC);
    role.peer().give("region", it::describe(mr.get()));
    role.peer().await("read");
}

void refuse_wrong_memory(rpma_peer* peer) {
    rpma_mr_local* mr = nullptr;
    std::array<std::byte, 16> memory{};
    CHECK_CODE(rpma_mr_reg(peer, memory.data(), 0, RPMA_MR_USAGE_READ_SRC, &mr), RPMA_E_INVAL);
    void* hole = nullptr;
    {
        const Mapping gone(65536);
        hole = gone.bytes().data();
    }
    CHECK_CODE(rpma_mr_reg(peer, hole, 65536, RPMA_MR_USAGE_READ_SRC, &mr), RPMA_E_PROVIDER);
    CHECK(mr == nullptr);
}

}  // namespace

void server(it::Role& role) {
    it::require_fabric();
    limit_locked_memory();
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    refuse_wrong_memory(peer.get());
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get());
    for (const std::size_t size : kSizes) {
        const Mapping mapping(size);
        offer(role, peer.get(), mapping.bytes());
    }
    for (const std::string& directory : {role.directory, std::string("/dev/shm")}) {
        const Mapping mapping(300001, directory);
        offer(role, peer.get(), mapping.bytes());
    }
    it::expect_closed(connection.get());
}

void client(it::Role& role) {
    it::require_fabric();
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region local(peer.get(), 64, it::kUsualUsage);
    const it::Connection connection = it::connect(role, peer.get());
    for (std::size_t count = 0; count < kSizes.size() + 2; ++count) {
        const it::RemoteMr remote = it::remote_region(role.peer().take<it::Descriptor>("region"));
        std::size_t size = 0;
        CHECK_OK(rpma_mr_remote_get_size(remote.get(), &size));
        local.bytes()[0] = std::byte{0};
        CHECK_OK(rpma_read(connection.get(), local.mr(), 0, remote.get(), size - 1, 1,
                           RPMA_F_COMPLETION_ALWAYS, nullptr));
        it::expect_done(connection.get(), IBV_WC_RDMA_READ, nullptr);
        CHECK(local.bytes()[0] == kLast);
        role.peer().signal("read");
    }
    it::disconnect(connection.get());
}
