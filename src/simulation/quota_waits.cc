// SPDX-License-Identifier: Apache-2.0
#include "simulation/quota_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace berth::simulation {
namespace {

using base::MilliGpu;
using ordering::Ticket;

enum class What { Frees, Waits, Takes };

struct Step {
    TimePoint at;
    What what = What::Frees;
    Ticket job = 0;
    MilliGpu amount{0};
};

// A project's own order: tickets count up with the time of submission.
struct InLine {
    int priority = 0;
    Ticket job = 0;

    bool operator<(const InLine& other) const {
        return std::tuple(-priority, job) < std::tuple(-other.priority, other.job);
    }
};

std::vector<Step> steps_of(const Accounts& accounts, const QuotaExperiment& experiment,
                           const QuotaReplay& run) {
    std::vector<Step> steps;
    for (std::size_t number = 0; number < experiment.trace.size(); ++number) {
        steps.push_back({experiment.trace[number].submitted, What::Waits,
                         static_cast<Ticket>(number), MilliGpu{0}});
    }
    for (std::size_t at = 0; at < run.replay.stays.size(); ++at) {
        const Stay& stay = run.replay.stays[at];
        const MilliGpu amount = accounts.counted(run, stay);
        steps.push_back({stay.from, What::Takes, stay.job, amount});
        steps.push_back({run.asked[at], What::Frees, stay.job, amount});
        const auto& end = run.replay.jobs[static_cast<std::size_t>(stay.job)].end;
        if (end != stay.to) {
            steps.push_back({stay.to, What::Waits, stay.job, MilliGpu{0}});
        }
    }
    std::ranges::stable_sort(
        steps, {}, [](const Step& step) { return std::tuple(step.at, step.what, step.job); });
    return steps;
}

// One project in one pool.
class Line {
  public:
    void take(const Step& step, int priority, const Accounts& accounts) {
        MilliGpu& held = held_[priority];
        switch (step.what) {
            case What::Frees: held -= step.amount; break;
            case What::Takes:
                held += step.amount;
                waiting_.erase({priority, step.job});
                break;
            case What::Waits: waiting_[{priority, step.job}] = accounts.asked(step.job); break;
        }
    }

    // Who is within the quota now, and the longest wait of those who no longer are and `count`.
    template <typename Count>
    void look_again(TimePoint now, MilliGpu quota, const Count& count, InQuotaWait& longest) {
        std::map<Ticket, TimePoint> within;
        MilliGpu before{0};
        for (const auto& [who, asks] : waiting_) {
            if (asks > quota) continue;
            before += asks;
            if (held_for(who.priority) + before > quota) break;
            const auto known = within_since_.find(who.job);
            within[who.job] = known == within_since_.end() ? now : known->second;
        }
        for (const auto& [job, since] : within_since_) {
            if (within.contains(job) || now - since <= longest.longest || !count(job)) continue;
            longest = {now - since, job, now};
        }
        within_since_ = std::move(within);
    }

    // Nobody is within any more.
    template <typename Count>
    void close(TimePoint now, const Count& count, InQuotaWait& longest) {
        waiting_.clear();
        look_again(now, MilliGpu{0}, count, longest);
    }

  private:
    MilliGpu held_for(int priority) const {
        MilliGpu sum{0};
        for (const auto& [own, held] : held_) {
            if (own >= priority) sum += held;
        }
        return sum;
    }

    std::map<InLine, MilliGpu> waiting_;  // and what it asks
    std::map<int, MilliGpu> held_;  // by priority
    std::map<Ticket, TimePoint> within_since_;
};

}  // namespace

std::vector<InQuotaWait> in_quota_waits(const Accounts& accounts, const QuotaExperiment& experiment,
                                        const QuotaReplay& run, Demand demand) {
    const auto counts = [&](Ticket job) {
        return demand == Demand::All || experiment.placement == Placement::Count ||
               experiment.trace[static_cast<std::size_t>(job)].gpus == 1;
    };
    std::vector<InQuotaWait> longest(accounts.cluster().projects().size());
    std::map<Account, Line> lines;
    std::set<Account> changed;
    const std::vector<Step> steps = steps_of(accounts, experiment, run);
    for (std::size_t at = 0; at < steps.size(); ++at) {
        const Step& step = steps[at];
        const Account account = accounts.account_of(step.job);
        const TraceJob& job = experiment.trace[static_cast<std::size_t>(step.job)];
        lines[account].take(step, model::default_priority(job.kind), accounts);
        changed.insert(account);
        // All that happens at one moment is taken in before anybody looks.
        if (at + 1 < steps.size() && steps[at + 1].at == step.at) continue;
        for (const Account& one : changed) {
            lines[one].look_again(step.at, accounts.quota_of(one), counts,
                                  longest[one.project.index()]);
        }
        changed.clear();
    }
    for (auto& [account, line] : lines) {
        line.close(steps.back().at, counts, longest[account.project.index()]);
    }
    return longest;
}

}  // namespace berth::simulation
