// SPDX-License-Identifier: Apache-2.0
#include "ordering/predicted.h"

#include <algorithm>
#include <utility>

namespace berth::ordering {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kWhole = 1024;  // the part of a size that equals its guess
constexpr std::int64_t kFirstPart = 16;
constexpr GpuMs kMost = 4'000'000'000'000'000'000;

// amount x numerator / denominator, at most kMost.
GpuMs scaled(GpuMs amount, GpuMs numerator, GpuMs denominator) {
    const Wide exact = static_cast<Wide>(amount) * numerator / denominator;
    return static_cast<GpuMs>(std::min<Wide>(exact, kMost));
}

}  // namespace

Predicted::Predicted(std::int64_t stickiness_percent)
    : stickiness_percent_(stickiness_percent),
      parts_{Knowledge{GittinsIndex(kFirstPart)}, Knowledge{GittinsIndex(kFirstPart)},
             Knowledge{GittinsIndex(kFirstPart)}, Knowledge{GittinsIndex(kFirstPart)}} {}

bool Predicted::Knowledge::add(std::int64_t size) {
    sizes.push_back(size);
    if (sizes.size() < next_learning) return false;
    next_learning = sizes.size() + sizes.size() / 10;
    index.learn(sizes);
    return is_learned = true;
}

Predicted::View Predicted::view(Ticket job) const {
    if (const auto& guess = belief(job).guess) {
        const Knowledge& parts = parts_[guess->nearness];
        if (parts.is_learned) return {&parts.index, guess->size};
    }
    return {&blind_.index, kWhole};
}

GpuMs Predicted::cost(const Standing& job) const {
    const GpuMs bound = belief(job.job).bound;
    if (bound > job.attained()) return bound - job.attained() + blind_.index.cost(bound);
    const View own = view(job.job);
    const GpuMs part = scaled(job.attained(), kWhole, own.unit);
    return scaled(own.index->cost(part), own.unit, kWhole);
}

Rank Predicted::rank(const Standing& job) const {
    const std::int64_t waits = job.runs ? 0 : 1;
    if (job.attained() < kFirstLook) return {.level = 0, .key = waits, .tie = job.gpus};
    const GpuMs whole = cost(job);
    return {.level = 1, .key = job.runs ? whole / 100 * stickiness_percent_ : whole, .tie = waits};
}

TimePoint Predicted::next_change(const Standing& job) const {
    if (!job.runs) return kNever;
    if (job.attained() < kFirstLook) return job.when_attained(kFirstLook);
    const View own = view(job.job);
    const GpuMs step = own.index->next_step(scaled(job.attained(), kWhole, own.unit));
    return job.when_attained(std::max(scaled(step, own.unit, kWhole), job.attained()) + 1);
}

void Predicted::notice(Happening happening, const Standing& job) {
    if (happening == Happening::Submitted) {
        beliefs_.resize(std::max(beliefs_.size(), static_cast<std::size_t>(job.job) + 1));
        kin_.submitted(job);
        believe_anew(job.job);
        return;
    }
    if (happening == Happening::Changed) {
        if (!job.runs) return;
        kin_.used(job);
    } else {
        const GpuMs size = std::max<GpuMs>(job.attained(), 1);
        if (const auto& guess = belief(job.job).guess) {
            moved_.all |= parts_[guess->nearness].add(scaled(size, kWhole, guess->size));
        }
        moved_.all |= blind_.add(size);
        kin_.finished(job);
    }
    for (const Ticket other : kin_.unfinished_near(job.job)) believe_anew(other);
}

void Predicted::believe_anew(Ticket job) {
    const Belief fresh{kin_.guess(job), kin_.bound(job)};
    Belief& known = beliefs_[static_cast<std::size_t>(job)];
    if (fresh == known) return;
    known = fresh;
    moved_.jobs.push_back(job);
}

Moved Predicted::moved() { return std::exchange(moved_, {}); }

}  // namespace berth::ordering
