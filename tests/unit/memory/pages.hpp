// SPDX-License-Identifier: BSD-3-Clause
// Mappings of the test's own.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "cmocka.hpp"
#include "memory/pages.hpp"

namespace fabric::test {

class Mapping {
public:
    Mapping(std::size_t pages, int protection, int fd = -1)
        : size_(pages * memory::page_size()),
          base_(mmap(nullptr, size_, protection,
                     fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0)) {
        assert_ptr_not_equal(base_, MAP_FAILED);
    }
    ~Mapping() { munmap(base_, size_); }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    std::byte* at(std::size_t offset = 0) const { return static_cast<std::byte*>(base_) + offset; }
    std::byte* page(std::size_t number) const { return at(number * memory::page_size()); }
    std::size_t size() const { return size_; }

    void protect(std::size_t page_number, int protection) const {
        assert_int_equal(mprotect(page(page_number), memory::page_size(), protection), 0);
    }
    void unmap(std::size_t page_number) const {
        assert_int_equal(munmap(page(page_number), memory::page_size()), 0);
    }

private:
    std::size_t size_;
    void* base_;
};

// A file without a name.
class File {
public:
    explicit File(std::size_t pages) : fd_(memfd_create("test", MFD_CLOEXEC)) {
        assert_true(fd_ >= 0);
        resize(pages);
    }
    ~File() { close(fd_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    int fd() const { return fd_; }
    void resize(std::size_t pages) const {
        assert_int_equal(ftruncate(fd_, static_cast<off_t>(pages * memory::page_size())), 0);
    }

private:
    int fd_;
};

}  // namespace fabric::test
