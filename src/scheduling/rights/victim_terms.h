// SPDX-License-Identifier: Apache-2.0
//
// What may be taken of running work for a job that wants to start, whatever else is taken? By rule,
// priority and minimum runs; how much of each project together, the ledger says (reclaim.h).
#pragma once

#include <optional>

#include "scheduling/rights/minimum_run.h"
#include "scheduling/rights/victim_unit.h"

namespace berth::scheduling {

// Who wants to start, and by which right.
struct Beneficiary {
    const cluster::Job& job;
    int tasks = 1;
    MilliGpu amount{0};
    model::Rule rule = model::Rule::Reclaim;
    cluster::Region bound_to = {};  // where it is to start
};

// Whether it takes back what its project's quotas guarantee: the owner's own right. A job without
// GPUs has no other.
bool is_owner(const PoolView& view, const Beneficiary& beneficiary);

struct Terms {
    bool from_own = false;  // preemption: its own project's work of less priority
    ProjectId project;  // its own
    cluster::PriorityKey priority_key;  // its own when it preempts
    std::optional<Came> later_than = {};  // when it preempts: of gangs of its priority only these
    bool minimum_run = false;  // protected units are left alone
    bool by_rank = false;  // minimum runs count only where a job or a project states them
    bool asks_who = false;  // what is protected depends on who asks

    model::Rule rule() const { return from_own ? model::Rule::Preempt : model::Rule::Reclaim; }
    bool reaches(const cluster::PriorityKey& other) const {
        return !from_own || other < priority_key;
    }
    auto operator<=>(const Terms&) const = default;
};
// Who cannot be paused itself preempts a gang of its own priority only if that came after it: else
// such jobs, which come and stay, would take all that an older gang has waited for.
std::optional<Came> later_than(const Beneficiary& beneficiary);
Terms terms_of(const PoolView& view, const Beneficiary& beneficiary);
// Whether priority and age allow it.
bool reaches(const PoolView& view, const Terms& terms, const cluster::Job& job);
// To take from others, where minimum runs bind.
Terms terms_of_reclaim(const PoolView& view, ProjectId project);

// Whether a unit of that decision may be taken that was not yet.
bool allows(const PoolView& view, const Terms& terms, const VictimUnit& unit);
bool is_protected(const PoolView& view, const Terms& terms, const VictimUnit& unit);
// Others were paused for its job, which starts now: its minimum run begins at once.
bool is_started_reserved(const PoolView& view, const VictimUnit& unit, model::Rule rule,
                         ProjectId asking);

// --- of a whole project, by the cluster's account of losses: no job is looked at
// Whether that account tells all there is to know of protected jobs.
bool knows_protected(const PoolView& view, const Terms& terms, ProjectId project);
// The most GPUs, as they count, and the fewest jobs that may be taken.
MilliGpu most_allowed(const PoolView& view, const Terms& terms, ProjectId project);
int jobs_allowed(const PoolView& view, const Terms& terms, ProjectId project);
// When the first job may be paused that its minimum run protects now.
std::optional<TimePoint> next_protection_end(const PoolView& view, const Terms& terms,
                                             ProjectId project);

}  // namespace berth::scheduling
