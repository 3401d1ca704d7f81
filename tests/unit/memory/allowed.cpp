// SPDX-License-Identifier: BSD-3-Clause
// The account beside a second one, which knows nothing of pieces and lines: a history of each byte,
// from which all contents that a word may have are enumerated (doc/persistence-model.md). Random
// events on three lines, on every platform.
#include <map>

#include "accounts.hpp"

using namespace fabric::test;

namespace {

constexpr std::uint64_t kBytes = 3 * kLine;
constexpr int kRounds = 400;
constexpr int kEvents = 12;
constexpr std::uint64_t kSeeds = 64;

struct Written {
    std::uint64_t operation = 0;  // 0: stored by the CPU
    std::uint32_t connection = 0;
    char value = 0;
    bool visible = false;
    int since = 0;  // when it became so
};

struct Byte {
    char durable = 0;
    std::vector<Written> newer = {};  // oldest first
};

// What each event means, byte by byte.
class Reference {
public:
    explicit Reference(const char* on) : platform_(platform(on)), bytes_(kBytes) {}

    void write(std::uint32_t connection, std::uint64_t operation, std::uint64_t begin,
               std::uint64_t end, char value) {
        const bool own = connection == 0;
        for (std::uint64_t at = begin; at < end; ++at) {
            bytes_[at].newer.push_back({operation, connection, value, own, ++now_});
            if (platform_.domain == Domain::Wsp || (own && platform_.caches_survive())) {
                settle(bytes_[at], bytes_[at].newer.size() - 1);
            }
        }
    }

    // Not over bytes of operations at risk: what of both is seen, the page leaves open.
    bool may_store(std::uint64_t begin, std::uint64_t end) const {
        return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(begin),
                           bytes_.begin() + static_cast<std::ptrdiff_t>(end), [](const Byte& byte) {
                               return byte.newer.empty() || byte.newer.back().operation == 0;
                           });
    }

    void store(std::uint64_t begin, std::uint64_t end, char value) {
        for (std::uint64_t at = begin; at < end; ++at) {
            Byte& byte = bytes_[at];
            if (!byte.newer.empty()) {
                byte.newer.pop_back();  // the device has not seen the older store
            }
            byte.newer.push_back({0, 0, value, true, ++now_});
            if (platform_.caches_survive()) {
                settle(byte, byte.newer.size() - 1);
            }
        }
    }

    // Of a connection: what it wrote, or only what of it lies in a range.
    void push(std::uint32_t connection, std::uint64_t begin, std::uint64_t end, bool durable) {
        for (std::uint64_t at = begin; at < std::min(end, kBytes); ++at) {
            Byte& byte = bytes_[at];
            for (std::size_t i = byte.newer.size(); i-- > 0;) {
                Written& one = byte.newer[i];
                if (one.operation == 0 || one.connection != connection) {
                    continue;
                }
                if (durable) {
                    settle(byte, i);
                    break;
                }
                one.since = one.visible ? one.since : ++now_;
                one.visible = true;
            }
        }
    }

    void forget(std::uint32_t connection) {
        for (Byte& byte : bytes_) {
            for (Written& one : byte.newer) {
                one.connection = one.connection == connection ? ~0U : one.connection;
            }
        }
    }

    // Of each byte the newest that the CPU could see at the time.
    void persist(std::uint64_t begin, std::uint64_t end, int when) {
        for (std::uint64_t at = begin / kLine * kLine; at < (end + kLine - 1) / kLine * kLine;
             ++at) {
            Byte& byte = bytes_[at];
            for (std::size_t i = byte.newer.size(); i-- > 0;) {
                const Written& one = byte.newer[i];
                if (one.operation == 0 || (one.visible && one.since <= when)) {
                    settle(byte, i);
                    break;
                }
            }
        }
    }

