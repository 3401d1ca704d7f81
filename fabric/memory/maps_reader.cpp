// SPDX-License-Identifier: BSD-3-Clause
#include "memory/maps_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace fabric::memory {

namespace {

// Cuts off the next word.
std::string_view next_word(std::string_view& line) {
    const std::size_t length = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, length);
    line.remove_prefix(std::min(length + 1, line.size()));
    return word;
}

bool parse_range(std::string_view word, Mapping& mapping) {
    const char* const end = word.data() + word.size();
    const auto first = std::from_chars(word.data(), end, mapping.begin, 16);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') {
        return false;
    }
    const auto second = std::from_chars(first.ptr + 1, end, mapping.end, 16);
    return second.ec == std::errc{} && second.ptr == end;
}

}  // namespace

std::optional<Mapping> parse_mapping(std::string_view line) {
    Mapping mapping;
    const bool has_range = parse_range(next_word(line), mapping);
    const std::string_view rights = next_word(line);
    if (!has_range || rights.size() != 4) {
        return std::nullopt;
    }
    const std::string_view offset = next_word(line);
    std::from_chars(offset.data(), offset.data() + offset.size(), mapping.offset, 16);
    next_word(line);  // device
    mapping.readable = rights[0] == 'r';
    mapping.writable = rights[1] == 'w';
    const bool has_inode = next_word(line) != "0";
    mapping.shared_file = rights[3] == 's' && has_inode;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    mapping.path = line;
    return mapping;
}

MapsReader::MapsReader() : fd_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

MapsReader::~MapsReader() {
    if (opened()) {
        ::close(fd_);
    }
}

// Moves the unread rest to the front and reads more behind it.
bool MapsReader::fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    ssize_t got = -1;
    do {
        got = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
        end_ += static_cast<std::size_t>(got);
    }
    return got > 0;
}

std::optional<std::string_view> MapsReader::line() {
    for (;;) {
        const std::string_view unread(buffer_.data() + begin_, end_ - begin_);
        const std::size_t length = unread.find('\n');
        if (length != std::string_view::npos) {
            begin_ += length + 1;
            return unread.substr(0, length);
        }
        if (!fill()) {
            return std::nullopt;
        }
    }
}

std::optional<Mapping> MapsReader::next() {
    const auto text = opened() ? line() : std::nullopt;
    return text ? parse_mapping(*text) : std::nullopt;
}

}  // namespace fabric::memory
