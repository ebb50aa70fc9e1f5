// SPDX-License-Identifier: Apache-2.0
#include "simulation/core/quota_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace berth::simulation {
namespace {

using base::MilliGpu;
using reference::JobIndex;

enum class What { Frees, Waits, Takes, MayBook };

struct Step {
    TimePoint at;
    What what = What::Frees;
    JobIndex job = 0;
    MilliGpu amount{0};
};

// A project's own order: tickets count up with the time of submission.
struct InLine {
    int priority = 0;
    JobIndex job = 0;

    bool operator<(const InLine& other) const {
        return std::tuple(-priority, job) < std::tuple(-other.priority, other.job);
    }
};

std::vector<Step> steps_of(const Accounts& accounts, const CoreExperiment& experiment,
                           const CoreReplay& run) {
    std::vector<Step> steps;
    const auto waits = [&](JobIndex job, TimePoint from) {
        steps.push_back({from, What::Waits, job, MilliGpu{0}});
        steps.push_back({from + experiment.policy.backfill_after, What::MayBook, job, MilliGpu{0}});
    };
    for (std::size_t number = 0; number < experiment.trace.size(); ++number) {
        waits(static_cast<JobIndex>(number), experiment.trace[number].submitted);
    }
    for (std::size_t at = 0; at < run.replay.intervals.size(); ++at) {
        const RunInterval& interval = run.replay.intervals[at];
        const MilliGpu amount = accounts.counted(run, interval);
        steps.push_back({interval.from, What::Takes, interval.job, amount});
        steps.push_back({interval.to, What::Frees, interval.job, amount});
        const auto& end = run.replay.jobs[static_cast<std::size_t>(interval.job)].end;
        if (end != interval.to) waits(interval.job, interval.to);
    }
    std::ranges::stable_sort(
        steps, {}, [](const Step& step) { return std::tuple(step.at, step.what, step.job); });
    while (!steps.empty() && steps.back().what == What::MayBook) steps.pop_back();
    return steps;
}

// One project in one pool.
class Line {
  public:
    // `may_book`: from then on it may book GPUs that younger jobs leave it
    // (scheduling/backfill/backfill.h).
    void join(InLine who, MilliGpu asks, TimePoint may_book, bool has_rank) {
        waiting_[who] = {asks, may_book, has_rank};
    }
    void start(InLine who) {
        waiting_.erase(who);
        has_started_ = true;
    }

    // Who is within the quota now, where `room` is left in it, and the longest wait of those who
    // no longer are and `count`.
    template <typename Count>
    void look_again(TimePoint now, MilliGpu quota, MilliGpu room, bool is_by_age,
                    const Count& count, InQuotaWait& longest) {
        const bool is_anew = std::exchange(has_started_, false) && !is_by_age;
        std::map<JobIndex, TimePoint> within;
        for (const JobIndex job :
             is_by_age ? first_by_age(now, quota, room) : first_ones(quota, room)) {
            const auto known = within_since_.find(job);
            within[job] = known == within_since_.end() || is_anew ? now : known->second;
        }
        for (const auto& [job, since] : within_since_) {
            const bool goes_on = within.contains(job) && !is_anew;
            if (goes_on || now - since <= longest.longest || !count(job)) continue;
            longest = {now - since, job, now};
        }
        within_since_ = std::move(within);
    }

  private:
    struct Waiting {
        MilliGpu asks{0};
        TimePoint may_book;
        bool has_rank = false;  // in a project's order: who cannot be paused goes by age
    };

    std::vector<JobIndex> first_by_age(TimePoint now, MilliGpu quota, MilliGpu room) const {
        std::vector<JobIndex> first;
        for (const auto& [who, one] : waiting_) {
            if (one.asks > quota && one.may_book <= now) break;
            if (one.asks > quota) continue;
            room -= one.asks;
            if (room < MilliGpu{0}) break;
            first.push_back(who.job);
        }
        return first;
    }

    // Those of the highest priority, when there is room for whichever of them is first; without
    // ranks the oldest of them, while there is room for them together.
    std::vector<JobIndex> first_ones(MilliGpu quota, MilliGpu room) const {
        std::vector<JobIndex> first;
        int priority = 0;
        for (const auto& [who, one] : waiting_) {
            if (one.asks > quota) continue;
            if (first.empty()) priority = who.priority;
            if (who.priority < priority) break;
            if (one.asks > room) return one.has_rank ? std::vector<JobIndex>() : first;
            if (!one.has_rank) room -= one.asks;
            first.push_back(who.job);
        }
        return first;
    }

