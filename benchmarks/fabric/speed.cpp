// SPDX-License-Identifier: BSD-3-Clause
// One round of everything that is compared, each line "NAME VALUE": streams in bytes per second,
// latencies in nanoseconds. TCP and the fabric take turns, so that what else the machine does
// meets both. Arguments: bytes of each stream, number of round trips.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/session.hpp"
#include "tcp.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSizes[] = {64U << 10, 128U << 10, 256U << 10, 512U << 10, 1U << 20};
constexpr std::size_t kRegion = 1U << 20;
constexpr std::uint32_t kDepth = 32;       // writes under way at a time
constexpr std::uint32_t kSignalEvery = 8;  // of which so many are told about
constexpr std::size_t kTurns = 4;  // of each latency measurement, TCP and fabric alternating

struct Amount {
    std::size_t stream_bytes;
    std::size_t round_trips;
};

Amount amount_of(const it::Role& role) {
    CHECK(role.arguments.size() == 2);
    return {std::strtoull(role.arguments[0].c_str(), nullptr, 10),
            std::strtoull(role.arguments[1].c_str(), nullptr, 10)};
}

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

void report(const char* name, std::size_t size, double value) {
    std::printf("%s_%zu %.0f\n", name, size, value);
    std::fflush(stdout);
}

// --- the fabric

/// The next successful completion: by polling, or asleep until there is one.
void await_completion(rpma_cq* cq, bool polling) {
    ibv_wc wc{};
    int result = rpma_cq_get_wc(cq, 1, &wc, nullptr);
    while (result == RPMA_E_NO_COMPLETION) {
        if (!polling)
            CHECK_OK(rpma_cq_wait(cq));
        result = rpma_cq_get_wc(cq, 1, &wc, nullptr);
    }
    CHECK_EQ(result, 0);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

double stream(const it::Attached& client, std::size_t size, std::size_t pieces, bool polling) {
    rpma_cq* const cq = it::main_cq(client.conn());
    const auto begin = Clock::now();
    std::size_t told = 0;
    std::size_t taken = 0;
    for (std::size_t i = 1; i <= pieces; ++i) {
        const bool signal = i % kSignalEvery == 0 || i == pieces;
        for (; told - taken >= kDepth / kSignalEvery; ++taken)
            await_completion(cq, polling);
        told += signal ? 1 : 0;
        CHECK_OK(rpma_write(client.conn(), client.remote.get(), 0, client.local.mr(), 0, size,
                            signal ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR,
                            nullptr));
    }
    for (; taken < told; ++taken)
        await_completion(cq, polling);
    return static_cast<double>(size * pieces) / seconds_since(begin);
}

double write_and_flush(const it::Attached& client, std::size_t count, bool polling) {
    rpma_cq* const cq = it::main_cq(client.conn());
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
        CHECK_OK(rpma_write(client.conn(), client.remote.get(), 0, client.local.mr(), 0, 8,
                            RPMA_F_COMPLETION_ON_ERROR, nullptr));
        CHECK_OK(rpma_flush(client.conn(), client.remote.get(), 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
                            RPMA_F_COMPLETION_ALWAYS, nullptr));
        await_completion(cq, polling);
    }
    return seconds_since(begin) / static_cast<double>(count) * 1e9;
}

double read(const it::Attached& client, std::size_t count, bool polling) {
    rpma_cq* const cq = it::main_cq(client.conn());
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
        CHECK_OK(rpma_read(client.conn(), client.local.mr(), 0, client.remote.get(), 0, 8,
                           RPMA_F_COMPLETION_ALWAYS, nullptr));
        await_completion(cq, polling);
    }
    return seconds_since(begin) / static_cast<double>(count) * 1e9;
}

