// SPDX-License-Identifier: Apache-2.0
//
// What people see of a job, waiting, running or long finished, and the whole state of a server as
// plain data for snapshots of the event log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/answer/order_account.h"
#include "model/answer/order_ledger.h"
#include "model/job/gpu_profile.h"
#include "model/job/idle_warning.h"
#include "model/job/job.h"
#include "model/job/pause_way.h"
#include "model/ledger.h"
#include "model/plan.h"
#include "model/policy/policy_settings.h"
#include "model/project.h"

namespace berth::model {

// Why a job is, or was last, being paused: the receipt.
struct PauseReceipt {
    TimePoint time;
    Rule rule = Rule::Reclaim;
    JobId beneficiary;                  // not valid when a user asked
    std::string actor;
    PauseCost cost;                     // as foreseen
    TimePoint deadline;
    std::optional<TimePoint> stopped;   // when it had left its GPUs
    bool saved = false;
    bool is_wasteful = false;           // it counts against the pool's waste budget
    std::optional<Frozen> frozen = {};  // paused by checkpoint
    std::string detail = {};            // what the machine said of it
    std::optional<OrderReceipt> order = {};  // for a job of its project that goes before it
};

// Unsaved work that pauses destroyed in one pool on one day; pauses still under way count as
// foreseen. The owner's own returns are not in it.
struct WasteLedger {
    std::string pool;
    std::int64_t day = 0;               // days since the epoch, UTC
    std::int64_t gpu_ms = 0;
};

// The GPU time that a project had in a pool: cluster/jobs/past_use.h.
struct UseLedger {
    std::string project;
    std::string pool;
    MilliGpu held{0};
    TimePoint settled;
    TimePoint began;
    std::int64_t first_period = 0;
    std::vector<std::int64_t> milli_gpu_ms;
};

struct JobRecord {
    JobId id;
    JobSpec spec;
    std::string user;
    std::string command;                // for people, shortened
    JobState state = JobState::Queued;
    bool held = false;
    TimePoint created;
    TimePoint waiting_since;            // last put in line: submitted, paused, lost or resumed
    std::optional<TimePoint> first_start;
    std::optional<TimePoint> last_start;
    std::optional<TimePoint> last_checkpoint;
    std::optional<TimePoint> finished;
    int attempts = 0;
    int incarnation = 0;                // of the log in which its attempt began; 0 = before any
    int pauses = 0;
    bool saves_when_asked = false;      // it did when tasks of it left last
    int losses = 0;                     // attempts that were lost through no doing of its own
    std::int64_t attained_gpu_ms = 0;   // service received; never lost by a pause
    TimePoint settled;                  // up to when attained_gpu_ms counts
    std::int64_t lost_gpu_ms = 0;       // unsaved work destroyed by pauses
    GpuTimes milli_gpu_ms;              // what its GPUs did, once it has ended; before: ledger/
    int exit_code = 0;
    std::string detail;
    std::vector<TaskPlacement> tasks;   // running or being freed
    std::vector<int> releasing;         // ranks among them that are being freed
    std::vector<TaskPlacement> frozen;  // where its processes were, alive and off their GPUs since
    std::optional<TimePoint> parked_since;  // it asks for no GPU until it makes a call to one
    PauseWay pause_way;
    int started_tasks = 0;  // how many its processes know of; 0 without any
    std::vector<TaskPlacement> reserved;  // GPUs promised to it
    std::optional<TimePoint> hold_deadline;
    Rule hold_rule = Rule::Reclaim;
    std::optional<PauseReceipt> last_pause;
    bool is_parted = false;  // it shares its GPU no more: JobsParted
    std::string escaped = {};  // what its newest attempt used beside its share: JobEscaped
    std::optional<IdleWarning> idle = {};  // while it runs
    std::optional<TimePoint> kept_until = {};  // it may be idle: JobKept
    std::string ended_for = {};  // why the machine ends it: CancelRequested
    std::optional<TaskRequest> submitted_request = {};  // where it asks for something else now
    std::optional<TaskRequest> next_request = {};  // once it has left its GPUs: JobRequestSet
    std::optional<TimePoint> stale_since;  // it runs, with fewer tasks than its minimum

    // Whether its processes have to stop, and start again with the tasks it will have then.
    bool is_resizing() const {
        const bool runs = state == JobState::Starting || state == JobState::Running;
        const bool has_more = static_cast<int>(tasks.size()) > started_tasks;
        return runs && spec.elastic == Elastic::Restart && started_tasks > 0 &&
               (has_more || !releasing.empty());
    }
    // Whether its processes are those of all its tasks, and all of them leave or none.
    bool is_of_one_piece() const {
        return static_cast<int>(tasks.size()) == started_tasks &&
               (releasing.empty() || releasing.size() == tasks.size());
    }
};

struct Snapshot {
    std::int64_t sequence = 0;  // of the last event folded into it
    TimePoint time;
    JobId last_job{0};  // the highest id ever given
    std::vector<std::string> incarnations;  // of the log, in order
    Levels levels = default_levels();
    std::vector<Pool> pools;
    std::vector<Node> nodes;  // in the order in which NodeIds were given
    std::vector<NodePlace> places;  // of those that stand where their labels do not say
    std::vector<Project> projects;
    std::vector<JobRecord> jobs;  // those not final, by id
    std::vector<WasteLedger> waste;  // of pools where anything was wasted
    std::vector<UseLedger> use;  // of projects that ever ran anything
    std::vector<ProfileLedger> profiles;
    PolicyChanges policy;  // what people have set
    OrderLedger order;
    LedgerBook ledger;
};

}  // namespace berth::model
