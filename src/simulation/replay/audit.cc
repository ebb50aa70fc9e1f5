// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay/audit.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace berth::simulation {
namespace {

constexpr std::size_t kComplaintsMax = 10;

class Auditor {
  public:
    Auditor(const Experiment& experiment, const Replay& replay)
        : experiment_(experiment),
          replay_(replay),
          mixes_(experiment.trace, experiment.packing, experiment.speeds),
          on_gpu_(static_cast<std::size_t>(experiment.machines.gpus())),
          jobs_(experiment.trace.size()),
          speeds_(replay.intervals.size()) {}

    std::vector<std::string> complaints() {
        std::vector<std::size_t> intervals(replay_.intervals.size());
        std::iota(intervals.begin(), intervals.end(), 0);
        std::ranges::stable_sort(intervals, {}, [&](std::size_t at) { return interval(at).from; });
        for (const std::size_t at : intervals) look_at_place(at);
        find_speeds(intervals);
        for (const std::size_t at : intervals) look_at_time(at);
        for (std::size_t job = 0; job < jobs_.size(); ++job) look_at_sum(job);
        return std::move(found_);
    }

  private:
    // A part of an interval in which no job came or went.
    struct Part {
        Duration length;
        Speed speed;
    };
    struct Seen {
        const RunInterval* last = nullptr;
        Duration held{};
        Duration restart{};     // still to come
        std::int64_t work = 0;  // done, a millisecond at full speed is kFullSpeed
        Speed speed = 0;        // the last
    };

    const RunInterval& interval(std::size_t at) const { return replay_.intervals[at]; }
    static std::size_t job(const RunInterval& interval) {
        return static_cast<std::size_t>(interval.job);
    }
    std::span<const std::int32_t> gpus(const RunInterval& interval) const {
        return replay_.gpus_of(interval, experiment_.trace[job(interval)].gpus);
    }

    // Those who share a GPU hold the same ones, and are not too many.
    void look_at_place(std::size_t at) {
        const RunInterval& here = interval(at);
        for (const std::int32_t gpu : gpus(here)) {
            check(experiment_.machines.model_of(gpu) ==
                      experiment_.machines.model_of(gpus(here).front()),
                  job(here), "it stands on two models of GPU");
            auto& holders = on_gpu_[static_cast<std::size_t>(gpu)];
            std::erase_if(holders, [&](std::size_t other) {
                return other != at && interval(other).to <= here.from;
            });
            base::MilliGpu taken = experiment_.trace[job(here)].share;
            for (const std::size_t other : holders) {
                taken += experiment_.trace[job(interval(other))].share;
            }
            check(taken <= base::gpus(static_cast<std::int64_t>(mixes_.size_max())) &&
                      std::ranges::count(holders, at) == 0,
                  job(here), "GPU " + std::to_string(gpu) + " is not free");
            for (const std::size_t other : holders) {
                check(std::ranges::equal(gpus(interval(other)), gpus(here)), job(here),
                      "it shares GPU " + std::to_string(gpu) + " with one who holds others");
            }
            holders.push_back(at);
        }
        // An interval of no length holds nothing.
        if (here.from != here.to) return;
        for (const std::int32_t gpu : gpus(here)) {
            std::erase(on_gpu_[static_cast<std::size_t>(gpu)], at);
        }
    }

    // Who shares the first GPU of an interval shares all, see above. A part of a GPU is its
    // holder's own.
    void find_speeds(const std::vector<std::size_t>& intervals) {
        struct Step {
            TimePoint at;
            std::size_t interval;
        };
        std::vector<std::vector<Step>> steps(on_gpu_.size());
        for (const std::size_t at : intervals) {
            if (interval(at).from >= interval(at).to) continue;
            if (!experiment_.trace[job(interval(at))].is_whole()) {
                add_parts({at}, interval(at).to - interval(at).from);
                continue;
            }
            auto& here = steps[static_cast<std::size_t>(gpus(interval(at)).front())];
            here.push_back({interval(at).from, at});
            here.push_back({interval(at).to, at});
        }
        for (auto& here : steps) {
            std::ranges::stable_sort(here, {}, &Step::at);
            std::vector<std::size_t> there;
            TimePoint since;
            for (const Step& step : here) {
                if (step.at > since && !there.empty()) add_parts(there, step.at - since);
                since = step.at;
                if (std::erase(there, step.interval) == 0) there.push_back(step.interval);
            }
        }
    }

    void add_parts(const std::vector<std::size_t>& intervals, Duration length) {
        std::vector<Mixes::Kind> kinds;
        for (const std::size_t at : intervals) kinds.push_back(mixes_.kind(job(interval(at))));
        const Mixes::Mix mix = mixes_.of(kinds);
        const auto held = gpus(interval(intervals.front()));
        const std::size_t model = experiment_.machines.model_of(held.front());
        const bool spread = is_spread(held, experiment_.machines);
        for (std::size_t at = 0; at < intervals.size(); ++at) {
            const Speed alone = mixes_.alone(kinds[at], model, spread);
            const Speed speed = mixes_.speed(mix, kinds[at]) * alone / kFullSpeed;
            speeds_[intervals[at]].push_back({length, speed});
        }
    }

    void look_at_time(std::size_t at) {
        const RunInterval& here = interval(at);
        const std::size_t number = job(here);
        Seen& seen = jobs_[number];
        check(here.from <= here.to && here.from >= experiment_.trace[number].submitted, number,
              "time runs backwards");
        check(!seen.last || seen.last->to <= here.from, number, "it runs twice at once");
        if (here.starts) {
            seen.restart = seen.last ? experiment_.restart_cost : Duration{};
        } else {
            check(seen.last && seen.last->to == here.from &&
                      std::ranges::equal(gpus(*seen.last), gpus(here)),
                  number, "it goes on without a start");
        }
        for (const Part& part : speeds_[at]) {
            const Duration idle = std::min(seen.restart, part.length);
            seen.restart -= idle;
            seen.work += (part.length - idle).count() * part.speed;
            seen.speed = part.speed;
        }
        seen.last = &here;
        seen.held += here.to - here.from;
    }

    void look_at_sum(std::size_t number) {
        const JobRecord& record = replay_.jobs[number];
        const Seen& seen = jobs_[number];
        const Duration work = experiment_.trace[number].work;
        check(record.held == seen.held, number, "its time on GPUs is not the sum of its intervals");
        if (!record.end) return;
        const std::int64_t due = work.count() * kFullSpeed;
        check(seen.work >= due && seen.work < due + std::max<Speed>(seen.speed, 1), number,
              "ended after " + base::format(seen.held) + " on GPUs for " + base::format(work) +
                  " of work");
        check(seen.last && *record.end == seen.last->to, number,
              "its end is not that of its last interval");
    }

    void check(bool holds, std::size_t job, const std::string& complaint) {
        if (holds || found_.size() == kComplaintsMax) return;
        found_.push_back("job " + std::to_string(job) + ": " + complaint);
    }

    const Experiment& experiment_;
    const Replay& replay_;
    Mixes mixes_;
    std::vector<std::vector<std::size_t>> on_gpu_;  // intervals
    std::vector<Seen> jobs_;
    std::vector<std::vector<Part>> speeds_;  // of each interval
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> audit(const Experiment& experiment, const Replay& replay) {
    return Auditor(experiment, replay).complaints();
}

}  // namespace berth::simulation
