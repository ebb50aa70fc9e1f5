// SPDX-License-Identifier: Apache-2.0
#include "scheduling/moves/migrations.h"

#include <algorithm>

#include "scheduling/rights/minimum_run.h"
#include "scheduling/rights/victim_unit.h"

namespace berth::scheduling {

std::span<const Migration> Migrations::on(NodeId node) {
    const auto [known, is_new] = on_node_.try_emplace(node);
    Range& range = known->second;
    if (is_new) {
        const std::size_t first = migrations_.size();
        look_at(node);
        range = {static_cast<std::uint32_t>(first),
                 static_cast<std::uint32_t>(migrations_.size() - first)};
    }
    return std::span(migrations_).subspan(range.first, range.count);
}

void Migrations::forget() {
    on_node_.clear();
    migrations_.clear();
}

void Migrations::look_at(NodeId node) {
    const auto jobs = view_.cluster.jobs_on(node);
    here_.assign(jobs.begin(), jobs.end());
    std::ranges::sort(here_);
    here_.erase(std::ranges::unique(here_).begin(), here_.end());
    for (const JobId id : here_) {
        const cluster::Job& job = view_.cluster.job(id);
        const bool is_free_to_move = job.is_victim() && job.may_run && !job.reservation &&
                                     !job.is_releasing() && may_move_(job);
        if (!is_free_to_move) continue;
        Migration migration;
        migration.job = &job;
        const MilliGpu gpus = job.in_use();
        migration.cost = pause_cost(job, gpus, view_.now);
        migration.expected.price = pause_price(job, gpus, view_.now);
        if (!job.saves_when_asked) migration.expected.gpus = gpus;
        const TimePoint until = protected_until(view_, job, model::Rule::Preempt, job.project);
        if (view_.policy.priced_moves && until > view_.now) migration.protected_until = until;
        migrations_.push_back(migration);
    }
}

}  // namespace berth::scheduling
