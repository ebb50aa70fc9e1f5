// SPDX-License-Identifier: Apache-2.0
//
// Is what a timeline says of a job what the state says of it, at every event?
//   timelines [--first SEED] [--seeds N]
// In random lives (random_log.h), after each event: the last span is the job's state now; spans
// have no gap, are in order and longer than nothing; waited, ran and paused are together the time
// since it was submitted. At the end the same spans come from the text of the log, read in two
// parts, as by a server that was restarted in between. All jobs read together have the spans that
// each has by itself (lives.h), which sum to the GPU time that the ledger says of the job.
#include <algorithm>
#include <bit>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codec/log/event_log.h"
#include "random_log.h"
#include "seeds.h"
#include "timeline/lives.h"
#include "timeline/receipts.h"
#include "timeline/spans.h"

namespace {

using namespace berth;
using model::JobState;

constexpr int kSteps = 80;
constexpr std::uint64_t kSeedsThatMeetAll = 200;

class Findings {
  public:
    explicit Findings(std::string where) : where_(std::move(where)) {}

    void wanted(bool holds, const std::string& what) {
        if (!holds) found_.push_back(where_ + ": " + what);
    }
    std::vector<std::string> found() const { return found_; }

  private:
    std::string where_;
    std::vector<std::string> found_;
};

void compare(Findings& findings, const model::Span& span, const model::JobRecord& job) {
    findings.wanted(span.state == job.state, "is " + std::string(lifecycle::name(span.state)) +
                                                 ", the state says " +
                                                 std::string(lifecycle::name(job.state)));
    findings.wanted(span.is_on_hold == job.held, "on hold, or not");
    findings.wanted(span.is_parked == job.parked_since.has_value(), "parked, or not");
    findings.wanted(span.attempt == job.attempts, "attempt " + std::to_string(span.attempt));
    findings.wanted(
        span.tasks == static_cast<int>(job.tasks.size()),
        std::to_string(span.tasks) + " tasks, the state says " + std::to_string(job.tasks.size()));
    model::MilliGpu gpus{0};
    for (const model::TaskPlacement& task : job.tasks) gpus += task.gpus();
    // What such a job counts as changes with what others were found to take.
    if (!job.spec.may_share) findings.wanted(span.gpus == gpus, "other GPUs");
}

void compare(Findings& findings, const model::JobReceipts& receipts, const model::JobRecord& job) {
    findings.wanted(receipts.items.empty() != job.last_pause.has_value(), "a receipt, or not");
    if (receipts.items.empty() || !job.last_pause) return;
    const model::PastPause& newest = receipts.items.front();
    findings.wanted(newest.time == job.last_pause->time && newest.rule == job.last_pause->rule &&
                        newest.stopped == job.last_pause->stopped &&
                        newest.saved == job.last_pause->saved,
                    "the newest receipt is not the last pause");
    std::int64_t lost = 0;
    for (const model::PastPause& pause : receipts.items) lost += pause.lost_gpu_ms;
    findings.wanted(
        receipts.left_out > 0 || lost == job.lost_gpu_ms,
        std::to_string(lost) + " GPU-ms lost, the state says " + std::to_string(job.lost_gpu_ms));
}

void check_order(Findings& findings, const model::JobTimeline& timeline) {
    for (std::size_t i = 1; i < timeline.spans.size(); ++i) {
        const model::Span& before = timeline.spans[i - 1];
        findings.wanted(before.to == timeline.spans[i].from, "a gap");
        findings.wanted(before.from < timeline.spans[i].from, "a span of no time");
    }
    findings.wanted(!timeline.spans.back().to, "the last span has ended");
}

struct Job {
    timeline::Spans spans;
    timeline::Receipts receipts;
    model::TimePoint submitted;
    std::vector<std::string> texts;
};

std::vector<std::string> check(const Job& known, const lifecycle::State& state,
                               const model::Event& event, model::JobId id) {
    Findings findings("event " + std::to_string(event.sequence) + ", job " +
                      std::to_string(id.value));
    const model::JobTimeline timeline = known.spans.timeline(event.time);
    if (timeline.spans.empty()) return {"job without spans"};
    check_order(findings, timeline);
    const auto job = state.jobs.find(id);
    const bool lives = job != state.jobs.end();
    findings.wanted(lives != model::is_final(timeline.spans.back().state), "lives, or not");
    if (lives) compare(findings, timeline.spans.back(), job->second);
    if (lives) compare(findings, known.receipts.receipts(), job->second);
    const model::TimePoint until = lives ? event.time : timeline.spans.back().from;
    findings.wanted(timeline.waited + timeline.ran + timeline.paused == until - known.submitted,
                    "its times are not its life");
    return findings.found();
}

std::string spans_text(const timeline::Spans& spans, model::TimePoint now) {
    std::string text;
    for (const model::Span& span : spans.timeline(now).spans) {
        text += std::string(lifecycle::name(span.state)) + " " +
                std::to_string(base::to_ms(span.from)) + " " + std::to_string(span.gpus.value) +
                " " + std::to_string(span.lost_gpu_ms) + " " + span.reason + "\n";
    }
    return text;
}

// By a server that starts again with the event number `cut`.
std::string read_in_parts(const std::vector<std::string>& log, std::size_t cut,
                          model::TimePoint now) {
    timeline::Spans first;
    for (std::size_t i = 0; i < cut; ++i) first.read(*codec::parse_event(log[i]));
    timeline::Spans second = first;
    for (std::size_t i = cut; i < log.size(); ++i) second.read(*codec::parse_event(log[i]));
    return spans_text(second, now);
}

// Thousandths of GPUs for a millisecond. That a job had ended while no server was there was heard
// later: until then the ledger goes on.
std::int64_t gpu_time(const std::vector<model::PastSpan>& spans, model::TimePoint heard) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const bool is_last = i + 1 == spans.size() || model::is_final(spans[i + 1].state);
        const model::TimePoint until = is_last ? heard : *spans[i].to;
        sum += spans[i].gpus.value * (until - spans[i].from).count();
    }
    return sum;
}

