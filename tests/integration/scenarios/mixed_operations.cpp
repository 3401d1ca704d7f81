// SPDX-License-Identifier: BSD-3-Clause
// Mixed operations on several connections at once, in random order and of random sizes, for a given
// time; every byte is compared with what it must be. Arguments: seconds, seed (printed; default 1).
#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kConnections = 4;
constexpr std::size_t kPart = 1U << 20;       // of the server's region, for one connection
constexpr std::size_t kLargest = 256U << 10;  // of one operation
constexpr std::size_t kLargestMessage = 64U << 10;
constexpr std::uint32_t kStop = 0xffffffff;  // immediate data: no more messages

it::ConnCfg queues() {
    return it::configure({.cq = 32, .sq = 32, .rq = 4, .rcq = 8});
}

// --- server: sends back what it is sent, immediate data too

class Echo {
public:
    Echo(rpma_peer* peer, rpma_ep* endpoint, const it::Descriptor& descriptor)
        : in_(peer, kLargestMessage, it::kUsualUsage) {
        const it::ConnCfg cfg = queues();
        it::Request request = it::next_request(endpoint, cfg.get());
        CHECK_OK(rpma_conn_req_recv(request.get(), in_.mr(), 0, kLargestMessage, nullptr));
        connection_ = it::establish(std::move(request), descriptor);
    }

    void run() {
        while (answer_one()) {
        }
        it::expect_closed(connection_.get());
    }

private:
    bool answer_one() {
        const ibv_wc wc =
            it::next_completion(it::receive_cq(connection_.get()), it::Deadline(kPatience));
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        if (wc.wc_flags == IBV_WC_WITH_IMM && ntohl(wc.imm_data) == kStop) {
            return false;
        }
        if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
            CHECK_OK(rpma_recv(connection_.get(), in_.mr(), 0, kLargestMessage, nullptr));
            CHECK_OK(rpma_send_with_imm(connection_.get(), nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS,
                                        ntohl(wc.imm_data), nullptr));
            it::expect_done(connection_.get(), IBV_WC_SEND, nullptr);
            return true;
        }
        CHECK_OK(rpma_send(connection_.get(), in_.mr(), 0, wc.byte_len, RPMA_F_COMPLETION_ALWAYS,
                           nullptr));
        it::expect_done(connection_.get(), IBV_WC_SEND, nullptr);
        CHECK_OK(rpma_recv(connection_.get(), in_.mr(), 0, kLargestMessage, nullptr));
        return true;
    }

    static constexpr std::chrono::minutes kPatience{2};
    it::Region in_;
    it::Connection connection_;
};

// --- client

class Worker {
public:
    Worker(it::Role& role, rpma_peer* peer, std::size_t number, std::uint64_t seed)
        : base_(number * kPart),
          random_(seed * 1000 + number),
          model_(kPart),
          local_(peer, kPart, it::kUsualUsage),
          inbox_(peer, kLargestMessage, it::kUsualUsage) {
        const it::ConnCfg cfg = queues();
        connection_ = it::establish(it::new_request(role, peer, cfg.get()));
        remote_ = it::remote_region(it::private_data(connection_.get()));
    }

    std::uint64_t work_until(std::chrono::steady_clock::time_point end) {
        static constexpr void (Worker::*kOperations[])() = {
            &Worker::write,        &Worker::write_burst,  &Worker::write_with_immediate,
            &Worker::read,         &Worker::flush,        &Worker::write_atomically,
            &Worker::send_message, &Worker::compare_part,
        };
        std::uint64_t done = 0;
        for (; std::chrono::steady_clock::now() < end; ++done) {
            (this->*kOperations[number_below(std::size(kOperations))])();
        }
        compare_part();
        return done;
    }

    void stop() {
        CHECK_OK(rpma_send_with_imm(connection_.get(), nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS,
                                    kStop, nullptr));
        done(IBV_WC_SEND);
        it::disconnect(connection_.get());
    }

private:
    struct Range {
        std::size_t offset;
        std::size_t length;
    };

    std::size_t number_below(std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
    }

    // Small ones as often as large ones.
    Range any_range(std::size_t largest) {
        const std::size_t limit =
            number_below(2) == 0 ? std::min<std::size_t>(largest, 64) : largest;
        const std::size_t length = 1 + number_below(limit);
        return {number_below(kPart - length + 1), length};
    }

    void done(ibv_wc_opcode opcode) { it::expect_done(connection_.get(), opcode, nullptr); }

    // New bytes for a range: in local memory, at the same place, and in the model.
    void renew(const Range& range) {
        it::fill(local_.bytes(range.offset, range.length), random_());
        std::memcpy(model_.data() + range.offset, local_.bytes(range.offset, 1).data(),
                    range.length);
    }

    void post_write(const Range& range, int flags) {
        renew(range);
        CHECK_OK(rpma_write(connection_.get(), remote_.get(), base_ + range.offset, local_.mr(),
                            range.offset, range.length, flags, nullptr));
    }

    void write() {
        post_write(any_range(kLargest), RPMA_F_COMPLETION_ALWAYS);
        done(IBV_WC_RDMA_WRITE);
    }

