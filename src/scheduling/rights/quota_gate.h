// SPDX-License-Identifier: Apache-2.0
//
// May this job's project take so much more? Rule R4's gates, asked on every level of the tree:
//   limit     nothing goes above its limit (a fixed quota is one), nor above one of CPU or memory
//   quota     work that cannot be paused stays within the quota, and within those of CPU and memory
//   set aside GPUs of another's unused fixed quota are not lent, as far as it is in force
// Idle GPUs are not asked about here. Cost: O(depth + fixed quotas).
#pragma once

#include <optional>

#include "model/answer/verdict.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

struct Denial {
    model::Cause cause = model::Cause::LimitReached;
    ProjectId at;  // the tree node that refuses; of what is set aside the owner of most of it
    MilliGpu used{0};  // there; or all that is set aside
    MilliGpu bound{0};  // there; or what may still be lent
    // Of a bound of CPU or memory: milli-cores or bytes.
    struct Host {
        std::int64_t asks = 0;
        std::int64_t used = 0;
        std::int64_t bound = 0;
    };
    Host host = {};
};

// A bound of CPU and memory that rights may state.
enum class HostBound { Limit, QuotaForNotPreemptible, Quota };

// Nothing when a tree node that uses so much may take what is asked, else which of them it passes;
// what is not asked for is not bound.
std::optional<Denial> host_denial(const model::Entitlement& rights, HostBound bound,
                                  const cluster::HostAsk& used, const cluster::HostAsk& asks);

// The first tree node from the project upwards whose quota of CPU or memory the job would pass.
std::optional<Denial> above_host_quota(const PoolView& view, const cluster::Job& job);

// Whether work that cannot be paused would stand above a quota: pausing others changes nothing.
bool is_above_own_quota(const PoolView& view, ProjectId project, MilliGpu amount);

// Whether what the project does not use is set aside: its quota, or one above it, is fixed.
bool is_set_aside(const PoolView& view, ProjectId project);

// Nothing when `amount` more may be taken, else the first refusal from the project upwards. `tasks`
// take it: those that it asks for now, or others.
std::optional<Denial> quota_gate(const PoolView& view, const cluster::Job& job, MilliGpu amount,
                                 std::optional<int> tasks = {});

}  // namespace berth::scheduling
