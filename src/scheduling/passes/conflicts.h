// SPDX-License-Identifier: Apache-2.0
//
// Who lets whom pass in the next attempt at a decision? Somebody was given GPUs, or promised them,
// and another with a stronger right would only take them away again (decide.h).
#pragma once

#include <algorithm>
#include <map>
#include <memory_resource>
#include <vector>

#include "base/ids.h"
#include "model/plan.h"

namespace berth::scheduling {

// Somebody whose right is stronger than that of a job before it in the order.
struct Contender {
    base::JobId job;
    base::PoolId pool;
    model::Rule rule = model::Rule::Reclaim;

    bool operator==(const Contender&) const = default;
};
// By the job that is to let them pass: whoever was found first passes first.
using Conflicts = std::pmr::map<base::JobId, std::pmr::vector<Contender>>;

// Whether it was not known.
inline bool add(Conflicts& known, base::JobId job, const Contender& contender) {
    std::pmr::vector<Contender>& contenders = known[job];
    const bool is_new = std::ranges::find(contenders, contender) == contenders.end();
    if (is_new) contenders.push_back(contender);
    return is_new;
}

// Whether any was not known.
inline bool add(Conflicts& known, const Conflicts& more) {
    bool is_new = false;
    for (const auto& [job, contenders] : more) {
        for (const Contender& contender : contenders) is_new |= add(known, job, contender);
    }
    return is_new;
}

// Whether anybody lets the job pass.
inline bool contends(const Conflicts& known, base::JobId job) {
    return std::ranges::any_of(known, [job](const auto& one) {
        return std::ranges::find(one.second, job, &Contender::job) != one.second.end();
    });
}

}  // namespace berth::scheduling
