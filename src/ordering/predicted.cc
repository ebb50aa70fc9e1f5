// SPDX-License-Identifier: Apache-2.0
#include "ordering/predicted.h"

#include <algorithm>
#include <utility>

namespace berth::ordering {
namespace {

constexpr GpuMs kFirstStage = 600'000;
constexpr std::size_t kStages = 28;

}  // namespace

// The root of two more each.
Predicted::Predicted(std::int64_t oldest_percent) : oldest_percent_(oldest_percent) {
    for (GpuMs one = kFirstStage, other = one * 1414 / 1000; stages_.size() < kStages;
         one *= 2, other *= 2) {
        stages_.insert(stages_.end(), {one, other});
    }
    last_ = static_cast<std::int64_t>(kStages);
}

std::int64_t Predicted::stage_of(GpuMs cost) const {
    return std::ranges::upper_bound(stages_, cost) - stages_.begin();
}

void Predicted::forget(Ticket job) {
    auto& belief = beliefs_[static_cast<std::size_t>(job)];
    if (belief) belief->is_held = false;
}

Predicted::Belief& Predicted::hold(Ticket job) const {
    auto& belief = beliefs_[static_cast<std::size_t>(job)];
    if (!belief) belief = std::make_unique<Belief>(experts_.opinion(job));
    if (!belief->is_held) {
        belief->is_held = true;
        belief->is_worked_out = false;
        belief->evidence = experts_.evidence(job);
    }
    return *belief;
}

std::int64_t Predicted::stage(Ticket job, std::size_t step) const {
    Belief& belief = hold(job);
    if (!belief.is_worked_out) {
        belief.is_worked_out = true;
        belief.opinion.learn(experts_.near(job), belief.evidence);
        belief.stages.fill(-1);
    }
    std::int8_t& known = belief.stages[step];
    if (known < 0) {
        known = static_cast<std::int8_t>(stage_of(
            completion_cost([&](std::size_t at) { return belief.opinion.hazard(at); }, step)));
    }
    return std::min<std::int64_t>(known, last_);
}

Rank Predicted::rank(const Standing& job) const {
    const std::size_t step = size_step(job.attained());
    const std::int64_t level = step == 0 ? 0 : stage(job.job, step);
    const bool by_age = oldest_percent_ > 0 && level == last_;
    return {.level = level, .key = job.runs ? 0 : 1, .tie = by_age ? 0 : job.gpus};
}

TimePoint Predicted::next_change(const Standing& job) const {
    if (!job.runs) return kNever;
    const std::size_t step = size_step(job.attained());
    std::size_t next = step + 1;
    if (step > 0) {
        constexpr std::size_t kTold = Experts::kStepsTold;
        const std::size_t told = std::min((step / kTold + 1) * kTold, kSizeSteps);
        while (next < told && stage(job.job, next) == stage(job.job, step)) ++next;
    }
    return next < kSizeSteps ? job.when_attained(size_step_begin(next)) : kNever;
}

std::optional<Bounds> Predicted::bounds(const Standing& job) const {
    const std::size_t next = size_step(job.attained()) + 1;
    if (next == 1 || next == kSizeSteps) return std::nullopt;
    hold(job.job);
    return Bounds{.last = {.level = last_, .key = 0, .tie = oldest_percent_ > 0 ? 0 : job.gpus},
                  .change = job.when_attained(size_step_begin(next))};
}

void Predicted::notice(Happening happening, const Standing& job) {
    if (happening == Happening::Submitted) {
        beliefs_.resize(std::max(beliefs_.size(), static_cast<std::size_t>(job.job) + 1));
        experts_.submitted(job);
        return;
    }
    if (happening == Happening::Changed) {
        if (!job.runs || !experts_.used(job)) return;
    } else {
        beliefs_[static_cast<std::size_t>(job.job)].reset();
        if (experts_.finished(job)) {
            moved_.all = true;
            if (oldest_percent_ > 0) {
                last_ = stage_of(experts_.all_ends().last_percent_begin(oldest_percent_));
            }
            for (auto& belief : beliefs_) {
                if (belief) belief->is_held = false;
            }
        }
    }
    for (const Ticket other : experts_.concerned(job.job)) {
        forget(other);
        moved_.jobs.push_back(other);
    }
}

Moved Predicted::moved() { return std::exchange(moved_, {}); }

}  // namespace berth::ordering
