// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/descriptor.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "carrier/engine_fork.hpp"
#include "uncancellable.hpp"

namespace fabric::carrier {
namespace {

// All of it survives every static destructor: threads may still run while the process ends.
struct Table {
    std::mutex mutex;
    std::vector<bool> open;  // by descriptor number
    std::atomic<unsigned> generation{0};
};

Table& table() {
    static Table* const instance = new Table;
    return *instance;
}

void before_fork() {
    engine_pause();
    table().mutex.lock();
}

void after_fork_in_parent() {
    table().mutex.unlock();
    engine_resume();
}

// No shutdown() here: the connections are the parent's.
void after_fork_in_child() {
    Table& all = table();
    for (std::size_t fd = 0; fd < all.open.size(); ++fd)
        if (all.open[fd])
            close(static_cast<int>(fd));
    all.open.clear();
    all.generation.fetch_add(1);
    all.mutex.unlock();
    engine_forget();
}

void watch_forks() {
    static const int registered =
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    static_cast<void>(registered);
}

}  // namespace

std::unique_lock<std::mutex> Descriptor::lock_table() {
    watch_forks();
    return std::unique_lock(table().mutex);
}

Descriptor Descriptor::adopt(int fd) {
    Descriptor made;
    if (fd < 0)
        return made;
    Table& all = table();
    const auto index = static_cast<std::size_t>(fd);
    if (all.open.size() <= index)
        all.open.resize(index + 64);
    all.open[index] = true;
    made.fd_ = fd;
    made.generation_ = all.generation.load();
    return made;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = std::exchange(other.fd_, -1);
        generation_ = other.generation_;
    }
    return *this;
}

int Descriptor::get() const {
    return inherited() ? -1 : fd_;
}

bool Descriptor::inherited() const {
    return fd_ >= 0 && generation_ != table().generation.load(std::memory_order_relaxed);
}

unsigned fork_generation() {
    watch_forks();
    return table().generation.load(std::memory_order_relaxed);
}

void Descriptor::reset() {
    if (fd_ >= 0) {
        const Uncancellable guarded;
        const std::lock_guard guard(table().mutex);
        if (!inherited()) {
            table().open[static_cast<std::size_t>(fd_)] = false;
            close(fd_);
        }
    }
    fd_ = -1;
}

}  // namespace fabric::carrier
