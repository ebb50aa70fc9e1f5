// SPDX-License-Identifier: Apache-2.0
#include "scheduling/forecast.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cluster/gang.h"
#include "scheduling/decide.h"
#include "scheduling/node_moves.h"

namespace berth::scheduling {
namespace {

using base::JobId;
using cluster::Cluster;
using cluster::Job;
using model::Duration;
using model::Plan;
using model::TimePoint;

constexpr std::int64_t kForecastWork =
    1'000'000;  // jobs and nodes looked at by all decisions together

class Future {
  public:
    Future(Cluster cluster, const model::Policy& policy, TimePoint now, const Pace& pace)
        : cluster_(std::move(cluster)), policy_(policy), now_(now), pace_(pace) {
        for (const auto& [id, job] : cluster_.jobs()) {
            if (job.active > 0) end_at(id, now + pace.work(id));
            if (job.is_releasing()) leaving_.insert({now + pace.pause, id});
        }
    }

    Forecast run(const ForecastBounds& bounds, std::span<const JobId> wanted) {
        Forecast forecast;
        std::set<JobId> missing(wanted.begin(), wanted.end());
        const TimePoint end = now_ + bounds.horizon;
        for (int count = 0; count < bounds.decisions; ++count) {
            move_nodes(cluster_);
            const Plan plan = decide(cluster_, policy_, now_);
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
            let_end();
        }
        return forecast;
    }

  private:
    using Agenda = std::set<std::pair<TimePoint, JobId>>;

    void end_at(JobId id, TimePoint time) {
        ends_[id] = time;
        ending_.insert({time, id});
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

    void let_end() {
        for (; !ending_.empty() && ending_.begin()->first <= now_; ending_.erase(ending_.begin())) {
            const JobId id = ending_.begin()->second;
            std::vector<int> ranks;
            for (const auto& task : cluster_.job(id).placed) ranks.push_back(task.place.task);
            cluster_.vacate(id, ranks);
            if (cluster_.job(id).hold) cluster_.drop_hold(id);
            cluster_.remove_job(id);
            ends_.erase(id);
        }
    }

    base::PoolId pool_of(JobId job, const std::vector<model::TaskPlacement>& tasks) const {
        return cluster::pool_of(cluster_, cluster_.job(job), tasks);
    }

    void carry_out(const Plan& plan, Forecast& forecast) {
        for (const JobId job : plan.dropped) cluster_.drop_hold(job);
        for (const model::Pause& pause : plan.pauses) leave(pause.job, pause.tasks);
        for (const model::Move& move : plan.moves) {
            leave(move.job, cluster_.job(move.job).ranks());
        }
        for (const model::Start& start : plan.starts) {
            if (cluster_.job(start.job).hold) cluster_.drop_hold(start.job);
            const bool is_new = cluster_.job(start.job).active == 0;
            cluster_.place(start.job, pool_of(start.job, start.tasks), start.tasks);
            if (!is_new) continue;
            cluster_.set_started(start.job, now_);
            forecast.starts.emplace(start.job, now_);
            const auto rest = work_left_.find(start.job);
            end_at(start.job,
                   now_ + (rest == work_left_.end() ? pace_.work(start.job) : rest->second));
        }
        if (!policy_.sticky_plans) return;
        const TimePoint deadline = now_ + policy_.pause_grace + policy_.hold;
        for (const model::Reservation& reservation : plan.reservations) {
            const base::PoolId pool = pool_of(reservation.job, reservation.tasks);
            cluster_.hold(reservation.job, pool, reservation.tasks, deadline, reservation.rule);
        }
        for (const model::Move& move : plan.moves) {
            cluster_.hold(move.job, pool_of(move.job, move.tasks), move.tasks, deadline, move.rule);
        }
    }

    void leave(JobId id, std::span<const int> ranks) {
        cluster_.release(id, ranks);
        cluster_.set_paused(id, now_);
        leaving_.insert({now_ + pace_.pause, id});
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
                                                      const std::function<Duration(JobId)>& work,
                                                      const ForecastBounds& bounds,
                                                      std::span<const JobId> wanted) {
    std::array<Forecast, 3> forecasts;  // half, as expected, double
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        const std::int64_t doublings = std::int64_t{1} << i;
        const Pace pace{[&](JobId job) { return Duration{work(job).count() * doublings / 2}; },
                        policy.pause_grace * (doublings / 2) / 2};
        forecasts[i] = forecast(cluster, policy, now, pace, bounds, wanted);
    }
    std::map<JobId, model::StartEstimate> estimates;
    for (const JobId job : wanted) {
        // A slower pace can start a job earlier: others stay away longer too.
        std::array<std::optional<TimePoint>, 3> starts;
        TimePoint until = now + bounds.horizon;
        for (std::size_t i = 0; i < starts.size(); ++i) {
            const auto found = forecasts[i].starts.find(job);
            if (found != forecasts[i].starts.end()) {
                starts[i] = found->second;
            } else {
                until = std::min(until, forecasts[i].until);
            }
        }
        std::ranges::sort(starts,
                          [](const auto& a, const auto& b) { return a && (!b || *a < *b); });
        estimates[job] = {starts[0], starts[1], starts[2], until};
    }
    return estimates;
}

std::string estimate_text(const model::StartEstimate& estimate, TimePoint now) {
    const auto in = [&](TimePoint time) { return base::format(std::max(time - now, Duration{0})); };
    const std::string bound = in(estimate.until);
    if (!estimate.optimistic) return "does not start within " + bound;
    if (!estimate.expected)
        return "may start in " + in(*estimate.optimistic) + ", not within " + bound +
               " as things go";
    const std::string band = in(*estimate.optimistic) + " to " +
                             (estimate.pessimistic ? in(*estimate.pessimistic) : "over " + bound);
    return "starts in " + in(*estimate.expected) + " (" + band + ")";
}

}  // namespace berth::scheduling
