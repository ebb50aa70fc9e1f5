// SPDX-License-Identifier: Apache-2.0
//
// What a job asks for and where it stands. A job is a gang: `tasks_min` tasks start together or
// not at all; up to `tasks_max` run when GPUs idle.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/job/topology_request.h"
#include "model/node/node.h"

namespace berth::model {

using base::JobId;
using base::NodeId;

enum class JobKind : std::uint8_t {
    Build,      // interactive: not preemptible, never above quota
    Train,      // batch: preemptible, may run above quota
    Inference,  // serving: not preemptible
};
inline constexpr std::array<std::string_view, 3> kJobKindNames{"build", "train", "inference"};

inline constexpr int kNotPreemptibleFrom = 100;  // default: priorities from here on

// The default priority of each kind: train 50, build 100, inference 125.
constexpr int default_priority(JobKind kind) {
    return kind == JobKind::Train ? 50 : kind == JobKind::Build ? 100 : 125;
}

// How a running job comes to have more or fewer tasks; docs/adr/0008.
enum class Elastic : std::uint8_t {
    Live,  // tasks come and go one by one, the others go on
    Restart,  // all are stopped, having saved, and started again with their new number
    Grow,  // it starts with all it wants, gains tasks one by one, and leaves as a whole
};
inline constexpr std::array<std::string_view, 3> kElasticNames{"live", "restart", "grow"};

// What each task asks for, all of it on one node.
struct TaskRequest {
    int gpus = 1;  // how many GPUs; 0 = a task without a GPU
    MilliGpu share{1000};  // of each of them; 1000 = whole GPUs
    // Memory on each GPU, instead of whole GPUs or beside a share of its time; 0 = not used.
    Bytes gpu_memory{0};
    // It may borrow up to so much in all of what others leave unused; 0 = nothing. No decision
    // counts it.
    Bytes gpu_memory_max{0};
    // It never gets more of the time of a GPU that it shares, whatever others leave unused; 0 = it
    // may have all of that. No decision counts it.
    MilliGpu cap{0};
    std::optional<MilliCpu> cpu = {};  // none = the node's share per GPU
    std::optional<Bytes> memory = {};  // host memory; none = the node's share per GPU
    Resources resources = {};  // other ones, but pods: each task is one

    bool operator==(const TaskRequest&) const = default;
    bool is_whole() const { return share == base::kWholeGpu && gpu_memory == Bytes{0}; }
};

// Of one GPU: thousandths of its time, and bytes of the memory that its driver leaves. What a task
// takes of each of its GPUs, or what one has left. Memory is 0 where it is not counted apart: of
// GPUs that belong to another program, and on nodes that do not say how much there is.
struct GpuPart {
    MilliGpu compute{0};
    Bytes memory{0};

    bool operator==(const GpuPart&) const = default;
    GpuPart operator+(const GpuPart& other) const {
        return {compute + other.compute, memory + other.memory};
    }
    GpuPart operator-(const GpuPart& other) const {
        return {compute - other.compute, memory - other.memory};
    }
    GpuPart operator*(std::int64_t factor) const { return {compute * factor, memory * factor}; }
    bool fits_in(const GpuPart& room) const {
        return compute <= room.compute && memory <= room.memory;
    }
};

// What a task takes of each of its GPUs on such a node. A share alone is one of the memory as well;
// memory alone, the driver's context beside it, is that part of the time as well, rounded down.
// Nothing when a GPU of the node is too small for it, or its share of the memory for the context.
std::optional<GpuPart> part_of(const TaskRequest& request, const Node& node);

// What the driver leaves of the memory of a GPU of the node; 0 = not said.
Bytes memory_left_by_driver(const Node& node);
// Thousandths of `all`, rounded down; 0 when `all` is not known.
MilliGpu part_rounded_down(Bytes part, Bytes all);
MilliGpu part_rounded_up(Bytes part, Bytes all);

// "0.5"; where compute and memory are different parts of the GPU, "0.2+60G".
std::string format_part(const GpuPart& part, MilliGpu memory_share);

// What a task counts as for each of its GPUs on such a node: the larger of both parts, since
// no other job can use more than is left of it.
std::optional<MilliGpu> share_of(const TaskRequest& request, const Node& node);

inline constexpr int kTasksMax = 100'000;  // of one job

// Tasks that a gang needs beside its own: a driver, a launcher, an evaluator on another GPU. They
// start and leave with it, and ask something else (model/job/companions.h).
struct Companion {
    std::string name;
    int count = 1;
    TaskRequest request{.gpus = 0};  // of each
    std::string gpu_model = {};  // empty = any; where it may run is its own affair, as the next
    Labels node_labels = {};
    NodeFilter node_filter = {};
    std::vector<Toleration> tolerations = {};

