// SPDX-License-Identifier: Apache-2.0
//
// How does an event change the state? The job state machine, and nothing with an effect.
//
//   queued -> starting -> running -> succeeded | failed
//     ^                      |
//     |                   pausing -> paused -> (starting ...)     paused waits like queued
//     +-- attempt lost ------+
//   a job that moves is pausing, then paused, with its new place promised to it all the time
//   pausing -> paused -> starting with the same attempt: a job that is frozen, its processes alive
//   and off their GPUs, goes on with them on its node (docs/adr/0015)
//   running -> paused: parked, frozen in the same way but unasked; in line when it wakes
//   any but the final ones -> [cancelling ->] cancelled
//   running -> starting: with another number of tasks, for a job that has to stop for it
//
// Trusts: an event that check() accepted. Guarantees: the same log gives the same state;
// attained service never shrinks (I12). Cost of one event: O(tasks it moves x log jobs).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/paged_map.h"
#include "base/result.h"
#include "cluster/cluster.h"
#include "ledger/ledger.h"
#include "ledger/waits.h"
#include "lifecycle/profiles.h"
#include "model/event.h"
#include "model/policy/policy.h"
#include "model/record.h"

namespace berth::lifecycle {

struct State {
    cluster::Cluster cluster;
    base::PagedMap<model::JobId, model::JobRecord> jobs;  // those not final
    model::JobId last_job{0};
    std::vector<std::string> incarnations;  // of the log, in order; none before version 3
    std::int64_t sequence = 0;
    model::TimePoint time;
    std::array<std::int64_t, model::kJobStateNames.size()> counts{};  // of jobs, by state
    Profiles profiles;
    std::set<model::JobId> sharing;  // those of `jobs` that may share a GPU
    model::PolicyChanges policy;  // what people have set; of those that decide
    ledger::Ledger ledger;
    ledger::Waits waits;

    std::int64_t& count(model::JobState of) { return counts[static_cast<std::size_t>(of)]; }
};

// Whether `event` is possible now. Errors: NotFound, Exists, Conflict, Invalid; nothing changes.
base::Status check(const State& state, const model::EventBody& event);

// Folds one event into the state. Returns the final record when the event ended a job, which
// then leaves the state. Aborts on an event that check() refuses.
std::optional<model::JobRecord> apply(State& state, const model::Event& event);
// The same for an event that may be impossible. Errors: those of check(); nothing changes.
base::Result<std::optional<model::JobRecord>> try_apply(State& state, const model::Event& event);

// The GPU time the job has had up to `now`. Tasks that are asked to leave still hold their GPUs and
// still count.
std::int64_t attained_gpu_ms(const model::JobRecord& record, model::TimePoint now);
// Tells the cluster what GPU time the job has had by its record.
void restore_attained(State& state, const model::JobRecord& record);

// What the policy says of a new job where that says nothing.
void fill_in(model::JobSpec& spec, const model::Policy& policy);
// The incarnation of the log in which the job's attempt began; empty = before the first.
std::string incarnation_of(const State& state, const model::JobRecord& record);
// Tells the cluster whether the job may run: not when a user paused it, it is parked or cancelled.
void leave_or_join_line(State& state, const model::JobRecord& record);

// Keeps whether it saves when it is asked to leave.
void set_saves_when_asked(State& state, model::JobRecord& record, bool saves);

// Tells the cluster of the node to which its processes bind a job that is frozen, and of the host
// memory that they and what was on the GPUs take there.
void stay_where_frozen(State& state, const model::JobRecord& record);

// Puts nodes where their labels do not say; before any work is on them.
void restore_places(State& state, const std::vector<model::NodePlace>& places);

model::Snapshot snapshot(const State& state);
State restore(const model::Snapshot& snapshot);

// Days since the epoch, UTC.
std::int64_t day_of(model::TimePoint time);

// "queued", "running" ... the one spelling used by CLI, API and log.
std::string_view name(model::JobState state);

}  // namespace berth::lifecycle
