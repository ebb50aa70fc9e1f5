// SPDX-License-Identifier: Apache-2.0
//
// Whose turn is it in a project? Who waits, in the order in which they start, and who runs, in the
// order in which they are paused.
#pragma once

#include <map>
#include <utility>

#include "base/sorted_runs.h"
#include "cluster/jobs/job_state.h"

namespace berth::cluster {

// Jobs of one project that are alike in everything an allocation looks at, oldest first: when the
// first of them cannot start, none of them can.
struct JobClassKey {
    PriorityKey priority_key;
    int gang_phase = 0;
    ShapeId shape;
    int ask = 1;
    bool preemptible = true;
    int preference = 0;  // position of this pool in the jobs' list of pools
    model::Duration preemption_delay = kOfProject;
    std::uint32_t bound_region =
        0;  // where running tasks bind the next one (bound_region in gang.h)
    // The only job of the job class: it grows by a restart or group by group, or is frozen.
    JobId singleton;
    int minutes = 0;  // how long a run takes, rounded up; 0 = not declared

    // Greater priority first, then rule R3.
    bool operator<(const JobClassKey& other) const;
    bool operator==(const JobClassKey& other) const = default;
};
using JobClass = base::SortedRuns<std::pair<TimePoint, JobId>>;
using JobClasses = std::map<JobClassKey, JobClass>;

// Whose turn is it after how many others? 1: it is first. The job waits in these job classes.
// Cost: O(job classes of its priority and before).
int position_in_queue(const JobClasses& job_classes, const Job& job);

// Running preemptible jobs of one project, the first victim first (rule R8).
struct VictimKey {
    PriorityKey priority_key;
    int gang_phase = 0;
    TimePoint created;
    JobId job;

    bool operator<(const VictimKey& other) const;
};
inline VictimKey victim_key(const Job& job) {
    return {job.priority_key(), job.gang_phase(), job.created, job.id};
}

}  // namespace berth::cluster
