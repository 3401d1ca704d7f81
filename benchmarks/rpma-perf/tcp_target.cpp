// SPDX-License-Identifier: BSD-3-Clause
#include "tcp_target.hpp"

#include <endian.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "buffer.hpp"
#include "error.hpp"
#include "free_port.hpp"
#include "pattern.hpp"

namespace perf {
namespace {

class TcpResponder : public Responder {
public:
    TcpResponder(const Case& point, const TargetMemory& memory, Socket socket)
        : point_(point), memory_(memory), socket_(std::move(socket)), payload_(point.size) {}

    void run(const std::atomic<bool>& stop) override {
        stop_ = &stop;
        try {
            std::uint32_t number = 0;
            if (!receive(&number, sizeof(number))) {
                return;
            }
            connection_ = le32toh(number);
            TcpHeader header{};
            while (receive(&header, sizeof(header))) {
                serve(header);
            }
        } catch (const std::exception& error) {
            failure_ = error.what();
        }
    }

private:
    static constexpr int kSleepMs = 50;
    static constexpr int kSendMs = 10'000;

    // Exactly `size` bytes; false at the end of the connection or when the case ends.
    bool receive(void* to, std::size_t size) {
        auto* at = static_cast<char*>(to);
        while (size > 0) {
            if (begin_ == end_ && size < input_.size()) {
                if (!refill()) {
                    return false;
                }
            }
            std::size_t taken = std::min(size, end_ - begin_);
            if (taken > 0) {
                std::memcpy(at, input_.data() + begin_, taken);
                begin_ += taken;
            } else if (!receive_some(at, size, taken)) {
                return false;
            }
            at += taken;
            size -= taken;
        }
        return true;
    }

    bool refill() {
        begin_ = 0;
        end_ = 0;
        return receive_some(input_.data(), input_.size(), end_);
    }

    bool receive_some(char* to, std::size_t size, std::size_t& got) {
        while (!stop_->load(std::memory_order_relaxed)) {
            const ssize_t result = ::recv(socket_.fd(), to, size, MSG_DONTWAIT);
            if (result > 0) {
                got = static_cast<std::size_t>(result);
                return true;
            }
            if (result == 0 || (errno != EAGAIN && errno != EINTR)) {
                return false;
            }
            if (point_.wait == Wait::event) {
                (void)socket_.readable(kSleepMs);
            }
        }
        return false;
    }

    void serve(const TcpHeader& header) {
        const std::uint64_t offset = le64toh(header.offset);
        const std::size_t size = le32toh(header.size);
        check_range(offset, size);
        char* const place = memory_.data() + offset;
        switch (header.action) {
            case TcpAction::read:
                socket_.send_all(place, size, kSendMs);
                return;
            case TcpAction::message:
            case TcpAction::echo:
                take_message(header.action, size);
                break;
            default:
                store(header, place, offset, size);
                break;
        }
        if (header.wants_ack != 0) {
            constexpr std::array<char, kTcpAck> kAck{};
            socket_.send_all(kAck.data(), kAck.size(), kSendMs);
        }
    }

    void store(const TcpHeader& header, char* place, std::uint64_t offset, std::size_t size) {
        if (!receive(place, size)) {
            return;
        }
        if (header.action == TcpAction::commit) {
            const std::uint64_t word = commit_place(offset);
            check_range(word, kCommitSize);
            (void)receive(memory_.data() + word, kCommitSize);
        } else if (header.action == TcpAction::persist) {
            memory_.persist(offset, size);
        }
    }

    // Behind the data of the slot that the offset lies in.
    [[nodiscard]] std::uint64_t commit_place(std::uint64_t offset) const {
        const Layout layout(point_);
        const std::uint64_t slot = offset / layout.slot_size() * layout.slot_size();
        return slot + layout.commit_in_slot();
    }

    void check_range(std::uint64_t offset, std::size_t size) const {
        if (offset > memory_.size() || size > memory_.size() - offset) {
            fail("the client asks for memory that is not there");
        }
    }

    void take_message(TcpAction action, std::size_t size) {
        if (size > payload_.size()) {
            fail("the client sends a longer message than it said");
        }
        if (!receive(payload_.data(), size)) {
            return;
        }
        if (action == TcpAction::echo) {
            socket_.send_all(payload_.data(), size, kSendMs);
        } else if (point_.verify) {
            verify(size);
        }
    }

    void verify(std::size_t size) {
        const std::uint64_t batch = received_ / point_.batch;
        const std::uint64_t seed =
            operation_seed(connection_, batch % point_.slots(), batch / point_.slots() + 1,
                           received_ % point_.batch);
        received_++;
        verified_.bytes += size;
        verified_.mismatches += count_mismatches(payload_.data(), size, seed);
    }

    Case point_;
    const TargetMemory& memory_;
    Socket socket_;
    Buffer payload_;
    const std::atomic<bool>* stop_ = nullptr;
    std::uint64_t connection_ = 0;
    std::uint64_t received_ = 0;
    std::array<char, 65536> input_{};
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

Socket listen(const TargetOptions& options) {
    Socket socket;
    (void)on_free_port(options.address, options.first_port, [&](const std::string& port) {
        try {
            socket = Socket::listen(options.address, std::stoi(port));
            return std::string();
        } catch (const Error& error) {
            return std::string(error.what());
        }
    });
    return socket;
}

}  // namespace

TcpTarget::TcpTarget(const Case& point, const TargetOptions& options, const TargetMemory& memory)
    : listener_(listen(options)) {
    answering_.begin(point.connections,
                     [this, point, &memory](std::size_t) -> std::unique_ptr<Responder> {
                         auto socket = listener_.accept(kAcceptMs);
                         if (!socket) {
                             return nullptr;
                         }
                         return std::make_unique<TcpResponder>(point, memory, std::move(*socket));
                     });
}

std::string TcpTarget::port() const {
    return std::to_string(listener_.local().port);
}

}  // namespace perf