    // Writes side by side, none of which overlaps another: their sources must stay as they are.
    void write_burst() {
        constexpr std::size_t kWrites = 16;
        constexpr std::size_t kShare = kPart / kWrites;
        for (std::size_t i = 0; i < kWrites; ++i) {
            const std::size_t length = 1 + number_below(kShare);
            post_write({i * kShare + number_below(kShare - length + 1), length},
                       i + 1 < kWrites ? RPMA_F_COMPLETION_ON_ERROR : RPMA_F_COMPLETION_ALWAYS);
        }
        done(IBV_WC_RDMA_WRITE);
    }

    void await_answer(ibv_wc& wc) {
        wc = it::next_completion(it::receive_cq(connection_.get()));
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
    }

    void write_with_immediate() {
        const Range range = any_range(kLargest);
        const auto immediate = static_cast<std::uint32_t>(number_below(kStop));
        renew(range);
        CHECK_OK(rpma_recv(connection_.get(), inbox_.mr(), 0, kLargestMessage, nullptr));
        CHECK_OK(rpma_write_with_imm(connection_.get(), remote_.get(), base_ + range.offset,
                                     local_.mr(), range.offset, range.length,
                                     RPMA_F_COMPLETION_ALWAYS, immediate, nullptr));
        done(IBV_WC_RDMA_WRITE);
        ibv_wc wc{};
        await_answer(wc);
        CHECK_EQ(ntohl(wc.imm_data), immediate);
        CHECK_EQ(wc.byte_len, 0);
    }

    void compare(const Range& range) {
        std::memset(local_.bytes(range.offset, 1).data(), 0, range.length);
        CHECK_OK(rpma_read(connection_.get(), local_.mr(), range.offset, remote_.get(),
                           base_ + range.offset, range.length, RPMA_F_COMPLETION_ALWAYS, nullptr));
        done(IBV_WC_RDMA_READ);
        const std::byte* const read = local_.bytes(range.offset, 1).data();
        if (std::memcmp(read, model_.data() + range.offset, range.length) != 0) {
            FAIL("%zu bytes at %zu were read wrongly", range.length, base_ + range.offset);
        }
    }

    void read() { compare(any_range(kLargest)); }
    void compare_part() { compare({0, kPart}); }

    void flush() {
        const Range range = any_range(kLargest);
        post_write(range, RPMA_F_COMPLETION_ON_ERROR);
        CHECK_OK(rpma_flush(connection_.get(), remote_.get(), base_ + range.offset, range.length,
                            RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, nullptr));
        CHECK_EQ(it::next_completion(it::main_cq(connection_.get())).status, IBV_WC_SUCCESS);
        compare(range);
    }

    void write_atomically() {
        const Range range = {number_below(kPart / 8) * 8, 8};
        char word[8];
        renew(range);
        std::memcpy(word, model_.data() + range.offset, sizeof word);
        CHECK_OK(rpma_atomic_write(connection_.get(), remote_.get(), base_ + range.offset, word,
                                   RPMA_F_COMPLETION_ALWAYS, nullptr));
        CHECK_EQ(it::next_completion(it::main_cq(connection_.get())).status, IBV_WC_SUCCESS);
        compare(range);
    }

    void send_message() {
        const Range range = any_range(kLargestMessage);
        const std::uint64_t seed = random_();
        const it::Bytes out = local_.bytes(range.offset, range.length);
        it::fill(out, seed);
        CHECK_OK(rpma_recv(connection_.get(), inbox_.mr(), 0, kLargestMessage, nullptr));
        CHECK_OK(rpma_send(connection_.get(), local_.mr(), range.offset, range.length,
                           RPMA_F_COMPLETION_ALWAYS, nullptr));
        done(IBV_WC_SEND);
        ibv_wc wc{};
        await_answer(wc);
        CHECK_EQ(wc.byte_len, range.length);
        it::check_filled(inbox_.bytes(0, range.length), seed);
    }

    const std::size_t base_;
    std::mt19937_64 random_;
    std::vector<std::byte> model_;
    it::Region local_;
    it::Region inbox_;
    it::Connection connection_;
    it::RemoteMr remote_;
};

std::uint64_t argument(const it::Role& role, std::size_t number, std::uint64_t otherwise) {
    return role.arguments.size() > number
               ? std::strtoull(role.arguments[number].c_str(), nullptr, 10)
               : otherwise;
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kConnections * kPart, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    std::vector<std::unique_ptr<Echo>> echoes;
    std::vector<std::thread> threads;
    while (echoes.size() < kConnections) {
        echoes.push_back(
            std::make_unique<Echo>(peer.get(), endpoint.get(), it::describe(region.mr())));
        threads.emplace_back([echo = echoes.back().get()] { echo->run(); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

void client(it::Role& role) {
    const std::uint64_t seconds = argument(role, 0, 600);
    const std::uint64_t seed = argument(role, 1, 1);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    role.peer().await("listening");
    std::vector<std::unique_ptr<Worker>> workers;
    while (workers.size() < kConnections) {
        workers.push_back(std::make_unique<Worker>(role, peer.get(), workers.size(), seed));
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::atomic<std::uint64_t> operations{0};
    std::vector<std::thread> threads;
    for (const auto& worker : workers) {
        threads.emplace_back([&, end] {
            operations += worker->work_until(end);
            worker->stop();
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::fprintf(stderr, "%llu operations in %llu s, seed %llu\n",
                 static_cast<unsigned long long>(operations.load()),
                 static_cast<unsigned long long>(seconds), static_cast<unsigned long long>(seed));
}
