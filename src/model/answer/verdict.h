// SPDX-License-Identifier: Apache-2.0
//
// Why a job waits: one cause of a closed list, the numbers that decided it, and who is in the way.
// The same record is shown by the CLI, the API and the dashboard.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/answer/suggestion.h"
#include "model/job/job.h"

namespace berth::model {

// What people and programs see first; a table from Cause.
enum class Reason {
    Invalid,          // the request contradicts itself or names something that does not exist
    NeverFits,        // would not fit into the empty pool
    Held,             // paused by a user before it ever ran
    Dependency,       // waits for another job
    NotBefore,        // waits for its time
    Paused,           // paused by a user
    QuotaHard,        // a limit, a fixed quota, or the quota for non-preemptible work is reached
    QuotaFair,        // above its fair share, and nothing idle is lent
    PriorityAhead,    // it would fit, but jobs ahead of it take the room in this decision
    PoolFull,         // not enough idle GPUs, and no job may be paused for it
    Fragmented,       // enough GPUs idle, but not together on one node
    Topology,         // enough GPUs idle, but not in one domain
    ModelMismatch,    // no node carries the GPU model or labels it asks for
    HostResources,    // GPUs idle, but CPU or memory beside them is taken
    Gang,             // some tasks of the gang would fit, not all of them at once
    Unhealthy,        // it would fit if drained or failed nodes were back, or joining ones there
    Reserved,         // the idle GPUs it needs are kept for another job
    WaitingForPause,  // its GPUs are being freed for it
    Starting,         // its GPUs are its own, its processes are being started
    NotYetEvaluated,  // submitted after the last decision
    Parked,           // off its GPUs since it made no call to them; it asks for none
};

inline constexpr int kReasonCount = static_cast<int>(Reason::Parked) + 1;

std::string_view name(Reason reason);

// Why exactly: where the decision stopped.
enum class Cause : std::uint8_t {
    NotEvaluated,
    // Its own state.
    OnHold,  // by a user, before it ran
    PausedByUser,
    Parked,
    Starting,
    GpusReleasing,
    HostReleasing,      // CPU, memory or another resource beside its GPUs
    PromiseUsedByOthers,
    PinnedNodeLeaves,   // its processes are on a node that joins another pool
    // Quotas and shares.
    LimitReached,
    FixedQuotaReached,
    NonPreemptibleQuotaReached,
    NonPreemptibleCpuQuotaReached,
    NonPreemptibleMemoryQuotaReached,
    CpuLimitReached,
    MemoryLimitReached,
    SetAsideForFixedQuotas,
    AboveFairShare,
    AboveCpuQuota,  // a job without GPUs, as the next
    AboveMemoryQuota,
    // The empty pool.
    NeverFitsNode,
    NeverFitsPool,
    NeverFitsHost,
    NeverFitsResource,
    NeverFitsCompanion,
    NeverFitsDomain,
    NeverFitsGroup,
    SharesNotKept,
    NoNodeWithLabel,
    TaintNotTolerated,
    NoNodeOfKind,
    // Room.
    AheadInQueue,
    BehindProjects,  // only jobs of other projects were served before it
    ReservedForOther,
    KeptForBackfill,
    ShareKeptForBackfill,  // it cannot be paused, and leaves a gang its share
    NotEnoughFree,
    NodeKindTaken,
    NotTogetherOnNode,
    NotOnPinnedNode,
    NotTogetherInDomain,
    GroupNotTogether,
    GangDoesNotFit,
    HostTaken,
    ResourceTaken,
    CompanionHasNoRoom,
    OthersUseGpus,  // of no project
    OthersUseHost,
    NodesAway,
    NodesJoin,
    // It may preempt, but not yet.
    PreemptionDelay,
    WasteBudgetSpent,
    MinRuntime,
};

inline constexpr int kCauseCount = static_cast<int>(Cause::MinRuntime) + 1;

Reason reason_of(Cause cause);

// The numbers behind a cause, in milli-GPU unless the field says otherwise. Which ones are
// meaningful for which cause: see explain_text() in scheduling/explain/explain.h.
struct Verdict {
    JobId job;
    Reason reason = Reason::NotYetEvaluated;
    Cause cause = Cause::NotEvaluated;
    MilliGpu asks{0};            // to start: all tasks_min tasks, or one more task when growing
    MilliGpu idle{0};            // in the pool, on ready nodes, not promised to others
    MilliGpu capacity{0};        // of the pool, on ready nodes
    MilliGpu used{0};            // by the project (or department) named in `scope`
    MilliGpu bound{0};           // its quota, limit or fair share, as the cause says
    int tasks_asked = 0;
    int tasks_fit = 0;           // of the gang, placeable at once right now
    MilliGpu largest_free{0};    // idle GPUs on the best single node
    // Where memory is asked for: of each GPU, and what the one nearest to having room has left.
    MilliGpu compute_asked{0};
    Bytes memory_asked{0};
    MilliGpu compute_left{0};
    Bytes memory_left{0};
    // Where a bound of CPU or memory decided, as `asks`, `used` and `bound`: milli-cores or bytes.
    std::int64_t host_asks = 0;
    std::int64_t host_used = 0;
    std::int64_t host_bound = 0;
    std::string scope;  // the project, department, domain or node that decided
    std::string what = {};  // the resource, label, taint or level meant
    std::string group = {};  // of the tasks meant, when it is not the whole gang
    TimePoint at = {};  // when this was true
    std::optional<TimePoint> until = {};  // when time alone changes it
    std::vector<JobId> blockers = {};  // who holds what it needs, most relevant first, at most 8
    int position = 0;  // 1 = next in its project
    std::optional<Suggestion> suggestion = {};  // when it was asked for and there is one

    void because(Cause why) {
        cause = why;
        reason = reason_of(why);
    }

    bool operator==(const Verdict&) const = default;
};

}  // namespace berth::model
