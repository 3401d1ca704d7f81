// SPDX-License-Identifier: BSD-3-Clause
// Sixteen threads on each side, each with a connection of its own and everything else in common:
// the peer, the endpoint, a configuration that is being changed, and a log function that is being
// changed while all of them log. Looking up the device, registering, making requests and taking
// them run at the same time.
#include <atomic>
#include <functional>
#include <thread>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kThreads = 16;
constexpr int kRounds = 3;
constexpr std::size_t kSize = 8192;

std::atomic<int> lines_of_one{0};
std::atomic<int> lines_of_other{0};

void count_for_one(rpma_log_level, const char*, int, const char*, const char*, ...) {
    ++lines_of_one;
}

void count_for_other(rpma_log_level, const char*, int, const char*, const char*, ...) {
    ++lines_of_other;
}

// Changes what the others share until they are done.
void change_all_the_time(rpma_conn_cfg* cfg, rpma_peer_cfg* pcfg, const std::atomic<bool>& done) {
    for (std::uint32_t round = 0; !done; ++round) {
        CHECK_OK(rpma_log_set_function(round % 2 == 0 ? count_for_one : count_for_other));
        CHECK_OK(rpma_log_set_threshold(
            RPMA_LOG_THRESHOLD, round % 3 == 0 ? RPMA_LOG_LEVEL_NOTICE : RPMA_LOG_LEVEL_DEBUG));
        CHECK_OK(rpma_conn_cfg_set_cq_size(cfg, 10 + round % 5));
        CHECK_OK(rpma_conn_cfg_set_timeout(cfg, 5000 + static_cast<int>(round % 5)));
        CHECK_OK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, round % 2 == 0));
        std::this_thread::yield();
    }
}

// All threads together, with another one that changes what they share.
void run(const std::function<void(std::size_t, const rpma_conn_cfg*, const rpma_peer_cfg*)>& body) {
    const it::ConnCfg cfg = it::configure({});
    rpma_peer_cfg* raw = nullptr;
    CHECK_OK(rpma_peer_cfg_new(&raw));
    const it::PeerCfg pcfg(raw);
    std::atomic<bool> done{false};
    std::thread changer([&] { change_all_the_time(cfg.get(), pcfg.get(), done); });
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < kThreads; ++number) {
        threads.emplace_back([&, number] { body(number, cfg.get(), pcfg.get()); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    done = true;
    changer.join();
    CHECK_OK(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
    CHECK_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_WARNING));
    CHECK(lines_of_one + lines_of_other > 0);
}

// Whoever takes it, each request is served once.
void serve_one(rpma_peer* peer, rpma_ep* endpoint, const rpma_conn_cfg* cfg) {
    const it::Region region(peer, kSize, it::kUsualUsage);
    const it::Connection connection = it::accept(endpoint, cfg, it::describe(region.mr()));
    it::expect_closed(connection.get());
}

void use_connection(rpma_conn* connection, const it::Region& local, std::uint64_t seed,
                    const rpma_peer_cfg* pcfg) {
    const it::RemoteMr remote = it::remote_region(it::private_data(connection));
    it::fill(local.bytes(0, kSize), seed);
    CHECK_OK(rpma_conn_apply_remote_peer_cfg(connection, pcfg));
    CHECK_OK(rpma_write(connection, remote.get(), 0, local.mr(), 0, kSize,
                        RPMA_F_COMPLETION_ON_ERROR, nullptr));
    CHECK_OK(rpma_flush(connection, remote.get(), 0, kSize, RPMA_FLUSH_TYPE_VISIBILITY,
                        RPMA_F_COMPLETION_ON_ERROR, nullptr));
    CHECK_OK(rpma_read(connection, local.mr(), kSize, remote.get(), 0, kSize,
                       RPMA_F_COMPLETION_ALWAYS, it::context(1)));
    it::expect_done(connection, IBV_WC_RDMA_READ, it::context(1));
    it::check_filled(local.bytes(kSize, kSize), seed);
}

void connect_one(const it::Role& role, std::uint64_t seed, rpma_peer* shared,
                 const rpma_conn_cfg* cfg, const rpma_peer_cfg* pcfg) {
    // Every other connection is of a peer of its own.
    const it::Peer own =
        seed % 2 == 0 ? it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE) : nullptr;
    rpma_peer* const peer = own != nullptr ? own.get() : shared;
    const it::Region local(peer, 2 * kSize, it::kUsualUsage);
    const it::Connection connection = it::establish(it::new_request(role, peer, cfg));
    use_connection(connection.get(), local, seed, pcfg);
    it::disconnect(connection.get());
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    run([&](std::size_t, const rpma_conn_cfg* cfg, const rpma_peer_cfg*) {
        for (int round = 0; round < kRounds; ++round) {
            serve_one(peer.get(), endpoint.get(), cfg);
        }
    });
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    role.peer().await("listening");
    run([&](std::size_t number, const rpma_conn_cfg* cfg, const rpma_peer_cfg* pcfg) {
        for (std::uint64_t round = 0; round < kRounds; ++round) {
            connect_one(role, round * kThreads + number, peer.get(), cfg, pcfg);
        }
    });
}
