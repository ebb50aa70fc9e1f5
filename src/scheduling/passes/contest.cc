// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/contest.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "scheduling/place/place.h"
#include "scheduling/rights/reclaim.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::TaskPlacement;

using Holders = base::SmallVector<const Job*, 256>;

// Those whose promise may be lost at all, the first to lose first.
Holders holders_in_order(const PoolView& view) {
    Holders holders;
    for (const JobId id : view.cluster.holders()) {
        const Job& job = view.cluster.job(id);
        const bool is_spared = has(view.spared, id);
        if (job.pool == view.pool && job.preemptible && !is_spared) holders.push_back(&job);
    }
    std::ranges::sort(holders, [](const Job* left, const Job* right) {
        const auto has_claim = [](const Job* job) {
            return job->hold->rule == model::Rule::Reclaim;
        };
        return std::tuple(has_claim(left), left->precedence(), right->created, right->id) <
               std::tuple(has_claim(right), right->precedence(), left->created, left->id);
    });
    return holders;
}

// Those of them whose promises the owner may take.
Holders losers(const PoolView& view, const Beneficiary& beneficiary, const Holders& holders) {
    Holders losers;
    ReclaimLedger ledger(view, beneficiary.job.project, beneficiary.amount);
    for (const Job* job : holders) {
        MilliGpu amount{0};
        for (const TaskPlacement& task : job->hold->tasks) amount += view.cluster.counted(task);
        if (!ledger.may_take(job->project, amount)) continue;
        ledger.take(job->project, amount);
        losers.push_back(job);
    }
    return losers;
}

class Contest {
  public:
    Contest(const PoolView& view, const Beneficiary& beneficiary, VictimSearch& search)
        : view_(view), beneficiary_(beneficiary), search_(search) {}

    // Where the owner's job can start without these promises, with victims or without; empty =
    // nowhere.
    Places places_without(std::span<const Job* const> promises) {
        const cluster::Trial trial(view_.cluster);
        for (const Job* job : promises) view_.cluster.drop_hold(job->id);
        auto found = place(view_, beneficiary_.job, beneficiary_.tasks, View::Coming);
        return found ? std::move(*found) : search_.find(beneficiary_).places;
    }

  private:
    const PoolView& view_;
    const Beneficiary& beneficiary_;
    VictimSearch& search_;
};

bool share_a_node(const std::vector<TaskPlacement>& some, const Places& others) {
    return std::ranges::any_of(some, [&](const TaskPlacement& one) {
        return std::ranges::find(others, one.node, &TaskPlacement::node) != others.end();
    });
}

}  // namespace

base::SmallVector<JobId, 16> promises_in_the_way(const PoolView& view,
                                                 const Beneficiary& beneficiary,
                                                 VictimSearch& search) {
    if (!view.policy.sticky_plans) return {};
    if (!is_within_quota(view, beneficiary.job.project, beneficiary.amount)) return {};
    Holders taken = losers(view, beneficiary, holders_in_order(view));
    Contest contest(view, beneficiary, search);
    if (taken.empty() || contest.places_without(taken).empty()) return {};
    Places places;
    std::size_t enough = 0;
    while (places.empty() && enough < taken.size())
        places = contest.places_without(std::span(taken).first(++enough));
    taken.resize(enough);
    Holders there = taken;
    const auto elsewhere = std::ranges::remove_if(
        there, [&](const Job* job) { return !share_a_node(job->hold->tasks, places); });
    there.erase(elsewhere.begin(), elsewhere.end());
    if (there.size() < taken.size() && !contest.places_without(there).empty()) taken = there;
    base::SmallVector<JobId, 16> jobs;
    for (const Job* job : taken) jobs.push_back(job->id);
    return jobs;
}

}  // namespace berth::scheduling
