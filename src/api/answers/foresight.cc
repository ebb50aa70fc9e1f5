// SPDX-License-Identifier: Apache-2.0
#include "api/answers/foresight.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "scheduling/explain/order_account.h"
#include "scheduling/explain/outlook.h"

namespace berth::api {
namespace {

// A list may take only a part of the decisions that one job's estimate may. On a cluster so large
// that too few are left of them for anything to happen, lists have no estimates.
constexpr int kListPart = 4;
constexpr int kListDecisionsMin = 10;

}  // namespace

// A copy of all that an answer depends on, and room for the answer.
struct ForesightDesk::Question {
    cluster::Cluster cluster;
    model::Policy policy;
    model::TimePoint now;
    std::unordered_map<model::JobId, model::RunTime> work;
    std::int64_t sequence = 0;

    model::Verdict verdict;
    model::JobSpec spec;
    std::vector<model::JobId> wanted;
    scheduling::ForecastBounds bounds;

    std::optional<model::TimePoint> due;  // by the wait of the only one wanted

    scheduling::Outlook outlook;
    bool is_bound_true = true;
    std::map<model::JobId, model::StartEstimate> estimates;

    scheduling::Work work_left() const {
        return [this](model::JobId job) { return work.at(job); };
    }
};

void ForesightDesk::renew(model::TimePoint now) {
    const bool is_old = now - made_ >= kEstimateLasts;
    if (controller_.state().sequence == sequence_ && !is_old) return;
    sequence_ = controller_.state().sequence;
    known_.clear();
    listed_.clear();
    if (!is_old) return;
    made_ = now;
    run_times_ = {};
    ports::FinishedQuery query;
    query.limit = kEndedLearnedFrom;
    if (const auto ended = store_.finished_jobs(query)) {
        for (const model::JobRecord& record : *ended) run_times_.learn(record);
    }
}

model::RunTime ForesightDesk::run_time(const model::JobRecord& job) {
    const model::TimePoint now = std::max(clock_.now(), controller_.state().time);
    renew(now);
    return run_times_.left(job, now);
}

std::shared_ptr<ForesightDesk::Question> ForesightDesk::question(model::TimePoint now) const {
    const lifecycle::State& state = controller_.state();
    auto question = std::make_shared<Question>();
    question->cluster = state.cluster;
    question->policy = controller_.policy();
    question->now = now;
    question->sequence = sequence_;
    question->work.reserve(state.jobs.size());
    for (const auto& [id, record] : state.jobs) {
        question->work.emplace(id, run_times_.left(record, now));
    }
    return question;
}

void ForesightDesk::estimate(Views jobs, std::function<void(Views)> done) {
    const model::TimePoint now = std::max(clock_.now(), controller_.state().time);
    renew(now);
    const auto answer = [this](Views& views) {
        for (codec::JobView& job : views) {
            const auto found = listed_.find(job.id);
            if (job.verdict && found != listed_.end()) job.foresight = {{}, found->second};
        }
    };
    std::vector<model::JobId> wanted;
    for (const codec::JobView& job : jobs) {
        if (job.verdict && !listed_.contains(job.id)) wanted.push_back(job.id);
    }
    scheduling::ForecastBounds bounds = scheduling::bounds_for(controller_.state().cluster);
    bounds.decisions /= kListPart;
    if (wanted.empty() || bounds.decisions < kListDecisionsMin) {
        answer(jobs);
        return done(std::move(jobs));
    }
    auto asked = question(now);
    asked->wanted = std::move(wanted);
    asked->bounds = bounds;
    auto views = std::make_shared<Views>(std::move(jobs));
    const bool is_taken = background_(
        [asked] {
            asked->estimates =
                scheduling::estimate_starts(asked->cluster, asked->policy, asked->now,
                                            asked->work_left(), asked->bounds, asked->wanted);
        },
        [this, asked, views, answer, done] {
            if (asked->sequence == sequence_) {
                listed_.merge(asked->estimates);
            }
            answer(*views);
            done(std::move(*views));
        });
    if (!is_taken) done(std::move(*views));
}

void ForesightDesk::add_known(codec::JobView& job) const {
    const auto found = known_.find(job.id);
    if (found == known_.end()) return;
    job.verdict->suggestion = found->second.suggestion;
    job.foresight = {{}, found->second.estimate};
    if (job.order && !found->second.is_bound_true) job.order->due.reset();
}

void ForesightDesk::complete(codec::JobView job, std::function<void(codec::JobView)> done) {
    if (!job.verdict) return done(std::move(job));
    const model::TimePoint now = std::max(clock_.now(), controller_.state().time);
    renew(now);
    if (known_.contains(job.id)) {
        add_known(job);
        return done(std::move(job));
    }
    auto asked = question(now);
    asked->verdict = *job.verdict;
    asked->spec = job.spec;
    if (job.order) asked->due = job.order->due;
    auto view = std::make_shared<codec::JobView>(std::move(job));
    const auto work = [asked] {
        asked->outlook = scheduling::outlook(asked->cluster, asked->policy, asked->now,
                                             asked->verdict, asked->spec, asked->work_left());
        if (asked->due) {
            asked->is_bound_true =
                scheduling::is_due_by(asked->cluster, asked->verdict.job, *asked->due);
        }
    };
    const auto then = [this, asked, view, done] {
        const Known found{asked->outlook.suggestion, asked->outlook.estimate, asked->is_bound_true};
        if (asked->sequence == sequence_) known_.insert_or_assign(view->id, found);
        view->verdict->suggestion = found.suggestion;
        view->foresight = {{}, found.estimate};
        if (view->order && !found.is_bound_true) view->order->due.reset();
        done(std::move(*view));
    };
    if (!background_(work, then)) done(std::move(*view));
}

}  // namespace berth::api