class Lives {
  public:
    Lives(std::uint64_t seed, std::map<std::string, int>& met)
        : rng_(seed), met_(met), log_(seed, [this](const model::Event& event) { read(event); }) {}

    std::vector<std::string> play() {
        for (int step = 0; step < kSteps && found_.empty(); ++step) log_.go_on();
        for (const auto& [id, job] : jobs_) {
            if (!found_.empty()) break;
            const auto cut = static_cast<std::size_t>(rng_.between(0, std::ssize(job.texts)));
            const bool is_same =
                read_in_parts(job.texts, cut, last_) == spans_text(job.spans, last_);
            if (!is_same) found_.push_back("job " + std::to_string(id.value) + ": read anew");
        }
        if (found_.empty()) check_all();
        return found_;
    }

  private:
    // All jobs at once are as each is by itself, and have had what the ledger says.
    void check_all() {
        timeline::SpansAsked asked;
        asked.to = last_ + model::Duration{1};
        asked.spans_max = SIZE_MAX;
        const model::ClusterTimeline all = lives_.page(asked);
        if (all.items.size() != jobs_.size()) found_.push_back("not all jobs are on the page");
        const lifecycle::State& state = log_.state();
        for (const model::JobSpans& job : all.items) {
            const model::JobId id{job.id};
            Findings findings("job " + std::to_string(job.id));
            const auto by_itself = jobs_.at(id).spans.timeline(last_);
            findings.wanted(is_same(job.spans, by_itself.spans), "together it has other spans");
            const auto ended = ended_.find(id);
            const bool lives = ended == ended_.end();
            const std::int64_t wanted =
                lives ? state.ledger.times(id, last_).sum() : ended->second.gpu_time;
            const std::int64_t found = gpu_time(job.spans, lives ? last_ : ended->second.heard);
            findings.wanted(
                found == wanted || other_.contains(id),
                std::to_string(found) + " of GPU time, the ledger says " + std::to_string(wanted));
            for (std::string& finding : findings.found()) found_.push_back(std::move(finding));
        }
    }

