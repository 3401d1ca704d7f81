// SPDX-License-Identifier: BSD-3-Clause
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "carrier/address.hpp"
#include "carrier/descriptor.hpp"
#include "carrier/engine.hpp"
#include "carrier/link.hpp"
#include "carrier/tcp_link.hpp"
#include "carrier/tunables.hpp"
#include "log.hpp"
#include "trace.hpp"
#include "uncancellable.hpp"

namespace fabric::carrier {
namespace {

using OnLink = std::function<void(std::shared_ptr<Link>)>;

constexpr int kAcceptsPerRound = 64;

class Acceptor final : public Watcher, public std::enable_shared_from_this<Acceptor> {
public:
    Acceptor(Descriptor socket, OnLink on_link)
        : socket_(std::move(socket)), fd_(socket_.get()), on_link_(std::move(on_link)) {}

    int start() { return Engine::instance().watch(fd_, EPOLLIN, shared_from_this()); }

    void stop() {
        const std::lock_guard guard(mutex_);
        if (!socket_.inherited()) {
            Engine::instance().unwatch(fd_);
            ::shutdown(fd_, SHUT_RDWR);  // also for a child that still has a copy
        }
        socket_.reset();
        stopped_ = true;
    }

    void ready(std::uint32_t) override {
        for (int i = 0; i < kAcceptsPerRound; ++i) {
            sockaddr_storage peer{};
            Descriptor socket = accept_one(&peer);
            if (socket.get() < 0)
                return;
            tune(socket.get());
            auto link = std::make_shared<TcpLink>(std::move(socket), false, peer);
            if (trace::event_enabled(LogLevel::Info))
                trace::event(LogLevel::Info, link->id(), "accepted from %s", text_of(peer).c_str());
            on_link_(link);
            if (link.use_count() == 1 || link->start() != 0)
                link->close();
        }
    }

private:
    Descriptor accept_one(sockaddr_storage* peer) {
        const std::lock_guard guard(mutex_);
        if (stopped_)
            return {};
        socklen_t size = sizeof *peer;
        Descriptor socket = Descriptor::make([&] {
            return accept4(fd_, reinterpret_cast<sockaddr*>(peer), &size,
                           SOCK_NONBLOCK | SOCK_CLOEXEC);
        });
        if (socket.get() < 0 &&
            (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
            pause(errno);
        return socket;
    }

    // Out of descriptors or memory: asking again at once would only burn CPU. Caller holds the
    // lock.
    void pause(int error) {
        log(LogLevel::Warning,
            "cannot accept a connection: %s; it waits (a higher limit of open files, ulimit -n, "
            "may help)",
            std::strerror(error));
        Engine::instance().change(fd_, 0);
        pause_timer_.set(kAcceptPause, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                const std::lock_guard guard(self->mutex_);
                if (!self->stopped_)
                    Engine::instance().change(self->fd_, EPOLLIN);
            }
        });
    }

    std::mutex mutex_;
    Descriptor socket_;
    const int fd_;
    bool stopped_ = false;
    Timer pause_timer_;
    const OnLink on_link_;
};

class TcpListener final : public Listener {
public:
    TcpListener(std::shared_ptr<Acceptor> acceptor, const sockaddr_storage& address)
        : acceptor_(std::move(acceptor)), address_(address) {}
    ~TcpListener() override { acceptor_->stop(); }
    TcpListener(const TcpListener&) = delete;
    TcpListener& operator=(const TcpListener&) = delete;

    sockaddr_storage address() const override { return address_; }

private:
    const std::shared_ptr<Acceptor> acceptor_;
    const sockaddr_storage address_;
};

int bind_and_listen(int fd, const sockaddr_storage& address, int backlog, bool only_ipv6) {
    const int on = 1;
    const int only = only_ipv6 ? 1 : 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length_of(address)) != 0)
        return errno;
    return ::listen(fd, backlog) == 0 ? 0 : errno;
}

// A given port may still be reserved by its owner with a bound socket; without one the kernel
// chooses when it knows the destination, so that ports can serve several connections.
int bind_source(int fd, const sockaddr_storage& source) {
    if (length_of(source) == 0 || is_wildcard(source))
        return 0;
    const int on = 1;
    if (port_of(source) != 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    else
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    return bind(fd, reinterpret_cast<const sockaddr*>(&source), length_of(source)) == 0 ? 0 : errno;
}

int start_connecting(int fd, const sockaddr_storage& source, const sockaddr_storage& destination) {
    if (const int error = bind_source(fd, source); error != 0)
        return error;
    const auto* address = reinterpret_cast<const sockaddr*>(&destination);
    if (::connect(fd, address, length_of(destination)) == 0 || errno == EINPROGRESS)
        return 0;
    return errno;
}

}  // namespace

int listen(const sockaddr_storage& address, int backlog, OnLink on_link,
           std::unique_ptr<Listener>* listener, bool only_ipv6) {
    if (length_of(address) == 0)
        return EAFNOSUPPORT;
    const Uncancellable guarded;
    Descriptor socket = make_stream_socket(address.ss_family);
    const int fd = socket.get();
    if (fd < 0)
        return errno;
    if (const int error = bind_and_listen(fd, address, backlog, only_ipv6); error != 0)
        return error;
    const sockaddr_storage bound = local_of(fd);
    auto acceptor = std::make_shared<Acceptor>(std::move(socket), std::move(on_link));
    if (const int error = acceptor->start(); error != 0)
        return error;
    if (trace::event_enabled(LogLevel::Info))
        trace::event(LogLevel::Info, 0, "listening on %s", text_of(bound).c_str());
    *listener = std::make_unique<TcpListener>(std::move(acceptor), bound);
    return 0;
}

int connect(const sockaddr_storage& source, const sockaddr_storage& destination,
            std::shared_ptr<ControlHandler> handler, std::shared_ptr<Link>* link) {
    if (length_of(destination) == 0)
        return EAFNOSUPPORT;
    const Uncancellable guarded;
    Descriptor socket = make_stream_socket(destination.ss_family);
    const int fd = socket.get();
    if (fd < 0)
        return errno;
    tune(fd);
    if (const int error = start_connecting(fd, source, destination); error != 0)
        return error;
    auto made = std::make_shared<TcpLink>(std::move(socket), true, destination);
    made->set_control(std::move(handler));
    *link = made;
    const int error = made->start();
    if (error != 0)
        link->reset();
    return error;
}

}  // namespace fabric::carrier
