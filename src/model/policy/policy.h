// SPDX-License-Identifier: Apache-2.0
//
// The switches of a decision. Two profiles name their settings: `classic` is the rule set R1-R15
// that users of Kubernetes schedulers know, `berth` improves on it on purpose. Every difference
// is one field here and has scenarios that show it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/node/node.h"

namespace berth::model {

// What becomes of a job whose process uses a GPU beside its job's share.
enum class Escaped {
    Warn,  // it is charged to the job, shown, and said once in the job's log
    End,  // ... and the job is ended
};

// What becomes of a job that runs and whose GPUs do nothing, after it was warned.
enum class IdleAct {
    Warn,  // nothing more
    Park,  // off its GPUs with its processes alive, where that can be; its next call brings it back
    End,  // it is ended
};

enum class Spreading {
    BinPack,  // fullest node that still fits: keeps whole nodes free
    Spread,  // emptiest node: keeps neighbours apart
};

// Who goes first of the jobs of one project and priority, and is a running one paused for it?
// Nothing is asked of how long a job takes. Jobs that cannot be paused are not ranked.
enum class JobOrder {
    Learned,  // whose next completion costs the least GPU time, by what jobs like it took
    ByLevels,  // who has had the least GPU time, in steps: 10 min, then eight times as much each
    Age,  // the oldest; no job is paused for it
};

// Settings of that (ordering/ranks.h; evidence: docs/simulation.md).
struct OrderRules {
    JobOrder by = JobOrder::Learned;
    // The costliest jobs, which took so much of all GPU time so far, in percent, go by age.
    int tail = 0;
    // A job is due that has waited this many times its run time; 0 = none is.
    int patience = 72;
    // ... and one that ends this many times later than would be fair; 0 = none is.
    int fair = 9;
    // A running job counts as this many cost stages before its own; each is a root of two more.
    int hysteresis = 2;

    bool operator==(const OrderRules&) const = default;
};

// No pause may take longer.
inline constexpr Duration kPauseGraceMax{10 * 60 * 1000};

// Thousandths of some unit of money for an hour of a GPU, by model.
using GpuPrices = std::map<std::string, std::int64_t>;

// Each field that people may change has its name in model/policy/policy_settings.h.
struct Policy {
    // Which node a task goes to, for train jobs and for the others.
    Spreading train = Spreading::BinPack;
    Spreading build = Spreading::BinPack;

    // Victims are the legal set with the least lost work, not the first legal one in order.
    bool cheapest_victims = true;
    // Quotas that sum to more than there is are scaled down in proportion for fair shares and
    // reclaim, and the plan says so (scheduling/shares/overcommitment.h).
    bool scale_overcommitted = true;
    // A gang that crosses its project's fair share by less than itself may still take back from
    // those who stay relatively better off (scheduling/rights/reclaim.h).
    bool gang_reclaim = true;
    // An owner within its quota also takes back host memory and the like that work without GPUs of
    // other projects has beside free GPUs.
    bool reclaim_cpu_only = true;
    // A started job is left alone this long, unless the owner of the quota returns.
    Duration min_run{5 * 60 * 1000};
    // ... and at least this many times its restart cost.
    int min_run_restarts = 3;
    // The minimum run binds owners who take back their quota and interactive work as well.
    bool min_run_binds_all = false;
    // How long capacity is held for a job after the last victim's grace.
    Duration reservation_hold{30 * 1000};
    // How long a paused job may take to save before it is killed.
    Duration pause_grace{60 * 1000};
    // Without a call to its GPUs for this time a build job of one task is parked that does not say
    // when itself; none = never.
    std::optional<Duration> park_after;
    // A job that runs is warned when its GPUs have done nothing for this time; none = never.
    std::optional<Duration> idle_after;
    // ... and this long after the warning, while they still do nothing:
    Duration idle_warning{10 * 60 * 1000};
    IdleAct idle_act = IdleAct::Warn;
    // Room is made by all moves, then all reclaims, then all preemptions, each through the whole
    // queue; else each job is helped by what helps it when its turn comes.
    bool actions_apart = false;
    // Most running jobs that move for one that waits; 0 = no job moves.
    int moves_max = 16;
    // They move only when that costs no more than the waiting job has lost by waiting, and not
    // within their minimum run.
    bool priced_moves = true;
    // Most gangs for whom idle GPUs are kept until they start (scheduling/backfill/backfill.h); 0 =
    // none.
    int backfill_max = 4;
    // ... each after this wait.
    Duration backfill_after{10 * 60 * 1000};
    // A gang whose largest tensor is a larger part of its model than this goes onto the fewest
    // nodes, since spread it would wait for the network (the rule is that of Tiresias, NSDI '19;
    // the number is ours); parts per million, so 1,000,000 is never.
    std::int64_t consolidate_above_ppm = 200'000;
    OrderRules order;
    // How long a gang that runs may stay below its minimum before it is paused whole (rule R10).
    Duration stale_grace{60 * 1000};
    // Unsaved work that pauses may destroy in a pool each day (UTC), in thousandths of the pool's
    // GPU time: when it is spent, only owners within their quota have anybody paused. None = any.
    std::optional<std::int64_t> waste_budget = 50;
    // Weight of past use in the fair share (k of rule R1), in thousandths.
    std::int64_t usage_weight = 1000;
    Escaped escaped = Escaped::Warn;
    // A share of a GPU is also the most that its job gets of the GPU's time, in all pools.
    bool strict_shares = false;
    // Past use is what projects really had (cluster/jobs/past_use.h), not what their rights say.
    bool measured_usage = false;
    // ... and what lies so far back counts half.
    Duration usage_half_life{7 * 24 * 3600 * 1000};
    // Of reports; they decide nothing. None = reports show no money.
    GpuPrices gpu_prices;

    bool operator==(const Policy&) const = default;
};

Policy berth_policy();
Policy classic_policy();

// "berth" or "classic". Errors: Invalid, naming both.
base::Result<Policy> policy_named(std::string_view name);

}  // namespace berth::model
