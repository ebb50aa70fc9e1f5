// SPDX-License-Identifier: Apache-2.0
//
// What was a job, from one moment to the next, and what is it expected to be? Made by src/timeline
// from the events of its log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/answer/start_estimate.h"
#include "model/job/job.h"
#include "model/plan.h"

namespace berth::model {

// Of its nodes the first are named.
inline constexpr std::size_t kSpanNodesMax = 8;

// A time in which nothing of this changed.
struct Span {
    JobState state = JobState::Queued;
    bool is_on_hold = false;  // until a user resumes it
    bool is_parked = false;
    TimePoint from;
    std::optional<TimePoint> to;  // none: it still is
    int attempt = 0;  // 0 = before the first
    int tasks = 0;  // that have a place, those that are asked to leave among them
    MilliGpu gpus{0};  // of these tasks
    std::vector<NodeId> nodes;
    std::vector<MilliGpu> node_gpus;  // on each of them
    std::optional<Rule> rule;  // by which it was started, or is paused
    JobId beneficiary;  // for which it is paused; not valid for none
    std::string actor;  // that caused it to be so
    bool is_saved = false;  // of a pause: its work was
    std::int64_t lost_gpu_ms = 0;  // unsaved work that the pause destroyed
    std::string reason;  // what the machine said of it; may be empty

    bool operator==(const Span&) const = default;
};

// A moment to come, by three forecasts; none: not known, or later than was looked.
struct Band {
    std::optional<TimePoint> optimistic;
    std::optional<TimePoint> expected;
    std::optional<TimePoint> pessimistic;

    bool operator==(const Band&) const = default;
};
struct ExpectedSpan {
    JobState state = JobState::Running;
    Band from;
    Band to;

    bool operator==(const ExpectedSpan&) const = default;
};

struct JobTimeline {
    std::string sentence;  // how it is with the job, and what comes next
    TimePoint now;
    std::vector<Span> spans;  // in order, each begins where the one before it ends
    std::int64_t left_out = 0;  // earlier spans, for which an answer has no room
    // Of its whole life so far, spans that are left out among it.
    Duration waited{0};
    Duration ran{0};  // with GPUs, or with a place to run
    Duration paused{0};
    std::vector<ExpectedSpan> expected;  // begins now; empty: not known
    Evidence evidence = Evidence::None;  // of the time that it still runs
};

}  // namespace berth::model
