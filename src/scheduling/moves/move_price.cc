// SPDX-License-Identifier: Apache-2.0
#include "scheduling/moves/move_price.h"

#include <algorithm>

namespace berth::scheduling {

using cluster::Job;

namespace {

// What the job has lost by waiting.
std::int64_t lost_so_far(const PoolView& view, const Job& job) {
    return gpus_for(view, job, job.ask()).value *
           std::max<std::int64_t>((view.now - job.waiting_since).count(), 0) / 1000;
}

}  // namespace

void MoveRefusal::add(const MigrationCost& cost) {
    const auto is_worse = [](const MigrationCost& left, const MigrationCost& other) {
        return left.price >= other.price && left.gpus >= other.gpus;
    };
    if (std::ranges::any_of(too_dear, [&](const auto& other) { return is_worse(cost, other); }))
        return;
    const auto worse = std::ranges::remove_if(
        too_dear, [&](const MigrationCost& other) { return is_worse(other, cost); });
    too_dear.erase(worse.begin(), worse.end());
    too_dear.push_back(cost);
}

void MoveRefusal::add(TimePoint until) {
    protected_until = std::min(protected_until.value_or(until), until);
}

bool is_too_dear(const PoolView& view, const Job& job, std::int64_t price) {
    return view.policy.priced_moves && price > lost_so_far(view, job);
}

// When it is worth looking again. What is missing to a price shrinks as the job waits and grows
// with what the migrations do not save.
std::optional<TimePoint> worth_at(const PoolView& view, const Job& job,
                                  const MoveRefusal& refusal) {
    std::optional<TimePoint> first = refusal.protected_until;
    for (const MigrationCost& cost : refusal.too_dear) {
        const std::int64_t missing = cost.price - lost_so_far(view, job);
        const std::int64_t pace = (gpus_for(view, job, job.ask()) - cost.gpus).value;  // milli-GPU
        if (pace <= 0) continue;
        const TimePoint time = view.now + model::Duration{missing * 1000 / pace + 1};
        first = std::min(first.value_or(time), time);
    }
    return first;
}

}  // namespace berth::scheduling
