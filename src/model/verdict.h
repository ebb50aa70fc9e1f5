// SPDX-License-Identifier: Apache-2.0
//
// Why a job waits: one reason of a closed list, the numbers that decided it, and who is in the
// way. The same record is shown by the CLI, the API and the dashboard.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "model/remedy.h"

namespace berth::model {

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

// The numbers behind a reason, in milli-GPU unless the field says otherwise. Which ones are
// meaningful for which reason: see explain_text() in scheduling/explain.h.
struct Verdict {
    JobId job;
    Reason reason = Reason::NotYetEvaluated;
    MilliGpu asks{0};            // to start: all tasks_min tasks, or one more task when growing
    MilliGpu idle{0};            // in the pool, on ready nodes, not promised to others
    MilliGpu capacity{0};        // of the pool, on ready nodes
    MilliGpu used{0};            // by the project (or department) named in `scope`
    MilliGpu bound{0};           // its quota, limit or fair share, as the reason says
    int tasks_asked = 0;
    int tasks_fit = 0;           // of the gang, placeable at once right now
    MilliGpu largest_free{0};    // idle GPUs on the best single node
    // Where memory is asked for: of each GPU, and what the one nearest to having room has left.
    MilliGpu compute_asked{0};
    Bytes memory_asked{0};
    MilliGpu compute_left{0};
    Bytes memory_left{0};
    std::string scope;  // the project, department or node that decided
    std::string detail;  // the resource or rule within the reason, for example "limit"
    std::string cause = {};  // in words, where the machine itself says it
    std::string group = {};  // of the tasks meant, when it is not the whole gang
    std::vector<JobId> blockers;  // who holds what it needs, most relevant first, at most 8
    int position = 0;  // 1 = next in its project
    std::optional<Remedy> remedy;  // when it was asked for and there is one

    bool operator==(const Verdict&) const = default;
};

}  // namespace berth::model
