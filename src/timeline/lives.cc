// SPDX-License-Identifier: Apache-2.0
#include "timeline/lives.h"

#include <algorithm>

namespace berth::timeline {
namespace {

using model::JobState;
using model::Span;

// The job that the event is about; not valid for other things.
model::JobId job_of(const model::EventBody& body) {
    return std::visit(
        []<typename Event>(const Event& event) -> model::JobId {
            if constexpr (requires { event.job; }) {
                return event.job;
            } else {
                return {};
            }
        },
        body);
}

bool is_within(model::TimePoint time, const SpansAsked& asked) {
    return time >= asked.from && time < asked.to;
}

// How a job ended lasts no time: it touches the time in which it came about.
bool touches(const Span& span, const SpansAsked& asked) {
    if (model::is_final(span.state)) return is_within(span.from, asked);
    return span.from < asked.to && (!span.to || *span.to > asked.from);
}

bool is_on(const Span& span, const SpansAsked& asked) {
    return !asked.node || std::ranges::find(span.nodes, *asked.node) != span.nodes.end();
}

// What the span began, within the time. `before` is null for the first.
void count(model::SpanCounts& counts, const Span* before, const Span& span,
           const SpansAsked& asked) {
    if (!is_within(span.from, asked)) return;
    const bool had_place = before != nullptr && has_place(before->state);
    if (has_place(span.state) && !had_place) ++counts.starts;
    const bool is_new_pause = before == nullptr || before->state != JobState::Paused;
    if (span.state == JobState::Paused && is_new_pause) {
        ++(span.is_parked ? counts.parkings : counts.pauses);
        counts.lost_gpu_ms += span.lost_gpu_ms;
    }
    if (!model::is_final(span.state)) return;
    ++counts.ends;
    if (span.state == JobState::Failed) ++counts.failures;
}

}  // namespace

void Lives::read(const model::Event& event) {
    if (begins_late_ && !known_from_) known_from_ = event.time;
    const model::JobId id = job_of(event.body);
    if (!id.is_valid()) return;
    const auto* submitted = std::get_if<model::JobSubmitted>(&event.body);
    // Of a job whose submission was not read neither name nor project are known.
    if (submitted == nullptr && !jobs_.contains(id)) return;
    Life& life = jobs_[id];
    if (submitted != nullptr) {
        life.name = submitted->spec.name;
        life.project = submitted->spec.project;
        life.user = submitted->user;
    }
    life.spans.read(event);
    const Span& now = life.spans.list().back();
    life.gpus = std::max(life.gpus, now.gpus);
    if (!model::is_final(now.state)) return;
    ended_.insert({now.from, id});
    if (ended_.size() > kEndedKept) forget_oldest();
}

void Lives::forget_oldest() {
    const auto& [time, id] = *ended_.begin();
    known_from_ = std::max(known_from_.value_or(time), time);
    jobs_.erase(id);
    ended_.erase(ended_.begin());
}

model::ClusterTimeline Lives::page(const SpansAsked& asked) const {
    model::ClusterTimeline page;
    page.from = asked.from;
    page.to = asked.to;
    if (known_from_ && *known_from_ > asked.from) page.known_from = known_from_;
    std::size_t spans = 0;
    bool is_full = false;
    for (const auto& [id, life] : jobs_) {
        const std::deque<Span>& all = life.spans.list();
        const bool is_asked = (asked.project.empty() || life.project == asked.project) &&
                              (asked.user.empty() || life.user == asked.user);
        const bool is_found = is_asked && std::ranges::any_of(all, [&](const Span& span) {
                                  return touches(span, asked) && is_on(span, asked);
                              });
        if (!is_found) continue;
        ++page.counts.jobs;
        for (std::size_t i = 0; i < all.size(); ++i) {
            count(page.counts, i == 0 ? nullptr : &all[i - 1], all[i], asked);
        }
        if (id <= asked.after) continue;
        if (is_full) {
            page.next = std::to_string(page.items.back().id);
            continue;
        }
        model::JobSpans job{.id = id.value,
                            .name = life.name,
                            .project = life.project,
                            .user = life.user,
                            .state = all.back().state,
                            .gpus = life.gpus,
                            .spans = {},
                            .left_out = life.spans.left_out(),
                            .expected = {},
                            .evidence = model::Evidence::None};
        for (const Span& span : all) {
            if (touches(span, asked)) job.spans.push_back({span});
        }
        spans += job.spans.size();
        page.items.push_back(std::move(job));
        is_full = page.items.size() >= asked.jobs_max || spans >= asked.spans_max;
    }
    return page;
}

std::string Lives::name_of(model::JobId job) const {
    const auto found = jobs_.find(job);
    return found == jobs_.end() ? "" : found->second.project + "/" + found->second.name;
}

}  // namespace berth::timeline
