// SPDX-License-Identifier: BSD-3-Clause
// Memory of whole pages, as adapters like it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>

#include "error.hpp"
#include "units.hpp"

namespace perf {

class Buffer {
public:
    explicit Buffer(std::size_t size) : memory_(map(size), Unmap{size}) {}

    [[nodiscard]] char* at(std::size_t offset) const { return memory_.get() + offset; }
    [[nodiscard]] char* data() const { return memory_.get(); }
    [[nodiscard]] std::size_t size() const { return memory_.get_deleter().size; }

private:
    struct Unmap {
        std::size_t size;
        void operator()(char* memory) const { munmap(memory, size); }
    };
    static char* map(std::size_t size) {
        void* const memory =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            fail("cannot allocate {}: {}", format_size(size), errno_text());
        }
        return static_cast<char*>(memory);
    }

    std::unique_ptr<char, Unmap> memory_;
};

}  // namespace perf
