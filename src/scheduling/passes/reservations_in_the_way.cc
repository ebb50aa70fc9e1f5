// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/reservations_in_the_way.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "cluster/gang.h"
#include "scheduling/place/place.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::TaskPlacement;

using Holders = base::SmallVector<const Job*, 256>;

// Those whose reservation may be lost at all, the first to lose first.
Holders holders_in_order(const PoolView& view) {
    Holders holders;
    for (const JobId id : view.cluster.reserved_jobs()) {
        const Job& job = view.cluster.job(id);
        const bool is_untouchable = has(view.untouchable, id);
        if (job.pool == view.pool && job.preemptible && !is_untouchable) holders.push_back(&job);
    }
    std::ranges::sort(holders, [](const Job* left, const Job* right) {
        const auto has_claim = [](const Job* job) {
            return job->reservation->rule == model::Rule::Reclaim;
        };
        return std::tuple(has_claim(left), left->priority_key(), right->created, right->id) <
               std::tuple(has_claim(right), right->priority_key(), left->created, left->id);
    });
    return holders;
}

// Those of them whose reservations the owner may take.
Holders losers(const PoolView& view, const Beneficiary& beneficiary, const Holders& holders) {
    Holders losers;
    ReclaimLedger ledger(view, beneficiary);
    for (const Job* job : holders) {
        UnitSize reserved;
        for (const TaskPlacement& task : job->reservation->tasks) {
            reserved.gpus += view.cluster.counted(task);
            reserved.host += cluster::stated_by(view.cluster, *job, task.task);
        }
        if (!ledger.may_take(job->project, reserved)) continue;
        ledger.take(job->project, reserved);
        losers.push_back(job);
    }
    return losers;
}

class Withdrawal {
  public:
    Withdrawal(const PoolView& view, const Beneficiary& beneficiary, VictimSearch& search)
        : view_(view), beneficiary_(beneficiary), search_(search) {}

    // Where the owner's job can start without these reservations, with victims or without; empty =
    // nowhere.
    Places places_without(std::span<const Job* const> reservations) {
        const cluster::Trial trial(view_.cluster);
        for (const Job* job : reservations) view_.cluster.drop_reservation(job->id);
        auto found = place(view_, beneficiary_.job, beneficiary_.tasks, View::Coming);
        return found ? std::move(*found) : search_.find(beneficiary_).places;
    }

  private:
    const PoolView& view_;
    const Beneficiary& beneficiary_;
    VictimSearch& search_;
};

bool share_a_node(const std::vector<TaskPlacement>& some, const Places& others) {
    return std::ranges::any_of(some, [&](const TaskPlacement& task) {
        return std::ranges::find(others, task.node, &TaskPlacement::node) != others.end();
    });
}

}  // namespace

base::SmallVector<JobId, 16> reservations_in_the_way(const PoolView& view,
                                                     const Beneficiary& beneficiary,
                                                     VictimSearch& search) {
    if (!is_owner(view, beneficiary)) return {};
    Holders taken = losers(view, beneficiary, holders_in_order(view));
    Withdrawal withdrawal(view, beneficiary, search);
    if (taken.empty() || withdrawal.places_without(taken).empty()) return {};
    Places places;
    std::size_t enough = 0;
    while (places.empty() && enough < taken.size())
        places = withdrawal.places_without(std::span(taken).first(++enough));
    taken.resize(enough);
    Holders there = taken;
    const auto elsewhere = std::ranges::remove_if(
        there, [&](const Job* job) { return !share_a_node(job->reservation->tasks, places); });
    there.erase(elsewhere.begin(), elsewhere.end());
    if (there.size() < taken.size() && !withdrawal.places_without(there).empty()) taken = there;
    base::SmallVector<JobId, 16> jobs;
    for (const Job* job : taken) jobs.push_back(job->id);
    return jobs;
}

}  // namespace berth::scheduling
