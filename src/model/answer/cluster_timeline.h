// SPDX-License-Identifier: Apache-2.0
//
// What were all jobs in some time, and what are they expected to be? Made by src/timeline from the
// log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/answer/job_timeline.h"

namespace berth::model {

// What a picture shows of a span; the timeline of its job has the rest.
struct PastSpan : Span {};

// One job, as far as it touches that time.
struct JobSpans {
    std::int64_t id = 0;
    std::string name;
    std::string project;
    std::string user;
    JobState state = JobState::Queued;  // now
    MilliGpu gpus{0};  // the most that it had at once
    std::vector<PastSpan> spans;  // in order, whole: also what lies before and behind that time
    std::int64_t left_out = 0;  // earlier spans, which are no longer known
    std::vector<ExpectedSpan> expected;  // begins now; empty: not known, or not asked for
    Evidence evidence = Evidence::None;  // of the time that it still runs
};

// What happened in that time.
struct SpanCounts {
    std::int64_t jobs = 0;  // that had GPUs, or a place, or waited
    std::int64_t starts = 0;
    std::int64_t pauses = 0;
    std::int64_t parkings = 0;  // idle jobs that were taken off their GPUs
    std::int64_t ends = 0;
    std::int64_t failures = 0;  // of them
    std::int64_t lost_gpu_ms = 0;  // unsaved work that pauses destroyed

    bool operator==(const SpanCounts&) const = default;
};

// One page, by the numbers of jobs.
struct ClusterTimeline {
    std::string sentence;  // what happened, and what comes next
    TimePoint from;
    TimePoint to;
    TimePoint now;
    std::optional<TimePoint> known_from;  // earlier spans may be missing; none: all are known
    SpanCounts counts;  // of all pages
    std::vector<JobSpans> items;
    std::string next;  // asks for the page behind this one, as `after`; empty: this is the last
};

}  // namespace berth::model
