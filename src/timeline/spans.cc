// SPDX-License-Identifier: Apache-2.0
#include "timeline/spans.h"

#include <algorithm>
#include <utility>

namespace berth::timeline {

using model::JobState;
using model::Span;

// What an event makes of the job, as far as a span says it; every method is one event's meaning.
class Reading {
  public:
    Reading(Spans& spans, const model::Event& event) : spans_(spans), event_(event) {}

    // Of other things than one job.
    void operator()(const auto&) {}

    void operator()(const model::JobSubmitted& submitted) {
        spans_.elastic_ = submitted.spec.elastic;
        spans_.tasks_max_ = submitted.spec.tasks_max;
        become(JobState::Queued);
    }
    void operator()(const model::JobStarting& starting) {
        const bool grows = !spans_.tasks_.empty();
        spans_.tasks_.insert(spans_.tasks_.end(), starting.tasks.begin(), starting.tasks.end());
        now().attempt = starting.attempt;
        if (spans_.is_resizing()) return;
        if (!grows) spans_.started_tasks_ = static_cast<int>(spans_.tasks_.size());
        become(JobState::Starting);
        now().rule = starting.rule;
    }
    void operator()(const model::JobRunning&) {
        const auto rule = now().rule;
        become(JobState::Running);
        now().rule = rule;
    }
    void operator()(const model::JobResized& resized) {
        free_releasing();
        spans_.started_tasks_ = static_cast<int>(spans_.tasks_.size());
        become(JobState::Starting);
        now().attempt = resized.attempt;
        now().is_saved = resized.saved;
        now().lost_gpu_ms = resized.lost_gpu_ms;
    }
    void operator()(const model::JobSizeSet& set) {
        std::erase_if(spans_.tasks_, [&](const model::TaskPlacement& task) {
            return std::ranges::find(set.ended, task.task) != set.ended.end();
        });
        const auto in_order = [](const auto& one, const auto& other) {
            return one.task < other.task;
        };
        std::ranges::sort(spans_.tasks_, in_order);
        // Its companions stay behind all that it wants.
        const int before = std::exchange(spans_.tasks_max_, set.tasks);
        int rank = 0;
        for (model::TaskPlacement& task : spans_.tasks_) {
            const bool is_companion = task.task >= before;
            task.task = is_companion ? task.task + set.tasks - before : rank++;
        }
        spans_.started_tasks_ =
            std::min(spans_.started_tasks_, static_cast<int>(spans_.tasks_.size()));
    }
    void operator()(const model::JobRequestSet& set) {
        if (!set.tasks.empty()) spans_.tasks_ = set.tasks;
    }
    void operator()(const model::PauseRequested& request) {
        Span& pause = spans_.pause_ = {};
        pause.rule = request.rule;
        pause.beneficiary = request.beneficiary;
        pause.actor = event_.actor;
        spans_.at_risk_gpu_ms_ = request.cost.unsaved_gpu_ms;
        if (!request.whole_job) {
            spans_.releasing_.insert(spans_.releasing_.end(), request.tasks.begin(),
                                     request.tasks.end());
            return;
        }
        release_all();
        become_paused(JobState::Pausing);
    }
    void operator()(const model::JobPaused& paused) {
        free_releasing();
        if (!spans_.tasks_.empty()) return;
        spans_.started_tasks_ = 0;
        spans_.pause_.is_saved = paused.saved;
        spans_.pause_.lost_gpu_ms = paused.saved ? 0 : spans_.at_risk_gpu_ms_;
        spans_.pause_.reason = paused.detail;
        become_paused(JobState::Paused);
    }
    void operator()(const model::JobParked&) {
        leave_gpus();
        spans_.pause_ = {};
        spans_.pause_.rule = model::Rule::Park;
        spans_.pause_.actor = event_.actor;
        spans_.pause_.is_saved = true;
        become_paused(JobState::Paused);
        now().is_parked = true;
    }
    void operator()(const model::JobWoken&) { now().is_parked = false; }
    void operator()(const model::JobHeld&) { now().is_on_hold = true; }
    void operator()(const model::JobReleased&) { now().is_on_hold = false; }
    void operator()(const model::CancelRequested& cancel) {
        release_all();
        become(JobState::Cancelling);
        now().reason = cancel.reason;
    }
    void operator()(const model::JobFinished& finished) {
        leave_gpus();
        become(finished.state);
        now().reason = finished.detail;
    }
    void operator()(const model::AttemptLost& lost) {
        leave_gpus();
        become(JobState::Queued);
        now().is_parked = false;
        now().reason = lost.detail;
    }

