// SPDX-License-Identifier: Apache-2.0
#include "ordering/gittins.h"

#include <algorithm>

namespace berth::ordering {
namespace {

constexpr GpuMs kGridFrom = 60'000;
constexpr GpuMs kGridTo = 1'000'000'000'000'000;  // 30,000 GPU-years
// Behind every cost that a size can give.
constexpr GpuMs kUnknown = 1'000'000'000'000'000'000;

}  // namespace

Gittins::Gittins(std::vector<GpuMs> sizes, Learning learning, std::int64_t stickiness_percent)
    : sizes_(std::move(sizes)), learning_(learning), stickiness_percent_(stickiness_percent) {
    grid_.push_back(0);
    for (GpuMs at = kGridFrom; at < kGridTo; at += at / 4) grid_.push_back(at);
    costs_ = grid_;
    if (!sizes_.empty()) take_in();
}

GpuMs Gittins::cost(GpuMs attained) const { return costs_[step(attained)]; }

std::size_t Gittins::step(GpuMs attained) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(grid_, attained) - grid_.begin()) - 1;
}

Rank Gittins::rank(const Standing& job) const {
    const GpuMs whole = cost(job.attained());
    const GpuMs counted = job.runs ? whole / 100 * stickiness_percent_ : whole;
    return {.key = counted, .tie = job.runs ? 0 : 1};
}

TimePoint Gittins::next_change(const Standing& job) const {
    const std::size_t next = step(job.attained()) + 1;
    if (!job.runs || next == grid_.size()) return kNever;
    const GpuMs missing = grid_[next] - job.attained();
    return job.now + Duration{(missing + job.gpus - 1) / job.gpus};
}

void Gittins::notice(Happening happening, const Standing& job) {
    if (learning_ == Learning::Off || happening != Happening::Finished) return;
    sizes_.push_back(job.attained());
    if (sizes_.size() < next_fit_) return;
    next_fit_ = sizes_.size() + sizes_.size() / 10;
    take_in();
}

Moved Gittins::moved() {
    Moved moved{.all = was_fitted_, .jobs = {}};
    was_fitted_ = false;
    return moved;
}

void Gittins::take_in() {
    std::ranges::sort(sizes_);
    std::vector<GpuMs> sum{0};  // of the first n sizes
    for (const GpuMs size : sizes_) sum.push_back(sum.back() + size);
    const std::size_t count = sizes_.size();
    for (std::size_t at = 0; at < grid_.size(); ++at) {
        const GpuMs used = grid_[at];
        const auto first =
            static_cast<std::size_t>(std::ranges::upper_bound(sizes_, used) - sizes_.begin());
        GpuMs least = kUnknown + used;
        for (std::size_t last = first; last < count; ++last) {
            const auto ended = static_cast<std::int64_t>(last + 1 - first);
            const auto longer = static_cast<std::int64_t>(count - 1 - last);
            const GpuMs spent =
                sum[last + 1] - sum[first] - ended * used + longer * (sizes_[last] - used);
            least = std::min(least, spent / ended);
        }
        costs_[at] = least;
    }
    was_fitted_ = true;
}

}  // namespace berth::ordering
