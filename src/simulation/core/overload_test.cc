// SPDX-License-Identifier: Apache-2.0
//
// Does no job wait for ever while twice as much is asked as there is? For twenty days short jobs
// ask nine tenths of the GPUs and long ones eleven, then no more come. What the guard by waits
// promises of the server's decisions: a wait without a break ends after 72 times what the job ever
// ran (ten minutes at least) and one run of each other job that is there when it falls due, a
// twentieth of what that one ran, an hour at least.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "simulation/core/core_audit.h"

namespace berth::simulation {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const Machines kMachines{5, 4};
constexpr Duration kStretch = hours(24) * 20;

struct Kind {
    int tenths;  // of all GPUs, asked together
    int minutes_min, minutes_max;
    int gpus_max;
};

// As dense as to ask the kind's tenths of the GPUs all the time.
void add(Trace& trace, base::Rng& rng, const Kind& kind) {
    const std::int64_t asked_max = kStretch.count() * kMachines.gpus() * kind.tenths / 10;
    for (std::int64_t asked = 0; asked < asked_max;) {
        TraceJob job;
        job.submitted = base::at_ms(asked / kMachines.gpus() * 10 / kind.tenths);
        job.work = minutes(rng.between(kind.minutes_min, kind.minutes_max));
        job.gpus = static_cast<std::int32_t>(rng.between(1, kind.gpus_max));
        asked += job.work.count() * job.gpus;
        trace.push_back(job);
    }
}

Trace twice_too_much(std::uint64_t seed) {
    base::Rng rng(seed);
    Trace trace;
    add(trace, rng, {.tenths = 9, .minutes_min = 20, .minutes_max = 80, .gpus_max = 1});
    add(trace, rng, {.tenths = 11, .minutes_min = 4'000, .minutes_max = 9'000, .gpus_max = 4});
    std::ranges::stable_sort(trace, {}, &TraceJob::submitted);
    return trace;
}

// A time in which a job held no GPUs and had not ended.
struct Wait {
    TimePoint from, to;
    Duration held{};  // before
};

class Waits {
  public:
    Waits(const Trace& trace, const Replay& replay)
        : trace_(trace), replay_(replay), of_(trace.size()) {
        std::vector<Wait> next;
        for (const TraceJob& job : trace) next.push_back({job.submitted, job.submitted});
        for (const RunInterval& interval : replay.intervals) {
            const auto job = static_cast<std::size_t>(interval.job);
            next[job].to = interval.from;
            of_[job].push_back(next[job]);
            next[job] = {interval.to, interval.to, next[job].held + (interval.to - interval.from)};
        }
    }

    Duration longest() const {
        Duration longest{};
        for (const std::vector<Wait>& waits : of_) {
            for (const Wait& wait : waits) longest = std::max(longest, wait.to - wait.from);
        }
        return longest;
    }

    // By how much the longest wait passes what is promised; negative when none does.
    Duration most_beyond_promise(int times) const {
        Duration most = Duration::min();
        for (std::size_t job = 0; job < of_.size(); ++job) {
            for (const Wait& wait : of_[job]) {
                const Duration patience = std::max<Duration>(wait.held, minutes(10)) * times;
                most = std::max(most, wait.to - wait.from - patience -
                                          runs_of_others(job, wait.from + patience));
            }
        }
        return most;
    }

  private:
    Duration runs_of_others(std::size_t job, TimePoint due) const {
        Duration runs{};
        for (std::size_t other = 0; other < of_.size(); ++other) {
            if (other == job || trace_[other].submitted > due || *replay_.jobs[other].end < due) {
                continue;
            }
            runs += std::max<Duration>(replay_.jobs[other].held / 20, hours(1));
        }
        return runs;
    }

    const Trace& trace_;
    const Replay& replay_;
    std::vector<std::vector<Wait>> of_;
};

Replay replay_under(const model::OrderRules& order, const Trace& trace, Placement placement) {
    model::Policy policy = model::berth_policy();
    policy.order = order;
    const model::Description cluster = owned_by_one(kMachines);
    const CoreExperiment experiment{.trace = trace,
                                    .cluster = cluster,
                                    .policy = policy,
                                    .placement = placement,
                                    .save_time = {}};
    auto result = replay(experiment);
    REQUIRE(result);
    for (const std::string& complaint : audit(Accounts(experiment), experiment, *result)) {
        FAIL_CHECK(complaint);
    }
    for (const JobRecord& job : result->replay.jobs) REQUIRE(job.end);
    return std::move(result->replay);
}

}  // namespace

TEST_CASE("under twice the load every job ends, and no wait is longer than the guard promises") {
    const model::OrderRules learned{.by = model::JobOrder::Learned};
    const model::OrderRules levels{.by = model::JobOrder::ByLevels};
    for (const model::OrderRules& order : {learned, levels}) {
        model::OrderRules unguarded = order;
        unguarded.patience = unguarded.fair = 0;
        for (const std::uint64_t seed : {1U, 2U}) {
            for (const Placement placement : {Placement::Count, Placement::Nodes}) {
                INFO("order " << static_cast<int>(order.by) << ", seed " << seed << ", placement "
                              << static_cast<int>(placement));
                const Trace trace = of_one_project(twice_too_much(seed));
                const Replay guarded = replay_under(order, trace, placement);
                const Replay alone = replay_under(unguarded, trace, placement);
                const Waits with_guard(trace, guarded);
                const Waits without(trace, alone);
                CHECK(with_guard.most_beyond_promise(order.patience) <= Duration{});
                CHECK(without.most_beyond_promise(order.patience) > hours(24) * 5);
                CHECK(with_guard.longest() < without.longest());
            }
        }
    }
}

}  // namespace berth::simulation
