// SPDX-License-Identifier: BSD-3-Clause
// Latencies in a log-linear histogram: nanoseconds up to 255 exactly, above them 128 buckets for
// each doubling, so that a value is told from its bucket to within 0.4 %.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perf {

class Histogram {
public:
    struct Bucket {
        std::uint64_t value;  // the middle of the bucket
        std::uint64_t count;
    };

    Histogram() : counts_(kBuckets) {}

    void record(std::uint64_t value, std::uint64_t times = 1) {
        counts_[index_of(value)] += times;
        count_ += times;
        sum_ += static_cast<double>(value) * static_cast<double>(times);
        min_ = value < min_ ? value : min_;
        max_ = value > max_ ? value : max_;
    }
    void clear();
    void merge(const Histogram& other);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
    [[nodiscard]] std::uint64_t max() const { return max_; }
    [[nodiscard]] double mean() const {
        return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
    }
    // The smallest value that at least `percent` % of the values do not exceed. 0 if empty.
    [[nodiscard]] std::uint64_t percentile(double percent) const;
    // Those that are not empty, in ascending order.
    [[nodiscard]] std::vector<Bucket> buckets() const;

private:
    static constexpr unsigned kSubBits = 7;
    static constexpr std::size_t kSub = std::size_t{1} << kSubBits;  // buckets of a doubling
    static constexpr std::size_t kExact = 2 * kSub;                  // values with a bucket each
    static constexpr std::size_t kBuckets = kExact + (64 - kSubBits - 1) * kSub;

    static std::size_t index_of(std::uint64_t value) {
        if (value < kExact) {
            return value;
        }
        const auto shift = static_cast<unsigned>(std::bit_width(value)) - kSubBits - 1;
        return kExact + (shift - 1) * kSub + ((value >> shift) - kSub);
    }
    static std::uint64_t middle_of(std::size_t index);

    std::vector<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    double sum_ = 0;
    std::uint64_t min_ = ~std::uint64_t{0};
    std::uint64_t max_ = 0;
};

}  // namespace perf
