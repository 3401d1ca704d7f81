// SPDX-License-Identifier: BSD-3-Clause
// Which file lies under an address, and views of files that are the account's own.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabric::memory::persistence {

// A shared mapping of a file in this process.
struct FileMapping {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uint64_t offset = 0;  // of begin in the file
    dev_t device = 0;
    ino_t inode = 0;
    std::string path;
    std::uint64_t alignment = 1;  // in which the file can be mapped; 1: by pages
};

// Does such a file count as persistent memory? If so, the alignment of its mappings. Other devices
// than device DAX do not.
std::optional<std::uint64_t> mappable_alignment(const struct stat& file,
                                                const char* sysfs = "/sys");

// The part of a mapping that holds [begin, end) and that can be mapped again.
struct Extent {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};
Extent widened(const FileMapping& mapping, std::uintptr_t begin, std::uintptr_t end);

// Those that touch [address, address + length). A file that has no name any more is not persistent.
std::vector<FileMapping> file_mappings(const void* address, std::uint64_t length);

// A view of a part of a file, and memory for its durable image. Of a file that ends before it the
// length is less, and may be 0.
struct View {
    std::byte* memory = nullptr;
    std::byte* image = nullptr;
    std::uint64_t length = 0;
    int error = 0;  // errno
};

// Maps the part anew and copies what it holds into the image; pages of zeros take no memory.
View open_view(const FileMapping& file, std::uint64_t offset, std::uint64_t length);
void close_view(const View& view);

}  // namespace fabric::memory::persistence
