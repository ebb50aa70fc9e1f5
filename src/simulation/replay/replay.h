// SPDX-License-Identifier: Apache-2.0
//
// What happens to the jobs of a trace under an order that no server runs? Events in virtual time:
// submissions, ends and the changes the order announces. All that happens at one moment is taken in
// together, then GPUs are handed out once: first job first, a job that does not fit is passed over
// (unless the order says that the first blocks), a running job that gets nothing is paused.
//
// The model: a job makes progress while it holds all its GPUs, at the speed that their model, its
// partners on them (mix.h) and the nodes they are spread over leave it, full speed alone on the
// first model; starting again after a pause it holds them for `restart_cost` first, without
// progress. (Tiresias' testbed measured 62 s, Gu et al., NSDI'19, section 5.2.4; a first start
// costs nothing extra, nor does a partner that comes or goes.)
//
// Cost of an event: what it changes. While jobs wait, one look at the first waiting job of each GPU
// count; who has to be paused is looked for among the last in rank (hand_out.h). Where the order's
// ranks are in flow, all running jobs are looked at as well.
#pragma once

#include <functional>
#include <optional>

#include "reference/order.h"
#include "simulation/replay/machines.h"
#include "simulation/replay/model_choice.h"
#include "simulation/speed/mix.h"
#include "simulation/trace/trace.h"

namespace berth::simulation {

struct Experiment {
    const Trace& trace;
    Machines machines;
    Placement placement = Placement::Nodes;
    Duration restart_cost = std::chrono::seconds(60);
    Packing packing = Packing::None;
    const SpeedTable* speeds = nullptr;  // of these models; none: neither nodes nor models matter
    ModelChoice models = {};  // where there are several; no jobs share GPUs then

    // Whether it wants its GPUs together; `spread` is the part of its speed left elsewhere.
    Stand stand(Speed spread) const;
};

// One interval of a job on its GPUs, at one speed.
struct RunInterval {
    reference::JobIndex job = 0;
    TimePoint from;
    TimePoint to;
    std::size_t gpus_begin = 0;  // in Replay::gpus; as many as the job asks
    bool starts = true;  // else it goes on where the last one ended, on the same GPUs
};

struct JobRecord {
    std::optional<TimePoint> first_start;
    std::optional<TimePoint> end;
    Duration held{};  // on GPUs, restarts included
    int pauses = 0;
    int moves = 0;  // of those: it was given other GPUs as it left
};

// From `at` on, until the next.
struct Sample {
    TimePoint at;
    base::MilliGpu gpus_used{0};
    std::int32_t jobs_waiting = 0;

    bool is_like(const Sample& other) const {
        return gpus_used == other.gpus_used && jobs_waiting == other.jobs_waiting;
    }
};

struct Replay {
    std::vector<JobRecord> jobs;  // as in the trace
    std::vector<RunInterval> intervals;  // in order of their ends
    std::vector<std::int32_t> gpus;
    std::vector<Sample> timeline;
    std::int64_t events = 0;

    std::span<const std::int32_t> gpus_of(const RunInterval& interval, std::int32_t count) const {
        return {gpus.data() + interval.gpus_begin, static_cast<std::size_t>(count)};
    }
};

// How far a replay is, reported after each moment that it simulates.
struct Progress {
    std::size_t finished = 0;  // jobs
    TimePoint at;
};
using OnProgress = std::function<void(const Progress&)>;

Replay replay(const Experiment& experiment, reference::Order& order,
              const OnProgress& on_progress = {});

}  // namespace berth::simulation
