// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/forecast.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scheduling/decide.h"
#include "scheduling/plan_apply.h"

namespace berth::scheduling {
namespace {

using base::JobId;
using cluster::Cluster;
using cluster::Job;
using model::Duration;
using model::Evidence;
using model::Plan;
using model::TimePoint;

constexpr std::int64_t kForecastWork =
    1'000'000;  // jobs and nodes looked at by all decisions together

class Future {
  public:
    Future(Cluster cluster, const model::Policy& policy, TimePoint now, const Pace& pace)
        : cluster_(std::move(cluster)), policy_(policy), now_(now), pace_(pace) {
        for (const auto& [id, job] : cluster_.jobs()) {
            if (job.active > 0) end_in(id, pace.work(id));
            if (job.is_releasing()) leaving_.insert({left_at(job), id});
        }
    }

    Forecast run(const ForecastBounds& bounds, std::span<const JobId> wanted) {
        Forecast forecast;
        std::set<JobId> missing(wanted.begin(), wanted.end());
        const TimePoint end = now_ + bounds.horizon;
        for (int count = 0; count < bounds.decisions; ++count) {
            const Plan plan = decide_on(cluster_, policy_, now_);
            carry_out(plan, forecast);
            for (const model::Start& start : plan.starts) missing.erase(start.job);
            forecast.until = now_;
            if (missing.empty()) return forecast;
            const auto next = next_change(plan);
            if (!next || *next > end) {
                forecast.until = end;
                return forecast;
            }
            now_ = *next;
            let_leave();
            let_end(forecast);
        }
        return forecast;
    }

  private:
    using Agenda = std::set<std::pair<TimePoint, JobId>>;

    TimePoint left_at(const Job& job) const {
        return now_ + job.pause_grace.value_or(policy_.pause_grace) * pace_.grace_halves / 2;
    }

    void end_in(JobId id, std::optional<Duration> work) {
        if (!work) return;
        ends_[id] = now_ + *work;
        ending_.insert({now_ + *work, id});
    }

    std::optional<TimePoint> next_change(const Plan& plan) const {
        std::optional<TimePoint> next;
        const auto consider = [&](TimePoint time) { next = std::min(next.value_or(time), time); };
        if (!ending_.empty()) consider(std::max(ending_.begin()->first, now_));
        if (!leaving_.empty()) consider(std::max(leaving_.begin()->first, now_));
        if (plan.next_wakeup && *plan.next_wakeup > now_) consider(*plan.next_wakeup);
        return next;
    }

    void let_leave() {
        for (; !leaving_.empty() && leaving_.begin()->first <= now_;
             leaving_.erase(leaving_.begin())) {
            const Job* job = cluster_.find_job(leaving_.begin()->second);
            if (job == nullptr) continue;
            std::vector<int> ranks;
            for (const auto& task : job->placed) {
                if (task.is_releasing) ranks.push_back(task.place.task);
            }
            cluster_.vacate(job->id, ranks);
            if (job->placed.empty()) cluster_.set_waiting(job->id, now_);
        }
    }

    void let_end(Forecast& forecast) {
        for (; !ending_.empty() && ending_.begin()->first <= now_; ending_.erase(ending_.begin())) {
            const JobId id = ending_.begin()->second;
            std::vector<int> ranks;
            for (const auto& task : cluster_.job(id).placed) ranks.push_back(task.place.task);
            cluster_.vacate(id, ranks);
            if (cluster_.job(id).reservation) cluster_.drop_reservation(id);
            cluster_.remove_job(id);
            ends_.erase(id);
            forecast.ends.emplace_back(now_, id);
        }
    }

    void carry_out(const Plan& plan, Forecast& forecast) {
        std::set<JobId> begin;  // the others grow
        for (const model::Start& start : plan.starts) {
            if (cluster_.job(start.job).active == 0) begin.insert(start.job);
        }
        scheduling::carry_out(cluster_, plan);
        for (const model::Pause& pause : plan.pauses) leave(pause.job);
        for (const model::Move& move : plan.moves) leave(move.job);
        for (const JobId job : begin) {
            cluster_.set_started(job, now_);
            forecast.starts.emplace(job, now_);
            const auto rest = work_left_.find(job);
            end_in(job, rest == work_left_.end() ? pace_.work(job) : rest->second);
        }
    }

    void leave(JobId id) {
        cluster_.set_paused(id, now_);
        leaving_.insert({left_at(cluster_.job(id)), id});
        const auto end = ends_.find(id);
        if (cluster_.job(id).active > 0 || end == ends_.end()) return;
        work_left_[id] = end->second - now_ + cluster_.job(id).restart_cost;
        ending_.erase({end->second, id});
        ends_.erase(end);
    }