  private:
    Span& now() { return spans_.now_; }

    // Nothing of what brought it about is as before.
    void become(JobState state) {
        Span fresh;
        fresh.state = state;
        fresh.is_on_hold = now().is_on_hold;
        fresh.is_parked = now().is_parked;
        fresh.attempt = now().attempt;
        fresh.actor = event_.actor;
        now() = std::move(fresh);
    }

    void become_paused(JobState state) {
        become(state);
        const Span& pause = spans_.pause_;
        now().rule = pause.rule;
        now().beneficiary = pause.beneficiary;
        now().actor = pause.actor;
        now().is_saved = pause.is_saved;
        now().lost_gpu_ms = pause.lost_gpu_ms;
        now().reason = pause.reason;
    }

    void release_all() {
        spans_.releasing_.clear();
        for (const auto& task : spans_.tasks_) spans_.releasing_.push_back(task.task);
    }
    void free_releasing() {
        std::erase_if(spans_.tasks_, [&](const model::TaskPlacement& task) {
            return std::ranges::find(spans_.releasing_, task.task) != spans_.releasing_.end();
        });
        spans_.releasing_.clear();
    }
    void leave_gpus() {
        spans_.tasks_.clear();
        spans_.releasing_.clear();
        spans_.started_tasks_ = 0;
    }

    Spans& spans_;
    const model::Event& event_;
};

bool has_place(JobState state) {
    return state != JobState::Queued && state != JobState::Paused && !model::is_final(state);
}

namespace {

void add(model::JobTimeline& sums, const Span& span, model::TimePoint until) {
    const model::Duration time = until - span.from;
    if (has_place(span.state)) {
        sums.ran += time;
    } else {
        (span.state == JobState::Queued ? sums.waited : sums.paused) += time;
    }
}

void place(Span& span, const std::vector<model::TaskPlacement>& tasks, std::size_t nodes_max) {
    span.nodes.clear();
    span.node_gpus.clear();
    for (const model::TaskPlacement& task : tasks) {
        // Most tasks are beside the one before them.
        const auto found = std::ranges::find(span.nodes.rbegin(), span.nodes.rend(), task.node);
        if (found != span.nodes.rend()) {
            span.node_gpus[static_cast<std::size_t>(span.nodes.rend() - found) - 1] += task.gpus();
        } else if (span.nodes.size() < nodes_max) {
            span.nodes.push_back(task.node);
            span.node_gpus.push_back(task.gpus());
        }
    }
}

}  // namespace

bool Spans::is_resizing() const {
    const bool runs = now_.state == JobState::Starting || now_.state == JobState::Running;
    const bool has_more = static_cast<int>(tasks_.size()) > started_tasks_;
    return runs && elastic_ == model::Elastic::Restart && started_tasks_ > 0 &&
           (has_more || !releasing_.empty());
}

void Spans::read(const model::Event& event) {
    std::visit(Reading{*this, event}, event.body);
    now_.tasks = static_cast<int>(tasks_.size());
    now_.gpus = {};
    for (const model::TaskPlacement& task : tasks_) now_.gpus += task.gpus();
    place(now_, tasks_, nodes_max_);
    const auto* finished = std::get_if<model::JobFinished>(&event.body);
    note(event, finished != nullptr ? finished->ended.value_or(event.time) : event.time);
}

// The job is now_ from `at` on.
void Spans::note(const model::Event& event, model::TimePoint at) {
    at = std::min(at, event.time);
    if (!spans_.empty()) {
        Span& last = spans_.back();
        now_.from = last.from;
        if (now_ == last) return;
        at = std::max(at, last.from);
        if (at > last.from) {
            close(at);
        } else {
            spans_.pop_back();
        }
    }
    now_.from = at;
    spans_.push_back(now_);
    if (spans_.size() <= kSpansMax) return;
    spans_.pop_front();
    ++left_out_;
}

void Spans::close(model::TimePoint at) {
    spans_.back().to = at;
    add(sums_, spans_.back(), at);
}

model::JobTimeline Spans::timeline(model::TimePoint now) const {
    model::JobTimeline timeline = sums_;
    timeline.now = now;
    timeline.left_out = left_out_;
    timeline.spans.assign(spans_.begin(), spans_.end());
    if (timeline.spans.empty()) return timeline;
    const Span& last = timeline.spans.back();
    if (!model::is_final(last.state)) add(timeline, last, std::max(now, last.from));
    return timeline;
}

}  // namespace berth::timeline
