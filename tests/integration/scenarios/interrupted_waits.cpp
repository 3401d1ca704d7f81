// SPDX-License-Identifier: BSD-3-Clause
// Signals and the four calls that wait. Behind a handler without SA_RESTART each wait ends as
// "nothing yet" with errno EINTR, touches no output and can be made again; behind one with
// SA_RESTART it goes on until there is something.
#include <pthread.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 64;
constexpr int kTicks = 5;  // while a wait goes on
const it::Sizes kShared{.cq = 10, .sq = 10, .rq = 10, .rcq = 10, .shared_channel = true};

std::atomic<int> ticks{0};

// It runs handlers when a call that it knows returns, and not while a futex waits.
void skip_under_thread_sanitizer() {
#if defined(__SANITIZE_THREAD__)
    it::skip("ThreadSanitizer holds signals back while a thread waits");
#endif
}

void tick(int /*signal*/) {
    ++ticks;
}

// SIGALRM every 20 ms while this exists.
class Ticking {
public:
    explicit Ticking(int flags) {
        struct sigaction action {};
        action.sa_handler = tick;
        action.sa_flags = flags;
        CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
        set(20000);
    }
    ~Ticking() { set(0); }
    Ticking(const Ticking&) = delete;
    Ticking& operator=(const Ticking&) = delete;

private:
    static void set(suseconds_t us) {
        const itimerval timer{.it_interval = {0, us}, .it_value = {0, us}};
        CHECK(setitimer(ITIMER_REAL, &timer, nullptr) == 0);
    }
};

// The call ends with this code by a signal.
template <class Call>
void expect_interrupted(int code, Call call) {
    const Ticking ticking(0);
    errno = 0;
    CHECK_CODE(call(), code);
    CHECK_EQ(errno, EINTR);
}

// The call goes on over several signals, until what it waits for is caused.
template <class Call, class Cause>
void expect_restarted(Call call, Cause cause) {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    CHECK(pthread_sigmask(SIG_BLOCK, &alarm, nullptr) == 0);
    ticks = 0;
    std::thread other([&] {
        const it::Deadline deadline;
        while (ticks < kTicks) {
            CHECK(!deadline.passed());
            it::sleep_ms(5);
        }
        cause();
    });
    CHECK(pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr) == 0);
    {
        const Ticking ticking(SA_RESTART);
        CHECK_OK(call());
    }
    CHECK(ticks >= kTicks);
    other.join();
}

void event_waits(it::Role& role, rpma_conn* connection) {
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    const auto next_event = [&] { return rpma_conn_next_event(connection, &event); };
    expect_interrupted(RPMA_E_NO_EVENT, next_event);
    CHECK_EQ(event, RPMA_CONN_UNDEFINED);
    expect_restarted(next_event, [&] { role.peer().signal("close"); });
    CHECK_EQ(event, RPMA_CONN_CLOSED);
}

void shared_channel_waits(it::Role& role, rpma_conn* connection, rpma_mr_local* mr) {
    rpma_cq* cq = nullptr;
    bool is_rcq = false;
    const auto wait = [&] { return rpma_conn_wait(connection, 0, &cq, &is_rcq); };
    expect_interrupted(RPMA_E_NO_COMPLETION, wait);
    CHECK(cq == nullptr && !is_rcq);
    CHECK_OK(rpma_recv(connection, mr, 0, kSize, it::context(1)));
    expect_restarted(wait, [&] { role.peer().signal("send"); });
    CHECK(cq == it::receive_cq(connection) && is_rcq);
    it::expect_done(cq, IBV_WC_RECV, it::context(1));
}

}  // namespace

void server(it::Role& role) {
    skip_under_thread_sanitizer();
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize, it::kUsualUsage);
    const it::ConnCfg cfg = it::configure(kShared);
    rpma_ep* raw = nullptr;
    CHECK_OK(rpma_ep_listen(peer.get(), role.address.c_str(), role.port.c_str(), &raw));
    const it::Endpoint endpoint(raw);
    rpma_conn_req* request = nullptr;
    const auto next = [&] { return rpma_ep_next_conn_req(raw, cfg.get(), &request); };
    expect_interrupted(RPMA_E_NO_EVENT, next);
    CHECK(request == nullptr);
    expect_restarted(next, [&] { role.peer().signal("listening"); });
    const it::Connection connection =
        it::establish(it::Request(request), it::describe(region.mr()));
    shared_channel_waits(role, connection.get(), region.mr());
    event_waits(role, connection.get());
}

void client(it::Role& role) {
    skip_under_thread_sanitizer();
    const it::Attached attached = it::attach(role, kSize);
    rpma_cq* const cq = it::main_cq(attached.conn());
    const auto wait = [&] { return rpma_cq_wait(cq); };
    role.peer().await("send");
    expect_interrupted(RPMA_E_NO_COMPLETION, wait);
    expect_restarted(wait, [&] {
        CHECK_OK(rpma_send(attached.conn(), attached.local.mr(), 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                           it::context(2)));
    });
    it::expect_done(cq, IBV_WC_SEND, it::context(2));
    role.peer().await("close");
    it::disconnect(attached.conn());
}
