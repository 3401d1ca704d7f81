// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "memory/device_dax.hpp"
#include "memory/maps_reader.hpp"
#include "memory/pages.hpp"

namespace fabric::memory::persistence {

namespace {

bool all_zero(const std::byte* page, std::size_t length) {
    return std::all_of(page, page + length, [](std::byte one) { return one == std::byte{0}; });
}

void copy_content(const View& view) {
    for (std::uint64_t at = 0; at < view.length; at += page_size()) {
        const std::size_t length = std::min<std::uint64_t>(page_size(), view.length - at);
        if (!all_zero(view.memory + at, length)) {
            std::memcpy(view.image + at, view.memory + at, length);
        }
    }
}

int map_file(int fd, std::uint64_t offset, View& view) {
    constexpr int kReadWrite = PROT_READ | PROT_WRITE;
    void* const memory =
        mmap(nullptr, view.length, kReadWrite, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) {
        return errno;
    }
    void* const image =
        mmap(nullptr, view.length, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (image == MAP_FAILED) {
        const int error = errno;
        munmap(memory, view.length);
        return error;
    }
    view.memory = static_cast<std::byte*>(memory);
    view.image = static_cast<std::byte*>(image);
    copy_content(view);
    return 0;
}

// A page behind the end of the file cannot be touched. A device has no size.
std::uint64_t inside_of_file(int fd, std::uint64_t offset, std::uint64_t length) {
    struct stat now {};
    if (fstat(fd, &now) != 0 || !S_ISREG(now.st_mode)) {
        return length;
    }
    const auto size = static_cast<std::uint64_t>(now.st_size);
    return size <= offset ? 0 : std::min(length, size - offset);
}

// The kernel writes the end of a line in a name as "\012".
bool find_file(std::string& path, struct stat& named) {
    if (stat(path.c_str(), &named) == 0) {
        return true;
    }
    constexpr std::string_view kNewLine = "\\012";
    std::string name;
    std::string_view rest = path;
    for (std::size_t at = rest.find(kNewLine); at != std::string_view::npos;
         at = rest.find(kNewLine)) {
        name.append(rest.substr(0, at)).push_back('\n');
        rest.remove_prefix(at + kNewLine.size());
    }
    path = name.append(rest);
    return stat(path.c_str(), &named) == 0;
}

}  // namespace

std::vector<FileMapping> file_mappings(const void* address, std::uint64_t length) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    std::vector<FileMapping> found;
    MapsReader maps;
    for (auto mapping = maps.next(); mapping && mapping->begin < begin + length;
         mapping = maps.next()) {
        if (mapping->end <= begin || !mapping->shared_file) {
            continue;
        }
        FileMapping file{
            mapping->begin, mapping->end, mapping->offset, 0, 0, std::string(mapping->path)};
        struct stat named {};  // the kernel's own numbers are others on some file systems
        const bool has_name = find_file(file.path, named);
        if (const auto alignment = has_name ? mappable_alignment(named) : std::nullopt) {
            file.alignment = *alignment;
            file.device = named.st_dev;
            file.inode = named.st_ino;
            found.push_back(std::move(file));
        }
    }
    return found;
}

std::optional<std::uint64_t> mappable_alignment(const struct stat& file, const char* sysfs) {
    if (S_ISCHR(file.st_mode)) {
        return dax_alignment(file.st_rdev, sysfs);
    }
    return S_ISREG(file.st_mode) ? std::optional<std::uint64_t>(1) : std::nullopt;
}

// A mapping of device DAX begins and ends at multiples of the alignment.
Extent widened(const FileMapping& mapping, std::uintptr_t begin, std::uintptr_t end) {
    const std::uintptr_t rest = mapping.alignment - 1;
    return {std::max(begin & ~rest, mapping.begin), std::min((end + rest) & ~rest, mapping.end)};
}

View open_view(const FileMapping& file, std::uint64_t offset, std::uint64_t length) {
    View view;
    const int fd = open(file.path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        view.error = errno;
        return view;
    }
    view.length = inside_of_file(fd, offset, length);
    if (view.length != 0) {
        view.error = map_file(fd, offset, view);
    }
    close(fd);
    return view;
}

void close_view(const View& view) {
    if (view.length != 0) {
        munmap(view.memory, view.length);
        munmap(view.image, view.length);
    }
}

}  // namespace fabric::memory::persistence