    // All contents of an aligned word: any of the operations, and of the CPU's stores, all or none.
    std::set<std::string> allowed(std::uint64_t word) const {
        std::set<std::uint64_t> operations;
        for (std::uint64_t at = word; at < word + kWord; ++at) {
            for (const Written& one : bytes_[at].newer) {
                operations.insert(one.operation);
            }
        }
        const std::vector<std::uint64_t> list(operations.begin(), operations.end());
        std::set<std::string> contents;
        for (std::uint64_t chosen = 0; chosen < 1ULL << list.size(); ++chosen) {
            std::set<std::uint64_t> kept;
            for (std::size_t i = 0; i < list.size(); ++i) {
                if ((chosen >> i & 1U) != 0) {
                    kept.insert(list[i]);
                }
            }
            contents.insert(content(word, kept));
        }
        return contents;
    }

    std::string least(std::uint64_t word) const { return content(word, {}); }
    std::uint64_t at_risk_of(std::uint64_t at) const {
        return bytes_[at].newer.empty() ? 0 : bytes_[at].newer.back().operation;
    }
    int now() const { return now_; }
    const Platform& on() const { return platform_; }

private:
    static void settle(Byte& byte, std::size_t index) {
        byte.durable = byte.newer[index].value;
        byte.newer.erase(byte.newer.begin(),
                         byte.newer.begin() + static_cast<std::ptrdiff_t>(index) + 1);
    }

    std::string content(std::uint64_t word, const std::set<std::uint64_t>& kept) const {
        std::string out;
        for (std::uint64_t at = word; at < word + kWord; ++at) {
            char value = bytes_[at].durable;
            for (const Written& one : bytes_[at].newer) {
                value = kept.count(one.operation) != 0 ? one.value : value;
            }
            out += value;
        }
        return out;
    }

    const Platform platform_;
    std::vector<Byte> bytes_;
    int now_ = 0;
};

// Both accounts, and the same events for both.
class Pair {
public:
    Pair(const char* on, std::uint64_t seed) : account_(on), reference_(on), state_(seed) {}

    void event() {
        const std::uint64_t begin = random(kBytes);
        const std::uint64_t end = std::min(kBytes, begin + 1 + random(90));
        const auto connection = static_cast<std::uint32_t>(1 + random(2));
        switch (random(12)) {
            case 0:
                return read(connection);
            case 1:
                return message(connection);
            case 2:
                return end_of(connection);
            case 3:
                return flush(connection, begin, end);
            case 4:
                return persist(begin, end);
            case 5:
                return flush_lines(begin, end);
            case 6:
                return drain();
            case 7:
                return store(begin, end);
            case 8:
                return compare_in_vain(connection, begin / kWord * kWord);
            case 9:
                return write(0, begin, end, Kind::ReadResult);
            case 10:
                return write(connection, begin / kWord * kWord, begin / kWord * kWord + kWord,
                             Kind::AtomicWrite);
            default:
                return write(connection, begin, end, Kind::Write);
        }
    }

    // What surely survives, what the CPU sees, and whose bytes are not durable.
    void compare() const {
        compare_least();
        for (std::uint64_t word = 0; word < kBytes; word += kWord) {
            const char* const seen = reinterpret_cast<const char*>(account_.memory.data()) + word;
            assert_string(std::string(seen, kWord), survivor(word, 1));
        }
        Area& area = account_.model.area(0);
        for (std::uint64_t at = 0; at < kBytes; ++at) {
            const auto piece = area.first_behind(at);
            const bool there = piece != area.pieces.end() && piece->first <= at;
            assert_int_equal(there ? piece->second.operation->number : 0,
                             reference_.at_risk_of(at));
        }
    }

    // Adds what the seeds leave of each word; nothing of it is forbidden.
    void collect() const {
        for (std::uint64_t word = 0; word < kBytes; word += kWord) {
            const auto allowed = reference_.allowed(word);
            for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
                assert_true(allowed.count(survivor(word, seed)) == 1);
            }
        }
    }

    // Every content that is allowed for a word is left by some seed.
    void all_are_found() const {
        for (std::uint64_t word = 0; word < kBytes; word += kWord) {
            auto missing = reference_.allowed(word);
            for (std::uint64_t seed = 0; seed < 5000 && !missing.empty(); ++seed) {
                missing.erase(survivor(word, seed));
            }
            assert_true(missing.empty());
        }
    }

    bool complete() const { return account_.model.usage().versions_dropped == 0; }

