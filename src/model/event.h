// SPDX-License-Identifier: Apache-2.0
//
// Everything that ever happens to a cluster, as facts. The state of a server is the fold of its
// event log (lifecycle/apply.h); nothing else changes it. docs/adr/0003.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/cluster_event.h"
#include "model/job/gpu_profile.h"
#include "model/job/idle_warning.h"
#include "model/job/job.h"
#include "model/job/pause_way.h"
#include "model/plan.h"

namespace berth::model {

struct JobSubmitted {
    JobId job;
    JobSpec spec;
    std::string user;
    std::string command;  // for people, shortened
    std::string key = {};  // the submission asked for again under it is this one; empty = none
};
// The processes of these tasks may be started. Written before anything is started.
struct JobStarting {
    JobId job;
    int attempt = 1;  // counts starts of the whole gang, from 1
    Rule rule = Rule::Allocate;
    std::vector<TaskPlacement> tasks;
};
// All its started processes run, or run again where they were frozen.
struct JobRunning {
    JobId job;
    PauseWay pause_way = {};  // unknown = as before
};
struct JobReserved {
    JobId job;
    Rule rule = Rule::Reclaim;
    TimePoint deadline;
    std::vector<TaskPlacement> tasks;
};
struct ReservationDropped {
    JobId job;
};
struct PauseRequested {
    JobId job;
    Rule rule = Rule::Reclaim;
    JobId beneficiary;  // not valid when a user asked
    PauseCost cost;
    TimePoint deadline;  // killed then
    bool whole_job = true;
    std::vector<int> tasks;
    bool is_wasteful = false;  // counts against the pool's waste budget
    std::optional<PauseSides> sides = {};  // just before it
};
// The tasks asked to pause have left their GPUs.
struct JobPaused {
    JobId job;
    bool saved = false;  // it stopped by itself within the grace, or is frozen
    std::string detail = {};  // what the machine said of it
    std::optional<Frozen> frozen = {};  // its processes live and are its next start
};
// All its processes have ended so that it can go on with another number of tasks
// (Elastic::Restart): those asked to leave are gone, the next attempt may start on what it holds.
struct JobResized {
    JobId job;
    int attempt = 1;  // the next one
    bool saved = false;  // it stopped by itself within the grace
    std::int64_t lost_gpu_ms = 0;  // unsaved work that this destroyed
};
// From now on it wants this number of tasks. Ended ones leave, the others have ranks from 0 again,
// in their order. While it has a place it grows (Elastic::Grow), else it starts with all.
struct JobSizeSet {
    JobId job;
    int tasks = 1;
    std::vector<int> ended = {};  // their ranks
};
// Each of its own tasks asks for this from now on, also where it runs: as many GPUs there, another
// part of each.
struct JobRequestSet {
    JobId job;
    TaskRequest request;
    bool requeue = false;  // not before it has left its GPUs
    std::string key = {};  // asked for again under it, it is done; empty = none
    std::vector<TaskPlacement> tasks = {};  // as they count then, where it runs: for who reads logs
};
// It made no call to its GPUs for as long as it said, and was taken off them with its processes
// alive. It asks for none until it wakes.
struct JobParked {
    JobId job;
    Frozen frozen;
};
// A parked job makes a call to its GPUs again, or a user resumed it.
struct JobWoken {
    JobId job;
};
struct JobHeld {
    JobId job;
};  // a user asked that it shall not run
struct JobReleased {
    JobId job;
};  // a user lifted that
struct CheckpointSaved {
    JobId job;
};
struct CancelRequested {
    JobId job;
    TimePoint deadline;
    // Why the machine ends it, which is then a failure; empty = a user asked.
    std::string reason = {};
};
struct JobFinished {
    JobId job;
    JobState state = JobState::Succeeded;  // Succeeded, Failed or Cancelled
    int exit_code = 0;  // 128 + signal when a signal ended it
    std::string detail;
    std::optional<TimePoint> ended = {};  // before this event, as no server was there
};
// The attempt ended through no doing of the job's; it waits again.
struct AttemptLost {
    JobId job;
    std::string detail;
};

// What its attempt took of the GPUs that it shared.
struct JobMeasured {
    JobId job;
    GpuProfile profile;
};
// Packed on one GPU the two got less done than one after the other would: `job` shares no more.
struct JobsParted {
    JobId job;
    JobId beside;
};
// Its GPUs do nothing, and it is warned of what follows.
struct JobIdle {
    JobId job;
    IdleWarning warning;
};
// They did something again, or it may be idle now.
struct JobBusy {
    JobId job;
};
// A user keeps it: until then it is not warned.
struct JobKept {
    JobId job;
    TimePoint until;
};
// What was seen of its attempt's GPUs since that was last written down.
struct JobUsed {
    JobId job;
    Duration busy{0};  // kernels ran, as its GPUs' mean
    Duration measured{0};  // of that time
};
// A process of its attempt uses a GPU beside its share. Once for each attempt.
struct JobEscaped {
    JobId job;
    std::string detail;  // for people: which process, what it holds
};

using EventBody =
    std::variant<LevelsSet, PoolSet, NodeSet, ProjectSet, JobSubmitted, JobStarting, JobRunning,
                 JobReserved, ReservationDropped, PauseRequested, JobPaused, JobHeld, JobReleased,
                 CheckpointSaved, CancelRequested, JobFinished, AttemptLost, JobResized,
                 JobMeasured, JobsParted, NodeMoved, JobParked, JobWoken, PoolRemoved, PolicySet,
                 ProjectRemoved, LogBegun, JobEscaped, NodeUsedByOthers, JobSizeSet, JobRequestSet,
                 JobIdle, JobBusy, JobKept, JobUsed>;

// The key under which it was asked for, where it has one, and the job that it is about.
struct EventKey {
    std::string_view key;
    JobId job;
};
inline EventKey key_of(const EventBody& body) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&body))
        return {submitted->key, submitted->job};
    if (const auto* set = std::get_if<JobRequestSet>(&body)) return {set->key, set->job};
    return {};
}

struct Event {
    std::int64_t sequence = 0;  // 1, 2, 3 ... without gaps
    TimePoint time;
    std::string actor;  // "scheduler", "machine" or a user name
    EventBody body;
};

}  // namespace berth::model
