// SPDX-License-Identifier: BSD-3-Clause
// Which flush is allowed: the remote region's usage, the applied configuration of the remote peer
// and the type decide. A refused flush is never posted; an allowed one completes.
// Argument: path of device DAX to have the regions there; without, they are ordinary memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "common/session.hpp"

namespace {

constexpr std::size_t kSpace = 4096;
constexpr int kVisible = RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
constexpr int kPersistent = RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
// WRITE_DST makes the region useful; a region's usage can not be empty.
constexpr std::array<int, 4> kUsages = {0, kVisible, kPersistent, kVisible | kPersistent};

using Descriptors = std::array<it::Descriptor, kUsages.size()>;

class Memory {
public:
    explicit Memory(const it::Role& role) {
        const bool anonymous = role.arguments.empty();
        const int fd = anonymous ? -1 : open(role.arguments.front().c_str(), O_RDWR | O_CLOEXEC);
        CHECK(anonymous || fd >= 0);
        pages_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                      MAP_SHARED | (anonymous ? MAP_ANONYMOUS : 0), fd, 0);
        CHECK(pages_ != MAP_FAILED);
        CHECK(anonymous || close(fd) == 0);
    }
    ~Memory() { munmap(pages_, kSize); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    it::Bytes bytes() const { return {static_cast<std::byte*>(pages_), kSize}; }

private:
    static constexpr std::size_t kSize = 2U << 20U;  // the alignment of device DAX
    void* pages_ = nullptr;
};

int expected_code(int usage, std::optional<bool> direct_write, rpma_flush_type type) {
    if (type == RPMA_FLUSH_TYPE_VISIBILITY) {
        return (usage & kVisible) != 0 ? 0 : RPMA_E_NOSUPP;
    }
    return (usage & kPersistent) != 0 && direct_write.value_or(false) ? 0 : RPMA_E_NOSUPP;
}

void try_flush(rpma_conn* connection, rpma_mr_remote* remote, int usage,
               std::optional<bool> direct_write, rpma_flush_type type) {
    const int wanted = expected_code(usage, direct_write, type);
    CHECK_CODE(
        rpma_flush(connection, remote, 0, kSpace, type, RPMA_F_COMPLETION_ALWAYS, it::context(9)),
        wanted);
    if (wanted != 0) {
        it::expect_none(it::main_cq(connection));
        return;
    }
    const ibv_wc wc = it::next_completion(it::main_cq(connection));
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, 9);
    CHECK(it::is_flush_opcode(wc.opcode));
}

void try_all(rpma_conn* connection, const Descriptors& descriptors,
             std::optional<bool> direct_write) {
    if (direct_write.has_value()) {
        it::declare_direct_write(connection, *direct_write);
    }
    for (std::size_t index = 0; index < kUsages.size(); ++index) {
        const it::RemoteMr remote = it::remote_region(descriptors[index]);
        int types = -1;
        CHECK_OK(rpma_mr_remote_get_flush_type(remote.get(), &types));
        CHECK_EQ(types, kUsages[index]);
        for (const auto type : {RPMA_FLUSH_TYPE_VISIBILITY, RPMA_FLUSH_TYPE_PERSISTENT}) {
            try_flush(connection, remote.get(), kUsages[index], direct_write, type);
        }
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const Memory memory(role);
    std::vector<it::LocalMr> regions;
    Descriptors descriptors{};
    for (std::size_t index = 0; index < kUsages.size(); ++index) {
        regions.push_back(
            it::register_for_persistence(peer.get(), memory.bytes().subspan(kSpace * index, kSpace),
                                         RPMA_MR_USAGE_WRITE_DST | kUsages[index]));
        descriptors[index] = it::describe(regions.back().get());
    }
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get());
    role.peer().give("descriptors", descriptors);
    it::expect_closed(connection.get());
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Connection connection = it::connect(role, peer.get());
    const auto descriptors = role.peer().take<Descriptors>("descriptors");
    try_all(connection.get(), descriptors, std::nullopt);
    try_all(connection.get(), descriptors, true);
    try_all(connection.get(), descriptors, false);
    it::disconnect(connection.get());
}
