// SPDX-License-Identifier: BSD-3-Clause
#include "config.hpp"

#include <bit>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "memory/persistence/settings.hpp"

namespace fabric {
namespace {

#ifdef RPMA_HAVE_NATIVE_FLUSH
constexpr bool kHeadersKnowFlush = true;
#else
constexpr bool kHeadersKnowFlush = false;
#endif
#ifdef RPMA_HAVE_NATIVE_ATOMIC_WRITE
constexpr bool kHeadersKnowAtomicWrite = true;
#else
constexpr bool kHeadersKnowAtomicWrite = false;
#endif

std::optional<LogLevel> level_of(std::string_view name) {
    if (name == "error")
        return LogLevel::Error;
    if (name == "warning")
        return LogLevel::Warning;
    if (name == "info")
        return LogLevel::Info;
    if (name == "debug")
        return LogLevel::Debug;
    return std::nullopt;
}

void parse_log(std::string_view text, Config& out) {
    const auto colon = text.find(':');
    const auto level = level_of(text.substr(0, colon));
    if (!level) {
        out.complaint = "RPMA_FABRIC_LOG: the level must be error, warning, info or debug";
        return;
    }
    out.log_level = *level;
    if (colon != std::string_view::npos)
        out.log_file = text.substr(colon + 1);
}

void parse_native(std::string_view text, Config& out) {
    bool flush = false;
    bool atomic_write = false;
    while (!text.empty() && text != "none") {
        const auto comma = text.find(',');
        const auto name = text.substr(0, comma);
        if (name != "flush" && name != "atomic_write") {
            out.complaint = "RPMA_FABRIC_NATIVE: must be none or a list of flush, atomic_write";
            return;
        }
        (name == "flush" ? flush : atomic_write) = true;
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    if ((flush && !kHeadersKnowFlush) || (atomic_write && !kHeadersKnowAtomicWrite))
        out.complaint =
            "RPMA_FABRIC_NATIVE: asks for an operation that the rdma-core this was built with does "
            "not know";
    out.native_flush = flush && kHeadersKnowFlush;
    out.native_atomic_write = atomic_write && kHeadersKnowAtomicWrite;
}

void parse_mtu(const char* text, Config& out) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text, &end, 10);
    if (end == text || *end != '\0' || value < kMinStreamMtu || value > kMaxStreamMtu ||
        !std::has_single_bit(value)) {
        out.complaint = "RPMA_FABRIC_MTU: must be a power of two from 256 to 4194304";
        return;
    }
    out.stream_mtu = static_cast<std::uint32_t>(value);
}

}  // namespace

Config parse_config(const char* trace, const char* log, const char* native, const char* mtu) {
    Config out;
    out.native_flush = kHeadersKnowFlush;
    out.native_atomic_write = kHeadersKnowAtomicWrite;
    out.stream_mtu = kDefaultStreamMtu;
    if (trace != nullptr)
        out.trace_file = trace;
    if (log != nullptr)
        parse_log(log, out);
    if (native != nullptr)
        parse_native(native, out);
    if (mtu != nullptr)
        parse_mtu(mtu, out);
    return out;
}

namespace {

Config from_environment() {
    Config out = parse_config(std::getenv("RPMA_FABRIC_TRACE"), std::getenv("RPMA_FABRIC_LOG"),
                              std::getenv("RPMA_FABRIC_NATIVE"), std::getenv("RPMA_FABRIC_MTU"));
    const auto& platform = memory::persistence::settings().platform;
    if (platform && !platform->native_flush)
        out.native_flush = false;
    return out;
}

}  // namespace

const Config& config() {
    // Never destroyed: threads may still ask for it while the process ends.
    static const Config* const instance = new Config(from_environment());
    return *instance;
}

}  // namespace fabric
