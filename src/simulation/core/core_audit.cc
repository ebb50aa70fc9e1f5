// SPDX-License-Identifier: Apache-2.0
#include "simulation/core/core_audit.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "simulation/core/quota_waits.h"
#include "simulation/replay/audit.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kCoreComplaintsMax = 10;
// A decision may take a few rounds (scheduling/decide.h), and between two of them the clock, here
// as in the server, goes on by a millisecond.
constexpr Duration kRounds{3};
constexpr Duration kDay = std::chrono::days{1};

class CoreAuditor {
  public:
    CoreAuditor(const Accounts& accounts, const CoreExperiment& experiment, const CoreReplay& run)
        : accounts_(accounts), experiment_(experiment), run_(run) {}

    std::vector<std::string> complaints() {
        found_ = audit(without_saving(), worked());
        look_at_saving();
        look_at_leaving();
        look_at_limits();
        look_at_waits();
        look_at_ledger();
        return std::move(found_);
    }

  private:
    Experiment without_saving() const {
        Experiment plain = experiment_.plain();
        plain.restart_cost = experiment_.restart_cost;
        return plain;
    }

    // What audit.h knows: an interval ends when the job is asked to leave.
    Replay worked() const {
        Replay replay = run_.replay;
        for (std::size_t at = 0; at < replay.intervals.size(); ++at) {
            RunInterval& interval = replay.intervals[at];
            replay.jobs[static_cast<std::size_t>(interval.job)].held -=
                interval.to - run_.asked[at];
            interval.to = run_.asked[at];
        }
        return replay;
    }

    // No job starts on GPUs on which another still saves.
    void look_at_saving() {
        std::vector<const RunInterval*> intervals;
        for (const RunInterval& interval : run_.replay.intervals) intervals.push_back(&interval);
        std::ranges::stable_sort(intervals, {}, &RunInterval::from);
        struct Holder {
            TimePoint until;
            base::MilliGpu share{0};
        };
        std::map<std::int32_t, std::vector<Holder>> on_gpu;
        for (const RunInterval* interval : intervals) {
            const auto number = static_cast<std::size_t>(interval->job);
            const TraceJob& job = experiment_.trace[number];
            for (const std::int32_t gpu : run_.replay.gpus_of(*interval, job.gpus)) {
                auto& holders = on_gpu[gpu];
                std::erase_if(holders,
                              [&](const Holder& one) { return one.until <= interval->from; });
                base::MilliGpu taken = job.share;
                for (const Holder& one : holders) taken += one.share;
                check(taken <= base::kWholeGpu, number,
                      "GPU " + std::to_string(gpu) + " is not free");
                holders.push_back({interval->to, job.share});
            }
        }
    }

    void look_at_leaving() {
        for (std::size_t at = 0; at < run_.replay.intervals.size(); ++at) {
            const RunInterval& interval = run_.replay.intervals[at];
            const auto number = static_cast<std::size_t>(interval.job);
            const Duration saving = interval.to - run_.asked[at];
            const bool is_last = run_.replay.jobs[number].end == interval.to;
            check(saving == (is_last ? Duration{} : experiment_.save_time), number,
                  "took " + base::format(saving) + " to leave");
        }
    }

    // What may never be passed: a job that saves does not count, it was asked to leave.
    void look_at_limits() {
        struct HeldChange {
            TimePoint at;
            bool is_taken = false;  // what is freed at a moment may be taken then
            reference::JobIndex job = 0;
            base::MilliGpu amount{0};
        };
        std::vector<HeldChange> changes;
        for (std::size_t at = 0; at < run_.replay.intervals.size(); ++at) {
            const RunInterval& interval = run_.replay.intervals[at];
            const base::MilliGpu amount = accounts_.counted(run_, interval);
            changes.push_back({interval.from, true, interval.job, amount});
            changes.push_back({run_.asked[at], false, interval.job, amount * -1});
        }
        std::ranges::stable_sort(changes, {}, [](const HeldChange& change) {
            return std::tuple(change.at, change.is_taken, change.job);
        });
        std::map<Account, base::MilliGpu> held;
        for (const HeldChange& change : changes) {
            for (const Account& one : accounts_.path_of(accounts_.account_of(change.job))) {
                held[one] += change.amount;
                const base::MilliGpu limit = accounts_.limit_of(one);
                check(!change.is_taken || held[one] <= limit, static_cast<std::size_t>(change.job),
                      "makes \"" + name_of(one) + "\" hold " + base::format(held[one]) +
                          " of at most " + base::format(limit) + " GPUs");
            }
        }
    }

    void look_at_waits() {
        if (!experiment_.policy.cheapest_victims) return;  // may pause twice
        const auto waits = in_quota_waits(accounts_, experiment_, run_, Demand::FitsAnywhere);
        for (std::size_t i = 0; i < waits.size(); ++i) {
            if (waits[i].job < 0) continue;
            const Account account = accounts_.account_of(waits[i].job);
            if (accounts_.is_overcommitted(account.pool)) continue;
            check(waits[i].longest <= experiment_.policy.pause_grace + kRounds,
                  static_cast<std::size_t>(waits[i].job),
                  "waited " + base::format(waits[i].longest) + " within the quota of \"" +
                      name_of(account) + "\"");
        }
    }

    // All GPUs are there all the time; the record of the first days may be gone.
    void look_at_ledger() {
        std::map<std::int64_t, std::int64_t> sums;  // by day
        std::int64_t of_jobs = 0;
        for (const model::LedgerRow& row : run_.ledger.rows) {
            sums[row.day] += row.times.sum();
            if (!row.line.project.empty()) of_jobs += row.times.sum();
        }
        std::int64_t gpus = 0;
        for (const model::Node& node : experiment_.cluster.nodes) gpus += node.gpus;
        std::int64_t kept_ms = 0;
        for (const auto& [day, sum] : sums) {
            const TimePoint begins = base::at_ms(day * kDay.count());
            const Duration length = std::min(kDay, run_.ended - begins);
            kept_ms += length.count();
            if (sum == gpus * 1000 * length.count()) continue;
            note("the ledger does not sum to what was there on day " + std::to_string(day));
        }
        std::int64_t wanted = 0;
        for (const RunInterval& interval : run_.replay.intervals) {
            const TraceJob& job = experiment_.trace[static_cast<std::size_t>(interval.job)];
            wanted += job.amount().value * (interval.to - interval.from).count();
        }
        const TimePoint begin =
            experiment_.trace.empty() ? run_.ended : experiment_.trace.front().submitted;
        const bool is_all_kept = kept_ms >= (run_.ended - begin).count();
        if (is_all_kept && of_jobs != wanted) note("the ledger has another use by jobs than ran");
    }

    const std::string& name_of(Account account) const {
        return accounts_.cluster().projects()[account.project.index()].project.name;
    }

    void note(std::string complaint) {
        if (found_.size() < kCoreComplaintsMax) found_.push_back(std::move(complaint));
    }

    void check(bool holds, std::size_t job, const std::string& complaint) {
        if (holds || found_.size() >= kCoreComplaintsMax) return;
        found_.push_back("job " + std::to_string(job) + ": " + complaint);
    }

    const Accounts& accounts_;
    const CoreExperiment& experiment_;
    const CoreReplay& run_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> audit(const Accounts& accounts, const CoreExperiment& experiment,
                               const CoreReplay& run) {
    return CoreAuditor(accounts, experiment, run).complaints();
}

}  // namespace berth::simulation
