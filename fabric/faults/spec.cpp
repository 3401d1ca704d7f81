// SPDX-License-Identifier: BSD-3-Clause
#include "faults/spec.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace fabric::faults {
namespace {

constexpr std::array<std::string_view, kKinds> kNames = {
    "drop",   "delay",     "cut-write", "nak",       "rnr",       "unreachable",
    "reject", "refuse-mr", "refuse-qp", "refuse-cq", "refuse-srq"};

constexpr int kLastErrno = 133;

std::optional<Kind> kind_of(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name)
            return static_cast<Kind>(i);
    return std::nullopt;
}

// The whole text as a decimal number.
std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

// "12" and "0.125" as parts of kAll, which is 100.
std::optional<std::uint32_t> share(std::string_view text) {
    constexpr std::size_t kDecimals = 3;
    const auto dot = text.find('.');
    const auto whole = number(text.substr(0, dot));
    if (!whole || *whole > 100)
        return std::nullopt;
    std::uint64_t parts = *whole * (kAll / 100);
    if (dot != std::string_view::npos) {
        const std::string_view digits = text.substr(dot + 1);
        const auto decimals = number(digits);
        if (!decimals || digits.size() > kDecimals)
            return std::nullopt;
        std::uint64_t fraction = *decimals;
        for (std::size_t i = digits.size(); i < kDecimals; ++i)
            fraction *= 10;
        parts += fraction;
    }
    if (parts == 0 || parts > kAll)
        return std::nullopt;
    return static_cast<std::uint32_t>(parts);
}

bool parse_when(std::string_view text, Kind kind, When& out) {
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
        out.connection = number(text.substr(0, slash)).value_or(0);
        if (out.connection == 0 || !is_of_connection(kind))
            return false;
        text.remove_prefix(slash + 1);
    }
    if (text.ends_with('%')) {
        const auto parts = share(text.substr(0, text.size() - 1));
        out.share = parts.value_or(0);
        return parts.has_value();
    }
    out.onwards = text.ends_with('+');
    const auto first = number(text.substr(0, text.size() - (out.onwards ? 1 : 0)));
    out.first = first.value_or(0);
    return out.first != 0;
}

bool parse_delay(std::string_view text, Fault& out) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> kUnits = {
        {{"us", 1}, {"ms", 1'000}, {"s", 1'000'000}}};
    constexpr std::uint64_t kMost = std::chrono::microseconds(kMaxDelay).count();
    for (const auto& [unit, factor] : kUnits) {
        if (!text.ends_with(unit))
            continue;
        const auto value = number(text.substr(0, text.size() - unit.size()));
        if (!value)
            continue;
        if (*value == 0 || *value > kMost / factor)
            return false;
        out.delay = std::chrono::microseconds(*value * factor);
        return true;
    }
    return false;
}

bool parse_answer(std::string_view text, Fault& out) {
    constexpr std::array<std::string_view, 3> kAnswers = {"operation", "access", "invalid"};
    for (std::size_t i = 0; i < kAnswers.size(); ++i) {
        if (kAnswers[i] == text) {
            out.answer = static_cast<Answer>(i);
            return true;
        }
    }
    return false;
}

bool parse_errno(std::string_view text, Fault& out) {
    for (int error = 1; error <= kLastErrno; ++error) {
        const char* const name = strerrorname_np(error);
        if (name != nullptr && text == name) {
            out.error = error;
            return true;
        }
    }
    return false;
}

bool refuses(Kind kind) {
    return kind >= Kind::RefuseMr;
}

// What is wrong with the value, or nullptr.
const char* take_value(std::optional<std::string_view> text, Fault& out) {
    if (out.kind == Kind::Delay)
        return text && parse_delay(*text, out)
                   ? nullptr
                   : "needs a time up to 60s, for example delay=5ms@10%";
    if (refuses(out.kind))
        out.error = ENOMEM;
    if (!text)
        return nullptr;
    if (out.kind == Kind::Nak)
        return parse_answer(*text, out) ? nullptr : "the value is operation, access or invalid";
    if (refuses(out.kind))
        return parse_errno(*text, out) ? nullptr : "the value is the name of an errno, as ENOMEM";
    return "takes no value";
}

// What is wrong with one fault, or nothing.
std::string parse_fault(std::string_view text, Fault& out) {
    const auto at = text.find('@');
    const std::string_view what = text.substr(0, at);
    const auto equals = what.find('=');
    const auto kind = kind_of(what.substr(0, equals));
    if (!kind) {
        std::string known = "is none of";
        for (const std::string_view name : kNames)
            known.append(name == kNames.front() ? " " : ", ").append(name);
        return known;
    }
    out.kind = *kind;
    if (at == std::string_view::npos)
        return "says not when: it needs @N, @N+ or @P%";
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos)
        value = what.substr(equals + 1);
    if (const char* const wrong = take_value(value, out); wrong != nullptr)
        return wrong;
    if (!parse_when(text.substr(at + 1), out.kind, out.when))
        return is_of_connection(out.kind)
                   ? "when is N (the N-th, from 1), N+ (and all after it) or P% (above 0, at most "
                     "100, three decimals), and before it C/ for the C-th connection only"
                   : "when is N (the N-th, from 1), N+ (and all after it) or P% (above 0, at most "
                     "100, three decimals)";
    return {};
}

Spec wrong(std::string_view fault, const std::string& why) {
    Spec out;
    out.complaint.append("'").append(fault).append("' ").append(why);
    return out;
}

}  // namespace

Spec parse_spec(std::string_view text) {
    Spec out;
    for (;;) {
        const auto comma = text.find(',');
        const std::string_view one = text.substr(0, comma);
        Fault fault;
        if (const std::string why = parse_fault(one, fault); !why.empty())
            return wrong(one, why);
        if (out.faults.size() == kMaxFaults)
            return wrong(one, "is one too many: there may be 32");
        out.faults.push_back(fault);
        if (comma == std::string_view::npos)
            return out;
        text.remove_prefix(comma + 1);
    }
}

std::optional<std::uint64_t> parse_seed(std::string_view text) {
    return number(text);
}

const char* name_of(Kind kind) {
    return kNames[static_cast<std::size_t>(kind)].data();
}

}  // namespace fabric::faults