    std::map<InLine, Waiting> waiting_;
    std::map<JobIndex, TimePoint> within_since_;
    bool has_started_ = false;  // one of them, since it was looked at
};

// All of them.
class Lines {
  public:
    Lines(const Accounts& accounts, const CoreExperiment& experiment, Demand demand)
        : accounts_(accounts),
          experiment_(experiment),
          demand_(demand),
          all_are_whole_(std::ranges::all_of(experiment.trace, &TraceJob::is_whole)),
          longest_(accounts.cluster().projects().size()) {}

    void take(const Step& step) {
        const Account account = accounts_.account_of(step.job);
        const InLine who{model::default_priority(job(step.job).kind), step.job};
        const std::vector<Account> path = accounts_.path_of(account);
        switch (step.what) {
            case What::Waits:
                lines_[account].join(who, accounts_.asked(step.job), may_book(step),
                                     job(step.job).kind == model::JobKind::Train);
                break;
            case What::MayBook: break;
            case What::Takes: lines_[account].start(who); [[fallthrough]];
            case What::Frees:
                for (const Account& one : path) {
                    held_[one] += step.amount * (step.what == What::Takes ? 1 : -1);
                }
        }
        changed_.insert(path.back());
    }

    // When all that happens at one moment has been taken.
    void look_again(TimePoint now) {
        for (auto& [account, line] : lines_) {
            const std::vector<Account> path = accounts_.path_of(account);
            if (!changed_.contains(path.back())) continue;
            MilliGpu room = model::kUnlimited;
            for (const Account& one : path) {
                room = std::min(room, accounts_.quota_of(one) - held_[one]);
            }
            look_again(now, account, room);
        }
        changed_.clear();
    }

    std::vector<InQuotaWait> at_end(TimePoint end) {
        for (const auto& [account, line] : lines_) look_again(end, account, MilliGpu{-1});
        return std::move(longest_);
    }

  private:
    const TraceJob& job(JobIndex ticket) const {
        return experiment_.trace[static_cast<std::size_t>(ticket)];
    }

    // Above its project's quota a job that cannot be paused never starts.
    TimePoint may_book(const Step& waits) const {
        const TraceJob& of = job(waits.job);
        const bool is_gang = of.gpus > 1 && of.kind == model::JobKind::Train;
        const bool are_reserved = experiment_.policy.backfill_max > 0;
        return is_gang && are_reserved ? waits.at + experiment_.policy.backfill_after
                                       : TimePoint::max();
    }

    bool is_by_age(base::ProjectId project) const {
        return cluster::order_rules(accounts_.cluster(), project).by == model::JobOrder::Age;
    }

    void look_again(TimePoint now, Account account, MilliGpu room) {
        const auto counts = [&](JobIndex ticket) {
            if (demand_ == Demand::All) return true;
            return all_are_whole_ &&
                   (experiment_.placement == Placement::Count || job(ticket).gpus == 1);
        };
        lines_[account].look_again(now, accounts_.quota_of(account), room,
                                   is_by_age(account.project), counts,
                                   longest_[account.project.index()]);
    }

    const Accounts& accounts_;
    const CoreExperiment& experiment_;
    Demand demand_;
    bool all_are_whole_;
    std::map<Account, Line> lines_;
    std::map<Account, MilliGpu> held_;  // departments too
    std::set<Account> changed_;  // the outermost departments
    std::vector<InQuotaWait> longest_;
};

}  // namespace

std::vector<InQuotaWait> in_quota_waits(const Accounts& accounts, const CoreExperiment& experiment,
                                        const CoreReplay& run, Demand demand) {
    Lines lines(accounts, experiment, demand);
    TimePoint now;
    for (const Step& step : steps_of(accounts, experiment, run)) {
        if (step.at > now) lines.look_again(now);
        now = step.at;
        lines.take(step);
    }
    lines.look_again(now);
    return lines.at_end(now);
}

}  // namespace berth::simulation
