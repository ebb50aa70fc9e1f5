// SPDX-License-Identifier: Apache-2.0
#include "ordering/gittins.h"

namespace berth::ordering {

Gittins::Gittins(std::vector<GpuMs> sizes, Learning learning, std::int64_t stickiness_percent)
    : sizes_(std::move(sizes)), learning_(learning), stickiness_percent_(stickiness_percent) {
    if (!sizes_.empty()) index_.learn(sizes_);
}

Rank Gittins::rank(const Standing& job) const {
    const GpuMs whole = cost(job.attained());
    const GpuMs counted = job.runs ? whole / 100 * stickiness_percent_ : whole;
    return {.key = counted, .tie = job.runs ? 0 : 1};
}

TimePoint Gittins::next_change(const Standing& job) const {
    return job.runs ? job.when_attained(index_.next_step(job.attained())) : kNever;
}

void Gittins::notice(Happening happening, const Standing& job) {
    if (learning_ == Learning::Off || happening != Happening::Finished) return;
    sizes_.push_back(job.attained());
    if (sizes_.size() < next_learning_) return;
    next_learning_ = sizes_.size() + sizes_.size() / 10;
    index_.learn(sizes_);
    has_learned_ = true;
}

Moved Gittins::moved() {
    Moved moved{.all = has_learned_, .jobs = {}};
    has_learned_ = false;
    return moved;
}

}  // namespace berth::ordering
