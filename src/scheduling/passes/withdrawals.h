// SPDX-License-Identifier: Apache-2.0
//
// Whose start is withdrawn in the next attempt at a decision, for which job? A job was given GPUs,
// or promised them, and another with a stronger right would only take them away again (decide.h).
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <memory_resource>
#include <vector>

#include "base/ids.h"
#include "model/plan.h"

namespace berth::scheduling {

// A job whose right is stronger than that of one before it in the order.
struct StrongerJob {
    base::JobId job;
    base::PoolId pool;
    model::Rule rule = model::Rule::Reclaim;

    bool operator==(const StrongerJob&) const = default;
};
// By the job that withdraws: the stronger job found first is served first.
using Withdrawals = std::pmr::map<base::JobId, std::pmr::vector<StrongerJob>>;

// Once for each attempt.
inline void add(Withdrawals& found, base::JobId job, const StrongerJob& stronger) {
    std::pmr::vector<StrongerJob>& stronger_jobs = found[job];
    const bool is_new = std::ranges::find(stronger_jobs, stronger) == stronger_jobs.end();
    if (is_new) stronger_jobs.push_back(stronger);
}

// One that was found before is there twice then: another of its project was served in its place,
// and two have to be.
inline void add(Withdrawals& known, const Withdrawals& more) {
    for (const auto& [job, stronger_jobs] : more) {
        std::ranges::copy(stronger_jobs, std::back_inserter(known[job]));
    }
}

// Whether any job withdraws for this one.
inline bool has_withdrawn_for(const Withdrawals& known, base::JobId job) {
    return std::ranges::any_of(known, [job](const auto& withdrawal) {
        const auto& stronger_jobs = withdrawal.second;
        return std::ranges::find(stronger_jobs, job, &StrongerJob::job) != stronger_jobs.end();
    });
}

}  // namespace berth::scheduling
