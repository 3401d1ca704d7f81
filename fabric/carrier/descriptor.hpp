// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that belong to this process alone: a forked child closes its copies and forgets them,
// so that the parent's close is seen by its peers although the child lives, and the child's exit
// disturbs nobody.
#pragma once

#include <mutex>
#include <utility>

namespace fabric::carrier {

class Descriptor {
public:
    Descriptor() = default;
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)), generation_(other.generation_) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    // Runs `open`, which returns a descriptor or -1 with errno, such that no fork can happen
    // between its making and its being known.
    template <typename Open>
    static Descriptor make(Open open) {
        const std::unique_lock<std::mutex> guard = lock_table();
        return adopt(open());
    }

    // -1 if there is none, or if it was made before a fork of which this is the child.
    int get() const;
    // Made by a process of which this one is the forked child: nothing may be done with it.
    bool inherited() const;
    void reset();

private:
    static std::unique_lock<std::mutex> lock_table();
    static Descriptor adopt(int fd);

    int fd_ = -1;
    unsigned generation_ = 0;
};

// Changes in a forked child: what was made under another generation belongs to the parent.
unsigned fork_generation();

}  // namespace fabric::carrier
