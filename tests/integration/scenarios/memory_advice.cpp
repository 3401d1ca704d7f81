// SPDX-License-Identifier: BSD-3-Clause
// Advice about a region's pages: for a right range 0 or "not supported", never "invalid"; wrong
// ranges and unknown advice are refused. Anonymous memory and a file. One process.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 65536;
constexpr std::uint32_t kFlush = IBV_ADVISE_MR_FLAG_FLUSH;

void accept_right_range(rpma_mr_local* mr, std::size_t offset, std::size_t size, int advice) {
    const int code = rpma_mr_advise(mr, offset, size, advice, kFlush);
    if (code != 0) {
        CHECK_CODE(code, RPMA_E_NOSUPP);
    }
}

void advise_about(rpma_mr_local* mr) {
    accept_right_range(mr, 0, kSize, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
    accept_right_range(mr, 4096, 4096, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
    accept_right_range(mr, 0, kSize, IBV_ADVISE_MR_ADVICE_PREFETCH);
    const int prefetch = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
    CHECK_CODE(rpma_mr_advise(mr, 1, kSize, prefetch, kFlush), RPMA_E_INVAL);
    CHECK_CODE(rpma_mr_advise(mr, SIZE_MAX, 2, prefetch, kFlush), RPMA_E_INVAL);
    const int unknown = rpma_mr_advise(mr, 0, kSize, 77, kFlush);
    CHECK(unknown == RPMA_E_INVAL || unknown == RPMA_E_NOSUPP);
}

// A shared mapping of a file that has no name any more.
void* map_file(const std::string& directory) {
    std::string path = directory + "/advice-XXXXXX";
    const int fd = mkstemp(path.data());
    CHECK(fd >= 0);
    CHECK(unlink(path.c_str()) == 0);
    CHECK(ftruncate(fd, kSize) == 0);
    void* pages = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(pages != MAP_FAILED);
    close(fd);
    return pages;
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize, it::kUsualUsage);
    advise_about(region.mr());
    void* pages = map_file(role.directory);
    {
        const it::LocalMr file = it::register_memory(
            peer.get(), {static_cast<std::byte*>(pages), kSize}, it::kUsualUsage);
        advise_about(file.get());
    }
    CHECK(munmap(pages, kSize) == 0);
    CHECK_CODE(rpma_mr_advise(nullptr, 0, 1, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, kFlush),
               RPMA_E_INVAL);
}

void client(it::Role&) {}
