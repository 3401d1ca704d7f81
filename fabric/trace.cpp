// SPDX-License-Identifier: BSD-3-Clause
#include "trace.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "config.hpp"
#include "log.hpp"
#include "uncancellable.hpp"

namespace fabric::trace {

std::atomic<signed char> detail::state{-1};

namespace {

// A line under construction; what does not fit is cut.
class Line {
public:
    Line(std::uint64_t link, char direction) {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        add("%" PRId64 ".%06ld %d %" PRIu64 " %c ", static_cast<std::int64_t>(now.tv_sec),
            now.tv_nsec / 1000, getpid(), link, direction);
    }

    [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
        va_list arguments;
        va_start(arguments, format);
        const int size = std::vsnprintf(text_.data() + used_, room(), format, arguments);
        va_end(arguments);
        used_ += std::min(static_cast<std::size_t>(std::max(size, 0)), room() - 1);
    }

    void write_to(int fd) {
        const Uncancellable guarded;
        text_[used_] = '\n';
        const int saved = errno;
        while (write(fd, text_.data(), used_ + 1) < 0 && errno == EINTR) {
        }
        errno = saved;
    }

private:
    std::size_t room() const { return text_.size() - 1 - used_; }

    std::array<char, 320> text_{};
    std::size_t used_ = 0;
};

int open_trace() {
    const char* name = config().trace_file.c_str();
    if (*name == '\0')
        return -1;
    const int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0)
        log(LogLevel::Error, "cannot open the trace file %s: %s; nothing is traced", name,
            std::strerror(errno));
    return fd;
}

int descriptor() {
    static const int fd = open_trace();
    return fd;
}

const char* syndrome_text(std::uint8_t syndrome) {
    constexpr std::array<const char*, 4> kNaks = {"NAK psn_sequence_error", "NAK invalid_request",
                                                  "NAK remote_access_error",
                                                  "NAK remote_operational_error"};
    switch (syndrome >> 5) {
        case 0:
            return "ACK";
        case 1:
            return "RNR_NAK";
        case 3:
            return (syndrome & 31) < kNaks.size() ? kNaks[syndrome & 31] : "NAK ?";
        default:
            return "?";
    }
}

bool has_reth(wire::Opcode opcode) {
    using enum wire::Opcode;
    return opcode == WriteFirst || opcode == WriteOnly || opcode == WriteOnlyImm ||
           opcode == ReadRequest || opcode == Flush || opcode == wire::Opcode::AtomicWrite;
}

bool has_aeth(wire::Opcode opcode) {
    using enum wire::Opcode;
    return opcode == ReadResponseFirst || opcode == ReadResponseLast ||
           opcode == ReadResponseOnly || opcode == Acknowledge || opcode == AtomicAcknowledge;
}

bool has_immediate(wire::Opcode opcode) {
    using enum wire::Opcode;
    return opcode == SendLastImm || opcode == SendOnlyImm || opcode == WriteLastImm ||
           opcode == WriteOnlyImm;
}

void add_details(Line& line, const wire::Header& header) {
    const wire::Opcode opcode = header.opcode;
    if (has_reth(opcode))
        line.add(" va=0x%" PRIx64 " rkey=0x%x len=%u", header.remote_address, header.rkey,
                 header.dma_length);
    if (opcode == wire::Opcode::CompareSwap || opcode == wire::Opcode::FetchAdd)
        line.add(" va=0x%" PRIx64 " rkey=0x%x", header.remote_address, header.rkey);
    if (opcode == wire::Opcode::Flush)
        line.add(" type=%u level=%u", header.flush_type, header.flush_level);
    if (has_aeth(opcode))
        line.add(" %s msn=%u", syndrome_text(header.syndrome), header.msn);
    if (has_immediate(opcode))
        line.add(" imm=0x%08x", __builtin_bswap32(header.immediate));
    if (header.solicited)
        line.add(" solicited");
    if (header.ack_request)
        line.add(" ack_req");
}

}  // namespace

bool detail::decide() {
    const bool on = descriptor() >= 0;
    state.store(on ? 1 : 0, std::memory_order_relaxed);
    return on;
}

void packet(std::uint64_t link, Direction direction, const wire::Header& header,
            std::size_t payload_bytes) {
    Line line(link, static_cast<char>(direction));
    line.add("%s qp=%u psn=%u bytes=%zu", opcode_name(header.opcode), header.destination_qp,
             header.psn, payload_bytes);
    add_details(line, header);
    line.write_to(descriptor());
}

void event(LogLevel level, std::uint64_t link, const char* format, ...) {
    std::array<char, 256> text{};
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    if (enabled()) {
        Line line(link, '!');
        line.add("%s", text.data());
        line.write_to(descriptor());
    }
    if (link == 0)
        log(level, "%s", text.data());
    else
        log(level, "link %" PRIu64 ": %s", link, text.data());
}

const char* opcode_name(wire::Opcode opcode) {
    constexpr std::array<const char*, 0x1e> kNames = {"SEND_FIRST",
                                                      "SEND_MIDDLE",
                                                      "SEND_LAST",
                                                      "SEND_LAST_IMM",
                                                      "SEND_ONLY",
                                                      "SEND_ONLY_IMM",
                                                      "WRITE_FIRST",
                                                      "WRITE_MIDDLE",
                                                      "WRITE_LAST",
                                                      "WRITE_LAST_IMM",
                                                      "WRITE_ONLY",
                                                      "WRITE_ONLY_IMM",
                                                      "READ_REQUEST",
                                                      "READ_RESP_FIRST",
                                                      "READ_RESP_MIDDLE",
                                                      "READ_RESP_LAST",
                                                      "READ_RESP_ONLY",
                                                      "ACKNOWLEDGE",
                                                      "ATOMIC_ACK",
                                                      "COMPARE_SWAP",
                                                      "FETCH_ADD",
                                                      "?",
                                                      "SEND_LAST_INV",
                                                      "SEND_ONLY_INV",
                                                      "?",
                                                      "?",
                                                      "?",
                                                      "?",
                                                      "FLUSH",
                                                      "ATOMIC_WRITE"};
    if (opcode == wire::Opcode::UdSendOnly)
        return "UD_SEND_ONLY";
    const auto index = static_cast<std::size_t>(opcode);
    return index < kNames.size() ? kNames[index] : "?";
}

}  // namespace fabric::trace
