// SPDX-License-Identifier: Apache-2.0
//
// How long did demand within a quota wait? A project's waiting jobs are taken in its own order,
// higher priority first, then older. A job is within the quota while what the project holds, those
// that wait before it and the job itself ask no more than the quota, and likewise with what each of
// its departments holds and that one's quota; one that alone asks more is never within, and no job
// waits behind it, until it is a gang that may reserve (scheduling/backfill/backfill.h): then those
// behind it leave it the GPUs that it waits for. Who is asked to leave holds its GPUs, and does not
// wait, until it has left. A wait is counted without a break, from when all this became true until
// the job starts or it is no longer.
//
// Where the own order is not the jobs' age, the project's right is looked at, not that
// of any one job: its waiting jobs of the highest priority are within the quota while there is room
// in it for each of them alone, so that whichever is first should start; when one does, or a job of
// higher priority comes, the wait begins anew. Work that cannot be paused has no rank, and goes by
// age: there is room for one with those before it.
//
// Looks at nothing but the trace, the quotas and the intervals. Cost: O(log) an event and one look
// at each job within the quota.
#pragma once

#include "simulation/core/quota_accounts.h"

namespace berth::simulation {

struct InQuotaWait {
    Duration longest{};
    reference::JobIndex job = -1;  // whose it was; -1 = no job waited
    TimePoint until;
};

// Whose waits count. A job of several GPUs that have to be on one node can find its project's own
// work in its way, however little that is; of jobs that fit anywhere the core promises that none
// waits longer than the pause grace.
// Of a trace with parts of GPUs no job fits anywhere: what is
// left of two GPUs may not be one.
enum class Demand { All, FitsAnywhere };

// The longest by project, as in the cluster.
std::vector<InQuotaWait> in_quota_waits(const Accounts& accounts, const CoreExperiment& experiment,
                                        const CoreReplay& run, Demand demand);

}  // namespace berth::simulation
