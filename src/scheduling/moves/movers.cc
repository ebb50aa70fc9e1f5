// SPDX-License-Identifier: Apache-2.0
#include "scheduling/moves/movers.h"

#include <algorithm>

#include "scheduling/rights/minimum_run.h"
#include "scheduling/rights/victim_unit.h"

namespace berth::scheduling {

std::span<const Mover> Movers::on(NodeId node) {
    const auto [known, is_new] = on_node_.try_emplace(node);
    Range& range = known->second;
    if (is_new) {
        const std::size_t first = movers_.size();
        look_at(node);
        range = {static_cast<std::uint32_t>(first),
                 static_cast<std::uint32_t>(movers_.size() - first)};
    }
    return std::span(movers_).subspan(range.first, range.count);
}

void Movers::forget() {
    on_node_.clear();
    movers_.clear();
}

void Movers::look_at(NodeId node) {
    const auto jobs = view_.cluster.jobs_on(node);
    here_.assign(jobs.begin(), jobs.end());
    std::ranges::sort(here_);
    here_.erase(std::ranges::unique(here_).begin(), here_.end());
    for (const JobId id : here_) {
        const cluster::Job& job = view_.cluster.job(id);
        const bool is_free_to_move =
            job.is_victim() && job.may_run && !job.hold && !job.is_releasing() && may_move_(job);
        if (!is_free_to_move) continue;
        Mover mover;
        mover.job = &job;
        for (const cluster::PlacedTask& task : job.placed) {
            mover.gpus += task.place.gpus();
        }
        mover.cost = pause_cost(job, mover.gpus, view_.now);
        const TimePoint until = protected_until(view_, job, model::Rule::Preempt, job.project);
        if (view_.policy.priced_moves && until > view_.now) mover.protected_until = until;
        movers_.push_back(mover);
    }
}

}  // namespace berth::scheduling