    Cluster cluster_;
    const model::Policy& policy_;
    TimePoint now_;
    const Pace& pace_;
    Agenda ending_;
    Agenda leaving_;
    std::map<JobId, TimePoint> ends_;
    std::map<JobId, Duration> work_left_;  // of those paused meanwhile
};

// A slower pace can start a job earlier: others stay away longer too.
model::StartEstimate band(std::span<const Forecast, 3> forecasts, JobId job, TimePoint until) {
    std::array<std::optional<TimePoint>, 3> starts;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const auto found = forecasts[i].starts.find(job);
        if (found != forecasts[i].starts.end()) {
            starts[i] = found->second;
        } else {
            until = std::min(until, forecasts[i].until);
        }
    }
    std::ranges::sort(starts, [](const auto& a, const auto& b) { return a && (!b || *a < *b); });
    return {starts[0], starts[1], starts[2], until};
}

void depend_on(model::StartEstimate& estimate, JobId job, const model::RunTime& run) {
    estimate.after = job;
    estimate.has_run = run.has_run;
    estimate.evidence = run.evidence;
}

// The only job that ends when it starts.
void add_cause(model::StartEstimate& estimate, const Forecast& forecast, const Work& work) {
    const auto at = std::ranges::equal_range(forecast.ends, *estimate.expected, {},
                                             &std::pair<TimePoint, JobId>::first);
    if (at.size() == 1) depend_on(estimate, at.begin()->second, work(at.begin()->second));
}

// The last job that ends before it starts and of which nothing is known.
void add_doubt(model::StartEstimate& estimate, const Forecast& guess, JobId job, const Work& work) {
    const auto start = guess.starts.find(job);
    if (start == guess.starts.end()) return;
    for (const auto& [at, ended] : guess.ends) {
        const model::RunTime run = work(ended);
        if (at <= start->second && run.evidence == Evidence::None) depend_on(estimate, ended, run);
    }
}

}  // namespace

ForecastBounds bounds_for(const Cluster& cluster) {
    const auto size = static_cast<std::int64_t>(cluster.jobs().size() + cluster.nodes().size());
    ForecastBounds bounds;
    bounds.decisions =
        static_cast<int>(std::clamp<std::int64_t>(kForecastWork / (size + 1), 8, 1000));
    return bounds;
}

Forecast forecast(Cluster cluster, const model::Policy& policy, TimePoint now, const Pace& pace,
                  const ForecastBounds& bounds, std::span<const JobId> wanted) {
    return Future(std::move(cluster), policy, now, pace).run(bounds, wanted);
}

std::map<JobId, model::StartEstimate> estimate_starts(const Cluster& cluster,
                                                      const model::Policy& policy, TimePoint now,
                                                      const Work& work,
                                                      const ForecastBounds& bounds,
                                                      std::span<const JobId> wanted) {
    std::array<Forecast, 3> forecasts;  // half, as expected, double
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        const int doublings = 1 << i;
        const auto known = [&](JobId job) -> std::optional<Duration> {
            const model::RunTime run = work(job);
            if (run.evidence == Evidence::None) return {};
            return run.left * doublings / 2;
        };
        const Pace pace{known, doublings / 2};
        forecasts[i] = forecast(cluster, policy, now, pace, bounds, wanted);
    }
    std::map<JobId, model::StartEstimate> estimates;
    std::vector<JobId> missing;
    for (const JobId job : wanted) {
        estimates[job] = band(forecasts, job, now + bounds.horizon);
        if (estimates[job].expected) add_cause(estimates[job], forecasts[1], work);
        if (!estimates[job].optimistic) missing.push_back(job);
    }
    const auto is_unknown = [&](const auto& entry) {
        return work(entry.first).evidence == Evidence::None;
    };
    if (missing.empty() || std::ranges::none_of(cluster.jobs(), is_unknown)) return estimates;
    const Pace guessed{[&](JobId job) { return work(job).left; }, 1};
    const Forecast guess = forecast(cluster, policy, now, guessed, bounds, missing);
    for (const JobId job : missing) add_doubt(estimates[job], guess, job, work);
    return estimates;
}

std::string estimate_text(const model::StartEstimate& estimate, TimePoint now,
                          const std::function<std::string(JobId)>& name_of) {
    const auto in = [&](TimePoint time) { return base::format(std::max(time - now, Duration{0})); };
    if (estimate.evidence == Evidence::None) {
        const std::string run = estimate.has_run > Duration{0}
                                    ? "has run " + base::format(estimate.has_run)
                                    : "has not run yet";
        return "unknown: depends on " + name_of(estimate.after) + ", which " + run +
               ", and too few jobs like it have ended";
    }
    const std::string bound = in(estimate.until);
    if (!estimate.optimistic) return "does not start within " + bound;
    if (!estimate.expected)
        return "may start in " + in(*estimate.optimistic) + ", not within " + bound +
               " as things go";
    const std::string band = in(*estimate.optimistic) + " to " +
                             (estimate.pessimistic ? in(*estimate.pessimistic) : "over " + bound);
    const std::string when =
        estimate.after.is_valid() ? ", when " + name_of(estimate.after) + " ends" : "";
    return "starts in " + in(*estimate.expected) + " (" + band + ")" + when;
}

}  // namespace berth::scheduling