    static bool is_same(const std::vector<model::PastSpan>& together,
                        const std::vector<model::Span>& alone) {
        // Of a wide gang a timeline of one job names fewer nodes.
        return std::ranges::equal(together, alone, [](model::Span one, model::Span other) {
            one.nodes.resize(std::min(one.nodes.size(), other.nodes.size()));
            one.node_gpus.resize(one.nodes.size());
            return one == other;
        });
    }

    void read(const model::Event& event) {
        last_ = event.time;
        lives_.read(event);
        note_ledger(event);
        const model::JobId id = codec::job_of(event.body);
        if (!id.is_valid() || !found_.empty()) return;
        Job& job = jobs_[id];
        if (job.texts.empty()) job.submitted = event.time;
        codec::append_event(job.texts.emplace_back(), event);
        job.spans.read(event);
        job.receipts.read(event);
        found_ = check(job, log_.state(), event, id);
        const model::Span span = job.spans.timeline(event.time).spans.back();
        ++met_[std::string(lifecycle::name(span.state))];
        if (span.is_parked) ++met_["parked"];
        if (span.is_on_hold) ++met_["on hold"];
        ++met_[std::string(codec::event_type(event.body))];
    }

    void note_ledger(const model::Event& event) {
        const auto ended = lifecycle::apply(folded_, event);
        if (ended) ended_[ended->id] = {event.time, ended->milli_gpu_ms.sum()};
        const auto* submitted = std::get_if<model::JobSubmitted>(&event.body);
        // What it counts as changes with what others take.
        if (submitted != nullptr && submitted->spec.may_share) other_.insert(submitted->job);
        // It ended before things of which the log says that they happened to it.
        const auto* finished = std::get_if<model::JobFinished>(&event.body);
        if (finished != nullptr && finished->ended.value_or(event.time) <= last_of_[finished->job])
            other_.insert(finished->job);
        if (const model::JobId job = codec::job_of(event.body); job.is_valid())
            last_of_[job] = event.time;
        const auto* starting = std::get_if<model::JobStarting>(&event.body);
        if (starting != nullptr) note_parts(starting->job, starting->tasks);
        const auto* set = std::get_if<model::JobRequestSet>(&event.body);
        if (set != nullptr) note_parts(set->job, set->tasks);
    }

    // Of a part of a GPU the ledger adds up the time of it, where a span says the larger of that
    // and of its memory.
    void note_parts(model::JobId job, const std::vector<model::TaskPlacement>& tasks) {
        for (const model::TaskPlacement& task : tasks) {
            if (task.gpus().value > task.share.value * std::popcount(task.gpu_mask))
                other_.insert(job);
        }
    }

    base::Rng rng_;
    std::map<std::string, int>& met_;
    std::map<model::JobId, Job> jobs_;
    timeline::Lives lives_;
    lifecycle::State folded_;  // for what the ledger says of a job that ends
    struct Ended {
        model::TimePoint heard;
        std::int64_t gpu_time = 0;
    };
    std::map<model::JobId, Ended> ended_;
    std::map<model::JobId, model::TimePoint> last_of_;  // events of it
    std::set<model::JobId> other_;  // what they count as is not what the ledger adds up
    std::vector<std::string> found_;
    model::TimePoint last_;
    proof::RandomLog log_;
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, int> met;
    for (const char* what : {"starting", "pausing", "paused", "cancelling", "failed", "parked",
                             "attempt_lost", "job_resized", "job_size_set", "job_woken"}) {
        met[what] = 0;
    }
    std::uint64_t seeds = 0;
    bool holds = proof::holds_for_seeds(argc, argv, [&](std::uint64_t seed) {
        ++seeds;
        return Lives(seed, met).play();
    });
    if (seeds < kSeedsThatMeetAll) return holds ? 0 : 1;
    for (const auto& [what, count] : met) {
        if (count > 0) continue;
        std::cout << "never met: " << what << '\n';
        holds = false;
    }
    return holds ? 0 : 1;
}