    bool operator==(const Companion&) const = default;
};

struct JobSpec {
    std::string name;
    std::string project;
    JobKind kind = JobKind::Train;
    int priority = default_priority(JobKind::Train);
    bool preemptible = true;
    std::vector<std::string> pools;  // in order of preference; empty = the default pool
    int tasks_min = 1;  // where there are groups, the sums of theirs
    int tasks_max = 1;
    Elastic elastic = Elastic::Live;  // when tasks_max is above tasks_min
    TaskRequest request;
    bool may_share = false;  // its GPU, with another job, once it is measured (model/job/packing.h)
    std::optional<GpuPart> packed;  // what it counts as then; never said by people
    std::string gpu_model;  // empty = any
    Labels node_labels;  // the node must carry all of them
    NodeFilter node_filter = {};  // and satisfy that
    std::vector<Toleration> tolerations = {};
    TopologyRequest topology;
    std::vector<Companion> companions = {};  // their ranks follow those of its tasks
    Placement placement = Placement::Auto;
    // The largest tensor's part of the model, as a profiler has measured it; parts per million.
    std::optional<std::int64_t> tensor_skew_ppm;
    std::optional<Duration> min_run;  // overrides the policy's
    std::optional<Duration> expected_runtime;  // of one run, declared; nothing is ended by it
    // No job is preempted for it before this wait (rule R12); none = its project's.
    std::optional<Duration> preemption_delay;
    // How long it may stay below its minimum (rule R10); none = the policy's, negative = for ever.
    std::optional<Duration> stale_grace;
    Duration restart_cost{0};  // measured or declared: what one pause costs each GPU
    std::optional<Duration> pause_grace;  // to save when it is asked to leave; none = the policy's
    // Without a call to its GPUs for this time it is parked (docs/adr/0020); negative = never.
    std::optional<Duration> park_after;

    bool operator==(const JobSpec&) const = default;
};

// One state machine for every host; the arrows are in lifecycle/apply.h.
enum class JobState {
    Queued,  // waits for GPUs
    Starting,  // GPUs are its own, processes are being started
    Running,
    Pausing,  // asked to save and stop; still holds its GPUs
    Paused,  // stopped with its place in line; resumes by itself unless a user paused it
    Cancelling,  // asked to stop for good; still holds its GPUs
    Succeeded,
    Failed,
    Cancelled,
};

// In that order; the one spelling in files, API, command line and log.
inline constexpr std::array<std::string_view, 9> kJobStateNames{
    "queued",     "starting",  "running", "pausing",  "paused",
    "cancelling", "succeeded", "failed",  "cancelled"};

constexpr bool is_final(JobState state) { return state >= JobState::Succeeded; }

// Where one task of a gang is, or will be: GPUs as a bit set of indices on the node.
struct TaskPlacement {
    int task = 0;  // rank in the gang, from 0
    NodeId node;
    std::uint64_t gpu_mask = 0;
    MilliGpu share{0};  // of the time of each GPU in the mask
    MilliCpu cpu{0};
    Bytes memory{0};
    Bytes gpu_memory{0};  // of each GPU in the mask, as in GpuPart
    MilliGpu memory_share{0};  // what that is of a GPU's memory, rounded up

    bool operator==(const TaskPlacement&) const = default;
    GpuPart part() const { return {share, gpu_memory}; }
    // What its GPUs count as together, of each the larger part.
    MilliGpu gpus() const { return std::max(share, memory_share) * std::popcount(gpu_mask); }
};

}  // namespace berth::model
