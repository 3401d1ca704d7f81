// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/qp_numbers.hpp"

#include <netinet/in.h>
#include <unistd.h>

#include <bitset>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "carrier/descriptor.hpp"
#include "carrier/link.hpp"
#include "global_lock.hpp"
#include "log.hpp"
#include "verbs/hand_connect.hpp"

namespace fabric::verbs::qp_numbers {
namespace {

constexpr std::uint32_t kFirstManaged = 2;  // 0 and 1 are management queue pairs
constexpr std::uint32_t kManagedEnd = 1024U << 8;
constexpr std::size_t kPerPort = 256;
constexpr int kBacklog = 1024;

struct DevicePort {
    std::unique_ptr<carrier::Listener> listener;
    std::bitset<kPerPort> used;
};

struct Numbers {
    std::mutex mutex;
    unsigned generation = carrier::fork_generation();
    std::unordered_set<std::uint32_t> managed;
    std::uint32_t next_managed = kFirstManaged;
    std::map<std::uint16_t, DevicePort> ports;
};

// A forked child starts anew: its parent's ports are not its own.
Numbers& numbers() {
    static GlobalLock choosing;
    static Numbers* current = nullptr;
    const std::lock_guard guard(choosing);
    if (current == nullptr || current->generation != carrier::fork_generation()) {
        current = new Numbers;
        // Other processes start elsewhere, so that a number in a trace tells more.
        current->next_managed =
            kFirstManaged + (static_cast<std::uint32_t>(getpid()) << 6) % 200000;
    }
    return *current;
}

std::uint32_t take_index(std::uint16_t port, DevicePort& of) {
    std::size_t index = 0;
    while (of.used[index])
        ++index;
    of.used.set(index);
    return (std::uint32_t{port} << 8) | static_cast<std::uint32_t>(index);
}

int listen_anywhere(std::unique_ptr<carrier::Listener>* listener) {
    sockaddr_storage any{};
    any.ss_family = AF_INET6;
    int error = carrier::listen(any, kBacklog, hand_connect::welcome, listener);
    if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) {
        any.ss_family = AF_INET;
        error = carrier::listen(any, kBacklog, hand_connect::welcome, listener);
    }
    return error;
}

}  // namespace

std::optional<std::uint32_t> take_managed() {
    Numbers& self = numbers();
    const std::lock_guard guard(self.mutex);
    if (self.managed.size() >= kManagedEnd - kFirstManaged)
        return std::nullopt;
    while (!self.managed.insert(self.next_managed).second)
        self.next_managed =
            self.next_managed + 1 < kManagedEnd ? self.next_managed + 1 : kFirstManaged;
    const std::uint32_t number = self.next_managed;
    self.next_managed = number + 1 < kManagedEnd ? number + 1 : kFirstManaged;
    return number;
}

int take_reachable(std::uint32_t* number) {
    Numbers& self = numbers();
    const std::lock_guard guard(self.mutex);
    for (auto& [port, of] : self.ports)
        if (!of.used.all()) {
            *number = take_index(port, of);
            return 0;
        }
    DevicePort made;
    if (const int error = listen_anywhere(&made.listener); error != 0) {
        log(LogLevel::Error, "cannot open a port for queue pairs: %s", std::strerror(error));
        return error;
    }
    const sockaddr_storage address = made.listener->address();
    const std::uint16_t port = ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
    *number = take_index(port, self.ports.emplace(port, std::move(made)).first->second);
    return 0;
}

void give_back(std::uint32_t number) {
    Numbers& self = numbers();
    const std::lock_guard guard(self.mutex);
    if (!is_reachable(number)) {
        self.managed.erase(number);
        return;
    }
    const auto port = self.ports.find(port_of(number));
    if (port == self.ports.end())
        return;
    port->second.used.reset(number & (kPerPort - 1));
    if (port->second.used.none())
        self.ports.erase(port);
}

}  // namespace fabric::verbs::qp_numbers
