// SPDX-License-Identifier: Apache-2.0
//
// Who is entitled to what: a tree of departments and projects. Jobs live in the leaves; an inner
// node bounds and guarantees the sum of what is below it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/node/node.h"
#include "model/policy/policy.h"

namespace berth::model {

enum class QuotaKind {
    Guaranteed,  // may go above quota while GPUs idle; what it lent comes back by reclaim
    Fixed,       // never over quota, and its unused quota is not lent
};

// Larger than any cluster, small enough to add: "no bound".
inline constexpr MilliGpu kUnlimited{INT64_C(1) << 60};

// The rights of one tree node in one pool. scheduling.md section 1.
struct Entitlement {
    std::optional<MilliGpu> quota;      // deserved; none = sum of the children's, 0 for a leaf
    MilliGpu limit = kUnlimited;        // never exceeded by the subtree
    // Of the CPU and memory that its tasks ask for: guaranteed; none = nothing is.
    std::optional<MilliCpu> cpu_quota = {};
    std::optional<Bytes> memory_quota = {};
    // Never exceeded; none = no limit.
    std::optional<MilliCpu> cpu_limit = {};
    std::optional<Bytes> memory_limit = {};
    std::int64_t weight = 1000;         // share of the surplus, in thousandths
    int priority = 100;                 // higher is offered the surplus first
    QuotaKind kind = QuotaKind::Guaranteed;
    std::int64_t usage_ppm = 0;         // decayed past use of this pool, parts per million

    bool operator==(const Entitlement&) const = default;
};

struct Project {
    std::string name;
    std::string parent;                 // empty = directly below the root
    std::int64_t order = 0;             // of creation; older wins a tie
    Entitlement rights;                 // in the default pool, and the pattern for the others
    std::map<std::string, Entitlement> pools;  // rights in named pools
    // No job is preempted for its jobs before this wait (rule R12); none = the
    // parent's, 0 at the top.
    std::optional<Duration> preemption_delay;
    // How long its started jobs are left alone by those who preempt and by those who reclaim (rule
    // R11, scheduling/rights/minimum_run.h); none = the parent's, the policy's at the top.
    std::optional<Duration> preempt_min_run;
    std::optional<Duration> reclaim_min_run;
    // Which of its jobs goes first, and the part that goes by age all the same (OrderRules); none =
    // the parent's, the policy's at the top.
    std::optional<JobOrder> job_order;
    std::optional<int> job_tail;
    // When its jobs are warned that their GPUs do nothing, 0 = never, and what follows (Policy);
    // none = the parent's, the policy's at the top.
    std::optional<Duration> idle_after = {};
    std::optional<IdleAct> idle_act = {};
    // A share of a GPU is also the most that its jobs, and those of projects below it, get of the
    // GPU's time.
    bool strict_shares = false;

    bool operator==(const Project&) const = default;
};

// What of these rights holds in other pools too: what is guaranteed is said of each.
Entitlement without_guarantees(Entitlement rights);

// The rights of `project` in `pool`. In a named pool without an entry nothing is guaranteed, but
// unused quota may be borrowed.
Entitlement rights_in(const Project& project, const std::string& pool);

}  // namespace berth::model
