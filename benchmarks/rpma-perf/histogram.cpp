// SPDX-License-Identifier: BSD-3-Clause
#include "histogram.hpp"

#include <algorithm>
#include <cmath>

namespace perf {

std::uint64_t Histogram::middle_of(std::size_t index) {
    if (index < kExact) {
        return index;
    }
    const std::size_t doubling = (index - kExact) / kSub + 1;
    const std::uint64_t low = (kSub + (index - kExact) % kSub) << doubling;
    return low + (std::uint64_t{1} << (doubling - 1));
}

void Histogram::clear() {
    *this = Histogram();
}

void Histogram::merge(const Histogram& other) {
    std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                   std::plus<>());
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

std::uint64_t Histogram::percentile(double percent) const {
    const double wanted = std::ceil(percent / 100 * static_cast<double>(count_));
    const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); i++) {
        seen += counts_[i];
        if (seen >= rank) {
            return std::clamp(middle_of(i), min_, max_);
        }
    }
    return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
    std::vector<Bucket> out;
    for (std::size_t i = 0; i < counts_.size(); i++) {
        if (counts_[i] != 0) {
            out.push_back({middle_of(i), counts_[i]});
        }
    }
    return out;
}

}  // namespace perf