private:
    // Also while something arrives.
    void compare_least() const {
        for (std::uint64_t word = 0; word < kBytes; word += kWord) {
            assert_string(reference_.least(word), survivor(word, 0));
        }
    }

    static void assert_string(const std::string& expected, const std::string& found) {
        assert_memory_equal(expected.data(), found.data(), kWord);
    }

    std::uint64_t random(std::uint64_t below) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state_ >> 33U) % below;
    }

    std::string survivor(std::uint64_t word, std::uint64_t seed) const {
        Survival::Line line{};
        Survival(account_.model, seed).line(0, word / kLine, line, nullptr);
        return {reinterpret_cast<const char*>(line.data()) + word % kLine, kWord};
    }

    void write(std::uint32_t connection, std::uint64_t begin, std::uint64_t end, Kind kind) {
        account_.write(begin, end - begin, ++value_, connection, kind);
        reference_.write(connection, account_.model.last_operation(), begin, end, value_);
    }

    void compare_in_vain(std::uint32_t connection, std::uint64_t word) {
        Operation* const operation = account_.start(word, kWord, connection, Kind::CompareSwap);
        compare_least();
        account_.model.end(operation, false);
    }

    void store(std::uint64_t begin, std::uint64_t end) {
        if (reference_.may_store(begin, end)) {
            account_.store(begin, end - begin, ++value_);
            reference_.store(begin, end, value_);
        }
    }

    void read(std::uint32_t connection) {
        account_.model.read(connection);
        reference_.push(connection, 0, kBytes, reference_.on().read_persists());
    }

    void message(std::uint32_t connection) {
        account_.model.message(connection);
        reference_.push(connection, 0, kBytes, reference_.on().caches_survive());
    }

    void end_of(std::uint32_t connection) {
        account_.model.connection_ends(connection);
        reference_.push(connection, 0, kBytes, reference_.on().caches_survive());
        reference_.forget(connection);
    }

    void flush(std::uint32_t connection, std::uint64_t begin, std::uint64_t end) {
        const bool persistent = random(2) == 0;
        account_.model.flush(connection, {0, begin, end}, persistent);
        reference_.push(connection, begin, end, persistent || reference_.on().caches_survive());
    }

    void persist(std::uint64_t begin, std::uint64_t end) {
        account_.persist(begin, end - begin);
        reference_.persist(begin, end, reference_.now());
    }

    void flush_lines(std::uint64_t begin, std::uint64_t end) {
        account_.model.mark_flushed({0, begin, end});
        flushed_.push_back({{0, begin, end}, account_.model.moment(), reference_.now()});
    }

    void drain() {
        for (const Flushed& one : flushed_) {
            account_.model.persist(one.range, one.moment);
            reference_.persist(one.range.begin, one.range.end, one.now);
        }
        flushed_.clear();
    }

    struct Flushed {
        Range range;
        std::uint64_t moment;
        int now;
    };

    mutable Account account_;
    Reference reference_;
    std::uint64_t state_;
    std::vector<Flushed> flushed_;
    char value_ = 0;
};

void on_platform(void** state) {
    const char* const on = static_cast<const char*>(*state);
    for (int round = 0; round < kRounds; ++round) {
        Pair pair(on, static_cast<std::uint64_t>(round) + 1);
        for (int i = 0; i < kEvents && pair.complete(); ++i) {
            pair.event();
            if (pair.complete()) {
                pair.compare();
            }
        }
        if (pair.complete()) {
            pair.collect();
        }
        if (round % 10 == 0 && pair.complete()) {
            pair.all_are_found();
        }
    }
}

}  // namespace

int main() {
    static std::array platforms = {"adr,ddio=on",   "adr,ddio=off", "eadr,ddio=on",
                                   "eadr,ddio=off", "wsp,ddio=on",  "wsp,ddio=off"};
    std::vector<CMUnitTest> tests;
    tests.reserve(platforms.size());
    for (const char*& on : platforms) {
        tests.push_back({on, on_platform, nullptr, nullptr, const_cast<char*>(on)});
    }
    return _cmocka_run_group_tests("allowed", tests.data(), tests.size(), nullptr, nullptr);
}
