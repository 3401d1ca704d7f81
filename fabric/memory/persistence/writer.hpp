// SPDX-License-Identifier: BSD-3-Clause
// Text into a descriptor, without allocating.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace fabric::memory::persistence {

class Writer {
public:
    explicit Writer(int fd) : fd_(fd) {}
    ~Writer() { flush(); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void add(std::string_view text) {
        for (const char one : text) {
            put(one);
        }
    }

    // One piece at most as long as the buffer.
    [[gnu::format(printf, 2, 3)]] void print(const char* format, ...) {
        std::array<char, 512> piece{};
        va_list arguments;
        va_start(arguments, format);
        const int size = std::vsnprintf(piece.data(), piece.size(), format, arguments);
        va_end(arguments);
        if (size > 0) {
            add(std::string_view(piece.data()).substr(0, static_cast<std::size_t>(size)));
        }
    }

    // As a string of JSON, with its quotes. Names of files need not be UTF-8.
    void quote(std::string_view text) {
        put('"');
        while (!text.empty()) {
            const std::size_t length = utf8_length(text);
            const char one = text.front();
            if (length == 0) {
                add("\\ufffd");
            } else if (one == '"' || one == '\\') {
                put('\\');
                put(one);
            } else if (static_cast<unsigned char>(one) < 0x20) {
                print("\\u%04x", static_cast<unsigned>(one));
            } else {
                add(text.substr(0, length));
            }
            text.remove_prefix(length == 0 ? 1 : length);
        }
        put('"');
    }

    void flush() {
        std::size_t done = 0;
        while (done < used_) {
            const ssize_t written = ::write(fd_, buffer_.data() + done, used_ - done);
            if (written < 0 && errno == EINTR) {
                continue;
            }
            if (written <= 0) {
                error_ = error_ != 0 || written == 0 ? error_ : errno;
                break;
            }
            done += static_cast<std::size_t>(written);
        }
        used_ = 0;
    }

    // errno of the first write that failed; 0: none has.
    int error() const { return error_; }

private:
    // Of the character at the beginning; 0 if it is none.
    static std::size_t utf8_length(std::string_view text) {
        const auto byte = [text](std::size_t at) {
            return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
        };
        const unsigned first = byte(0);
        const std::size_t length = first < 0x80   ? 1
                                   : first < 0xc2 ? 0
                                   : first < 0xe0 ? 2
                                   : first < 0xf0 ? 3
                                   : first < 0xf5 ? 4
                                                  : 0;
        for (std::size_t at = 1; at < length; ++at) {
            if ((byte(at) & 0xc0U) != 0x80) {
                return 0;
            }
        }
        const bool overlong =
            (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
        const bool beyond =
            (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
        return overlong || beyond ? 0 : length;
    }

    void put(char one) {
        if (used_ == buffer_.size()) {
            flush();
        }
        buffer_[used_++] = one;
    }

    int fd_;
    int error_ = 0;
    std::size_t used_ = 0;
    std::array<char, 4096> buffer_{};
};

}  // namespace fabric::memory::persistence
