// SPDX-License-Identifier: Apache-2.0
//
// A cluster written down: what `berth plan --state FILE` reads, what scenarios build and what a
// bug report carries. Unless `as_listed`, order in the lists does not matter: every tie is broken
// by `created` fields and names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/answer/order_ledger.h"
#include "model/job/gpu_profile.h"
#include "model/job/job.h"
#include "model/node/node.h"
#include "model/policy/policy_settings.h"
#include "model/project.h"

namespace berth::model {

// Promised: it starts there when the present holders have left. Frozen: off its GPUs, its processes
// alive on that node, where alone it goes on.
enum class TaskState { Pending, Running, Releasing, Promised, Frozen };

struct TaskDescription {
    TaskState state = TaskState::Pending;
    std::string node;  // where, unless pending
    std::vector<int> gpu_indices;  // on that node; empty = any, chosen when the cluster is built
};

struct JobDescription {
    JobSpec spec;
    TimePoint created;
    std::optional<TimePoint> waiting_since;  // last put in line; none = when it was created
    std::optional<TimePoint> last_start;
    std::optional<TimePoint> last_checkpoint;
    std::optional<TimePoint> last_pause;
    bool saves_when_asked = false;  // it did when tasks of it left last
    std::optional<TimePoint> stale_since;  // below its minimum; none = since it started
    std::optional<Duration> attained;  // GPU time it has had; none = that of its present run
    int pauses = 0;  // so far
    int losses = 0;  // attempts that were lost in a row
    bool held = false;  // a user paused it
    std::optional<TimePoint> parked_since;  // it asks for no GPU until it makes a call to one
    Bytes frozen_gpu_memory{0};  // of frozen tasks, kept in host memory besides their own
    std::optional<TimePoint> promised_until;  // how long promised tasks are kept for it
    std::vector<TaskDescription> tasks;  // by rank; those not listed are pending
};

// A job that moves has left none of its places yet and is promised others: these stand behind those
// in the list, from rank 0 again; likewise where it is frozen and promised its GPUs again. Returns
// how many stand before what is promised; 0 = nothing does.
std::size_t places_before_promise(const JobDescription& job);

struct Description {
    TimePoint now;
    bool as_listed = false;  // nodes and jobs keep the order of the lists
    std::string profile = "berth";  // that decides
    PolicyChanges policy;  // what is set otherwise than the profile says
    Levels levels = default_levels();
    std::vector<Pool> pools;
    std::vector<Node> nodes;
    std::vector<NodePlace> places;  // of those that stand where their labels do not say
    std::vector<Project> projects;
    std::vector<ProfileLedger> profiles;  // of jobs that may share GPUs
    std::vector<JobDescription> jobs;
    // What the order remembers, jobs by their place in the list, from 1; none = learned anew.
    std::optional<OrderLedger> order;
};

}  // namespace berth::model
