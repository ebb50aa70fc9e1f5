// SPDX-License-Identifier: Apache-2.0
//
// What was a job, and when? Folds the events of one job into spans of its life.
//
// Trusts: the events of one job, in order, as lifecycle::check accepted them. Where the first is
// not its submission, the spans begin with what the first says; earlier is not known.
// Guarantees: spans have no gap, are in order and longer than nothing, but for the last; the last
// is what the state says of the job (src/lifecycle/apply.h); however the events come in parts,
// the spans are the same. Keeps the kSpansMax newest. Cost of an event: O(tasks of the job).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/answer/job_timeline.h"
#include "model/event.h"

namespace berth::timeline {

inline constexpr std::size_t kSpansMax = 500;

// Whether a job in that state has GPUs, or a place to run.
bool has_place(model::JobState state);

class Spans {
  public:
    Spans() = default;
    // At most that number of nodes of a span are named.
    explicit Spans(std::size_t nodes_max) : nodes_max_(nodes_max) {}

    void read(const model::Event& event);

    // Spans and times until `now`; no sentence and nothing expected.
    model::JobTimeline timeline(model::TimePoint now) const;
    // The same spans where they are; the last has no end.
    const std::deque<model::Span>& list() const { return spans_; }
    std::int64_t left_out() const { return left_out_; }  // earlier ones

  private:
    friend class Reading;  // what each event means

    void note(const model::Event& event, model::TimePoint at);
    void close(model::TimePoint at);
    bool is_resizing() const;

    std::size_t nodes_max_ = model::kSpanNodesMax;
    std::deque<model::Span> spans_;
    std::int64_t left_out_ = 0;
    model::JobTimeline sums_;  // of spans that have ended

    model::Span now_;  // as of the last event
    model::Span pause_;  // the pause that was asked for last
    std::int64_t at_risk_gpu_ms_ = 0;  // by it
    std::vector<model::TaskPlacement> tasks_;
    std::vector<int> releasing_;  // ranks among them
    int started_tasks_ = 0;
    int tasks_max_ = 0;  // ranks from here on are its companions'
    model::Elastic elastic_ = model::Elastic::Live;
};

}  // namespace berth::timeline
