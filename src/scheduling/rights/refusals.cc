// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/refusals.h"

#include <algorithm>

namespace berth::scheduling {
namespace {

// It runs nowhere and is bound to no node.
bool is_like_others(const Beneficiary& beneficiary) {
    return beneficiary.job.placed.empty() && !beneficiary.job.pinned.node.is_valid() &&
           beneficiary.bound_to.is_whole_pool();
}

const model::TaskRequest& request_of(const PoolView& view, const Beneficiary& beneficiary) {
    return view.cluster.shape(beneficiary.job.shape).request;
}

}  // namespace

Refusals::Question Refusals::question(const Beneficiary& beneficiary, std::uint64_t opened) {
    const cluster::Job& job = beneficiary.job;
    return {.rule = beneficiary.rule,
            .project = job.project,
            .shape = job.shape,
            .tasks = beneficiary.tasks,
            .kind = job.kind,
            .preemptible = job.preemptible,
            .opened = opened};
}

bool Refusals::covers(const PoolView& view, const Beneficiary& beneficiary,
                      std::uint64_t opened) const {
    const cluster::PriorityKey priority_key = beneficiary.job.queue_priority();
    const auto is_too_large = [&](const TooFew& known) {
        return request_of(view, beneficiary).gpus >= known.gpus &&
               beneficiary.tasks >= known.tasks && beneficiary.amount >= known.amount &&
               priority_key <= known.priority_key && (opened & ~known.opened) == 0;
    };
    if (beneficiary.bound_to.is_whole_pool() && request_of(view, beneficiary).is_whole()) {
        const auto few = too_few_.find({beneficiary.rule, beneficiary.job.project});
        if (few != too_few_.end() && std::ranges::any_of(few->second, is_too_large)) return true;
    }
    if (!is_like_others(beneficiary)) return false;
    const auto same = refused_.find(question(beneficiary, opened));
    return same != refused_.end() && priority_key <= same->second.priority_key &&
           later_than(beneficiary) >= same->second.later_than;
}

void Refusals::add(const PoolView& view, const Beneficiary& beneficiary, std::uint64_t opened,
                   bool by_reach) {
    const cluster::PriorityKey priority_key = beneficiary.job.queue_priority();
    if (by_reach) {
        too_few_[{beneficiary.rule, beneficiary.job.project}].push_back(
            {request_of(view, beneficiary).gpus, beneficiary.tasks, beneficiary.amount,
             priority_key, opened});
    } else if (is_like_others(beneficiary)) {
        if (covers(view, beneficiary, opened)) return;
        refused_[question(beneficiary, opened)] = {priority_key, later_than(beneficiary)};
    }
}

void Refusals::forget() {
    refused_.clear();
    too_few_.clear();
}

}  // namespace berth::scheduling
