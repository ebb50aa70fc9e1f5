// SPDX-License-Identifier: Apache-2.0
#include "ordering/predicted.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ordering/levels.h"

namespace berth::ordering {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kWhole = 1024;  // the part of a size that equals its guess
constexpr int kStages = 3;  // of a level: doublings from one threshold of geo8 to the next
constexpr GpuMs kMost = 4'000'000'000'000'000'000;

// amount x numerator / denominator, at most kMost.
GpuMs scaled(GpuMs amount, GpuMs numerator, GpuMs denominator) {
    const Wide exact = static_cast<Wide>(amount) * numerator / denominator;
    return static_cast<GpuMs>(std::min<Wide>(exact, kMost));
}

// How often one has to be doubled to be `size`, in 1/64, linear in between.
std::int64_t doublings(GpuMs size) {
    const auto bits = static_cast<std::uint64_t>(size);
    const auto whole = static_cast<int>(std::bit_width(bits)) - 1;
    const Wide rest = static_cast<Wide>(bits) * 64 >> whole;
    return (whole - 1) * std::int64_t{64} + static_cast<std::int64_t>(rest);
}

std::int64_t apart(std::int64_t one, std::int64_t other) {
    return std::max(one - other, other - one);
}

}  // namespace

Predicted::Predicted(Rest rest)
    : rest_(rest),
      stages_(geometric_thresholds(std::chrono::minutes(10) / Duration{1}, 2, 4 * kStages + 1)) {}

bool Predicted::Record::add(std::int64_t part) {
    parts.push_back(part);
    if (parts.size() < next_learning) return false;
    next_learning = parts.size() + parts.size() / 10;
    index.learn(parts);
    is_learned = true;
    return true;
}

const Predicted::Record* Predicted::record(Ticket job) const {
    const auto& guess = belief(job).guess;
    if (!guess || !records_[guess->nearness].counts()) return nullptr;
    return &records_[guess->nearness];
}

GpuMs Predicted::cost(const Standing& job) const {
    const GpuMs bound = belief(job.job).bound;
    if (bound > job.attained()) return bound - job.attained() + bound;
    const Record* known = record(job.job);
    if (!known) return rest_by_index() ? sizes_.index.cost(job.attained()) : job.attained();
    const GpuMs unit = belief(job.job).guess->size;
    return scaled(known->index.cost(scaled(job.attained(), kWhole, unit)), unit, kWhole);
}

Rank Predicted::rank(const Standing& job) const {
    const GpuMs whole = job.attained() < kFirstLook ? 0 : cost(job);
    const std::int64_t stage = std::ranges::upper_bound(stages_, whole) - stages_.begin();
    const std::int64_t level = (stage + kStages - 1) / kStages;
    const std::int64_t last = std::ssize(stages_);
    return {.level = record(job.job) || rest_by_index() ? stage : std::min(level * kStages, last),
            .key = job.runs ? 0 : 1,
            .tie = job.gpus};
}

TimePoint Predicted::next_change(const Standing& job) const {
    if (!job.runs) return kNever;
    const GpuMs used = job.attained();
    if (used < kFirstLook) return job.when_attained(kFirstLook);
    if (const GpuMs bound = belief(job.job).bound; bound > used) {
        // The cost falls until the bound is reached.
        const auto above = std::ranges::upper_bound(stages_, bound - used + bound);
        if (above == stages_.begin()) return job.when_attained(bound);
        return job.when_attained(std::min(bound, bound - *(above - 1) + bound + 1));
    }
    if (const Record* known = record(job.job)) {
        const GpuMs unit = belief(job.job).guess->size;
        const GpuMs step = known->index.next_step(scaled(used, kWhole, unit));
        return job.when_attained(std::max(scaled(step, unit, kWhole), used) + 1);
    }
    if (rest_by_index()) return job.when_attained(sizes_.index.next_step(used));
    // By what they have used only levels are told apart.
    const auto stage = std::ranges::upper_bound(stages_, used) - stages_.begin();
    const auto next = static_cast<std::size_t>((stage + kStages - 1) / kStages * kStages);
    return next < stages_.size() ? job.when_attained(stages_[next]) : kNever;
}

// What the size says of the guesses of its class, and of all sizes.
void Predicted::learn(const Guess& guess, GpuMs size) {
    Record& record = records_[guess.nearness];
    const bool counted = record.counts();
    const std::int64_t known = doublings(size);
    record.error += apart(known, doublings(guess.size));
    record.spread += apart(known, finished_ > 0 ? doublings_ / finished_ : known);
    const bool has_learned = record.add(scaled(size, kWhole, guess.size));
    moved_.all |= counted != record.counts() || (record.counts() && has_learned);
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
        if (const auto& guess = belief(job.job).guess) learn(*guess, size);
        ++finished_;
        doublings_ += doublings(size);
        if (rest_ == Rest::Index) moved_.all |= sizes_.add(size);
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
