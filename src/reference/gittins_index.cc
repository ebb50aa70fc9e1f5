// SPDX-License-Identifier: Apache-2.0
#include "reference/gittins_index.h"

#include <algorithm>
#include <limits>

namespace berth::reference {
namespace {

constexpr std::int64_t kGridTo = 1'000'000'000'000'000;  // in GPU-ms: 30,000 GPU-years
// Behind every cost that a size can give.
constexpr std::int64_t kUnknown = 1'000'000'000'000'000'000;

}  // namespace

GittinsIndex::GittinsIndex(std::int64_t first_step) {
    grid_.push_back(0);
    for (std::int64_t at = first_step; at < kGridTo; at += at / 4) grid_.push_back(at);
    costs_ = grid_;
}

std::size_t GittinsIndex::step(std::int64_t used) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(grid_, used) - grid_.begin()) - 1;
}

std::int64_t GittinsIndex::next_step(std::int64_t used) const {
    const std::size_t next = step(used) + 1;
    return next < grid_.size() ? grid_[next] : std::numeric_limits<std::int64_t>::max();
}

void GittinsIndex::learn(std::vector<std::int64_t> sizes) {
    std::ranges::sort(sizes);
    std::vector<std::int64_t> sum{0};  // of the first n sizes
    for (const std::int64_t size : sizes) sum.push_back(sum.back() + size);
    const std::size_t count = sizes.size();
    for (std::size_t at = 0; at < grid_.size(); ++at) {
        const std::int64_t used = grid_[at];
        const auto first =
            static_cast<std::size_t>(std::ranges::upper_bound(sizes, used) - sizes.begin());
        std::int64_t least = kUnknown + used;
        for (std::size_t last = first; last < count; ++last) {
            const auto ended = static_cast<std::int64_t>(last + 1 - first);
            const auto longer = static_cast<std::int64_t>(count - 1 - last);
            const std::int64_t spent =
                sum[last + 1] - sum[first] - ended * used + longer * (sizes[last] - used);
            least = std::min(least, spent / ended);
        }
        costs_[at] = least;
    }
}

}  // namespace berth::reference
