// SPDX-License-Identifier: BSD-3-Clause
// fork: the child uses stdio and the heap, and its exit disturbs no connection of the parent; a
// parent's close is seen by the peer although the child still lives.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 320;

struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
};
using HeapMemory = std::unique_ptr<std::byte, Free>;

HeapMemory page_aligned() {
    void* memory = nullptr;
    CHECK(posix_memalign(&memory, 4096, kSize) == 0);
    return HeapMemory(static_cast<std::byte*>(memory));
}

void use_the_heap_and_stdio(const std::string& directory) {
    const std::string path = directory + "/child";
    for (int count = 0; count < 1000; ++count) {
        std::vector<char> block(static_cast<std::size_t>(count) * 16 + 1, 'x');
        CHECK(block.back() == 'x');
    }
    FILE* file = std::fopen(path.c_str(), "w");
    CHECK(file != nullptr);
    CHECK(std::fprintf(file, "written by the child\n") > 0);
    CHECK(std::fclose(file) == 0);
    CHECK(std::remove(path.c_str()) == 0);
}

void wait_for_success(pid_t child) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// On the software device a child's deletions touch nothing of its parent's. (With a kernel device
// they would be the parent's.)
void delete_all(rpma_conn* connection, rpma_mr_local* mr, rpma_peer* peer) {
    CHECK_OK(rpma_conn_delete(&connection));
    CHECK_OK(rpma_mr_dereg(&mr));
    CHECK_OK(rpma_peer_delete(&peer));
}

pid_t fork_child(const std::function<void()>& work) {
    std::fflush(nullptr);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        work();
        std::exit(0);  // NOLINT(concurrency-mt-unsafe): with all destructors, which is the point
    }
    return child;
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSize);
    it::fill(served.region.bytes(), 8);
    role.peer().signal("filled");
    it::expect_closed(served.connection.get());
    role.peer().signal("closed");
}

void client(it::Role& role) {
    CHECK(ibv_fork_init() == 0);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const HeapMemory memory = page_aligned();
    const it::LocalMr local =
        it::register_memory(peer.get(), {memory.get(), kSize}, RPMA_MR_USAGE_READ_DST);
    const it::Connection connection = it::connect(role, peer.get());
    const it::RemoteMr remote = it::remote_region(it::private_data(connection.get()));
    role.peer().await("filled");

    wait_for_success(fork_child([&] { use_the_heap_and_stdio(role.directory); }));
    CHECK_OK(rpma_read(connection.get(), local.get(), 0, remote.get(), 0, kSize,
                       RPMA_F_COMPLETION_ALWAYS, it::context(1)));
    it::expect_done(connection.get(), IBV_WC_RDMA_READ, it::context(1));
    it::check_filled({memory.get(), kSize}, 8);

    wait_for_success(fork_child([&] {
        if (it::on_fabric()) {
            delete_all(connection.get(), local.get(), peer.get());
        }
        // NOLINTNEXTLINE(concurrency-mt-unsafe): without destructors, the owners are the parent's
        std::_Exit(0);
    }));
    CHECK_OK(rpma_read(connection.get(), local.get(), 0, remote.get(), 0, kSize,
                       RPMA_F_COMPLETION_ALWAYS, it::context(2)));
    it::expect_done(connection.get(), IBV_WC_RDMA_READ, it::context(2));

    std::array<int, 2> gate{};
    CHECK(pipe(gate.data()) == 0);
    const pid_t lasting = fork_child([&] {
        close(gate[1]);
        char byte = 0;
        CHECK(read(gate[0], &byte, 1) == 0);
    });
    it::disconnect(connection.get());
    role.peer().await("closed");
    close(gate[1]);
    wait_for_success(lasting);
    close(gate[0]);
}
