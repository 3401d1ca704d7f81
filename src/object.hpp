// SPDX-License-Identifier: BSD-3-Clause
// Life of the library's objects: allocation that reports failure, ownership, reference counts.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "status.hpp"

namespace rpma {

/// A new T, or nullptr when memory has run out. malloc() and not operator new: the latter lives in
/// libstdc++, which the library does not need.
template <typename T, typename... Args>
[[nodiscard]] T* create(Args&&... args) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    void* memory = std::malloc(sizeof(T));
    return memory != nullptr ? new (memory) T(std::forward<Args>(args)...) : nullptr;
}

template <typename T>
void destroy(T* object) {
    if (object != nullptr) {
        object->~T();
        std::free(object);
    }
}

struct Destroyer {
    template <typename T>
    void operator()(T* object) const {
        destroy(object);
    }
};

/// Sole owner of an object made by create().
template <typename T>
using Owned = std::unique_ptr<T, Destroyer>;

/// Base of what outlives its children: each child holds a Ref. T::close() frees what T holds.
class RefCounted {
public:
    void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
    /// True if that was the last reference.
    [[nodiscard]] bool drop() { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

private:
    std::atomic<unsigned> count_{1};
};

/// Gives up one reference; the last one closes and frees the object and tells how that went.
template <typename T>
Status unref(T* object) {
    if (object == nullptr || !object->drop()) {
        return {};
    }
    Status status = object->close();
    destroy(object);
    return status;
}

/// One counted reference.
template <typename T>
class Ref {
public:
    Ref() = default;
    explicit Ref(T* object) : object_(object) {
        if (object_ != nullptr) {
            object_->retain();
        }
    }
    Ref(const Ref& other) : Ref(other.object_) {}
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() { (void)release(); }

    Status release() { return unref(std::exchange(object_, nullptr)); }
    [[nodiscard]] T* get() const { return object_; }
    T* operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

private:
    T* object_ = nullptr;
};

/// std::mutex reports failure by an exception, which this library cannot have.
class Mutex {
public:
    void lock() { (void)pthread_mutex_lock(&mutex_); }
    void unlock() { (void)pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Guard {
public:
    explicit Guard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
    ~Guard() { mutex_.unlock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

private:
    Mutex& mutex_;
};

}  // namespace rpma