/// Both sides write 8 bytes into each other's memory in turn and look at their own until the
/// answer has come, as ucx_perftest and ib_write_lat measure. Gives the time of one way.
double ping_pong(rpma_conn* connection, const it::Region& local, rpma_mr_remote* remote,
                 std::size_t count, bool first) {
    auto* const words = reinterpret_cast<std::uint64_t*>(local.bytes().data());
    const std::atomic_ref<std::uint64_t> inbox(words[0]);
    std::uint64_t& outbox = words[1];
    rpma_cq* const cq = it::main_cq(connection);
    std::size_t under_way = 0;
    const auto poll = [&] {
        ibv_wc wc{};
        const int result = rpma_cq_get_wc(cq, 1, &wc, nullptr);
        CHECK(result == 0 || result == RPMA_E_NO_COMPLETION);
        under_way -= result == 0 ? 1 : 0;
    };
    const auto begin = Clock::now();
    for (std::uint64_t turn = 1; turn <= count; ++turn) {
        while (!first && inbox.load(std::memory_order_acquire) < turn)
            poll();
        outbox = turn;
        CHECK_OK(
            rpma_write(connection, remote, 0, local.mr(), 8, 8, RPMA_F_COMPLETION_ALWAYS, nullptr));
        ++under_way;
        while (first && inbox.load(std::memory_order_acquire) < turn)
            poll();
    }
    while (under_way > 0)
        poll();
    return seconds_since(begin) / static_cast<double>(count) / 2 * 1e9;
}

// --- both

void stream_both(const it::Attached& client, const bench::Socket& socket, Amount amount) {
    for (const std::size_t size : kSizes) {
        const std::size_t pieces = amount.stream_bytes / size;
        const auto begin = Clock::now();
        bench::send_stream(socket, size, pieces);
        report("tcp_stream", size, static_cast<double>(size * pieces) / seconds_since(begin));
        report("write_stream", size, stream(client, size, pieces, true));
        report("write_stream_waiting", size, stream(client, size, pieces, false));
    }
}

void round_trips_of_both(const it::Attached& client, const bench::Socket& socket, Amount amount) {
    const std::size_t count = amount.round_trips / kTurns;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
        const auto begin = Clock::now();
        bench::ping(socket, count);
        report("tcp_round_trip", 8, seconds_since(begin) / static_cast<double>(count) * 1e9);
        report("write_flush", 8, write_and_flush(client, count, true));
        report("read", 8, read(client, count, true));
        report("write_flush_waiting", 8, write_and_flush(client, count, false));
        report("read_waiting", 8, read(client, count, false));
    }
}

void ping_pong_of_client(it::Role& role, const it::Attached& client, std::size_t count) {
    std::memset(client.local.bytes().data(), 0, 8);
    role.peer().give("region of the client", it::describe(client.local.mr()));
    role.peer().await("pong");
    report("write_one_way", 8,
           ping_pong(client.conn(), client.local, client.remote.get(), count, true));
}

void ping_pong_of_server(it::Role& role, const it::Served& server, std::size_t count) {
    const auto descriptor = role.peer().take<it::Descriptor>("region of the client");
    const it::RemoteMr remote = it::remote_region(descriptor);
    std::memset(server.region.bytes().data(), 0, 8);
    role.peer().signal("pong");
    ping_pong(server.connection.get(), server.region, remote.get(), count, false);
}

it::ConnCfg deep_queues() {
    return it::configure({.cq = 2 * kDepth, .sq = 2 * kDepth});
}

}  // namespace

void server(it::Role& role) {
    const Amount amount = amount_of(role);
    std::uint16_t port = 0;
    const bench::Socket listener = bench::listen_on(role.address.c_str(), &port);
    const it::ConnCfg cfg = deep_queues();
    const it::Served served = it::serve(role, kRegion, it::kUsualUsage, cfg.get());
    role.peer().give("tcp port", port);
    const bench::Socket socket = bench::accept_from(listener);
    for (const std::size_t size : kSizes)
        bench::receive_stream(socket, size, amount.stream_bytes / size);
    for (std::size_t turn = 0; turn < kTurns; ++turn)
        bench::pong(socket, amount.round_trips / kTurns);
    ping_pong_of_server(role, served, amount.round_trips / kTurns);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const Amount amount = amount_of(role);
    const it::ConnCfg cfg = deep_queues();
    const it::Attached attached = it::attach(role, kRegion, cfg.get());
    const auto port = role.peer().take<std::uint16_t>("tcp port");
    const bench::Socket socket = bench::connect_to(role.address.c_str(), port);
    stream_both(attached, socket, amount);
    round_trips_of_both(attached, socket, amount);
    ping_pong_of_client(role, attached, amount.round_trips / kTurns);
    it::disconnect(attached.conn());
}
