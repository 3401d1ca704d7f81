// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/self/maps line by line without allocating.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fabric::memory {

struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool readable = false;
    bool writable = false;
    bool shared_file = false;
    std::uint64_t offset = 0;    // of begin in the file
    std::string_view path = {};  // valid until the next line is read
};

// "begin-end rwxp offset device inode path"; nothing if the line does not look like that.
std::optional<Mapping> parse_mapping(std::string_view line);

class MapsReader {
public:
    MapsReader();
    ~MapsReader();
    MapsReader(const MapsReader&) = delete;
    MapsReader& operator=(const MapsReader&) = delete;

    bool opened() const { return fd_ >= 0; }
    std::optional<Mapping> next();  // in ascending order; nothing at the end

private:
    bool fill();
    std::optional<std::string_view> line();

    int fd_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    // A line holds a path of up to PATH_MAX bytes, each of which may be written as four characters.
    std::array<char, 32768> buffer_;
};

}  // namespace fabric::memory
