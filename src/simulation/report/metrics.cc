// SPDX-License-Identifier: Apache-2.0
#include "simulation/report/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "simulation/report/figure_text.h"

namespace berth::simulation {
namespace {

constexpr double kUnfairAbove = 1.05;

double mean(const std::vector<double>& values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// GPUs asked by all jobs that were there, summed over time: the area up to any moment at which a
// job came or went.
class AskedOverTime {
  public:
    AskedOverTime(const Trace& trace, const Replay& replay) {
        for (std::size_t job = 0; job < trace.size(); ++job) {
            const double gpus = trace[job].gpu_count();
            steps_.push_back({trace[job].submitted, gpus});
            if (replay.jobs[job].end) steps_.push_back({*replay.jobs[job].end, -gpus});
        }
        std::ranges::sort(steps_, {}, &Step::at);
        double level = 0;
        for (std::size_t step = 0; step < steps_.size(); ++step) {
            if (step > 0) {
                steps_[step].area = steps_[step - 1].area +
                                    level * in_seconds(steps_[step].at - steps_[step - 1].at);
            }
            level += steps_[step].change;
        }
    }

    double area_until(TimePoint at) const {
        return std::ranges::lower_bound(steps_, at, {}, &Step::at)->area;
    }

  private:
    struct Step {
        TimePoint at;
        double change = 0;
        double area = 0;
    };
    std::vector<Step> steps_;
};

struct Rhos {
    std::vector<double> by_demand;
    std::vector<double> by_jobs;
};

Rhos fairness(const Experiment& experiment, const Replay& replay) {
    const AskedOverTime demand(experiment.trace, replay);
    const double gpus = experiment.machines.gpus();
    const double jobs_per_gpu = std::max(1.0, static_cast<double>(replay.jobs.size()) / gpus);
    Rhos rhos;
    for (std::size_t number = 0; number < replay.jobs.size(); ++number) {
        const auto& end = replay.jobs[number].end;
        if (!end) continue;
        const TraceJob& job = experiment.trace[number];
        const double jct = in_seconds(*end - job.submitted);
        const double asked = (demand.area_until(*end) - demand.area_until(job.submitted)) / jct;
        rhos.by_demand.push_back(jct / (in_seconds(job.work) * std::max(1.0, asked / gpus)));
        rhos.by_jobs.push_back(jct / (in_seconds(job.work) * jobs_per_gpu));
    }
    return rhos;
}

double unfair(const std::vector<double>& rhos) {
    const auto above = std::ranges::count_if(rhos, [](double rho) { return rho > kUnfairAbove; });
    return static_cast<double>(above) / static_cast<double>(rhos.size());
}

}  // namespace

std::vector<double> completion_times(const Experiment& experiment, const Replay& replay) {
    std::vector<double> times;
    for (std::size_t job = 0; job < replay.jobs.size(); ++job) {
        const auto& end = replay.jobs[job].end;
        if (end) times.push_back(in_seconds(*end - experiment.trace[job].submitted));
    }
    std::ranges::sort(times);
    return times;
}

double percentile(const std::vector<double>& rising, double percent) {
    if (rising.empty()) return 0;
    const double place = percent / 100 * static_cast<double>(rising.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, rising.size() - 1);
    return rising[below] + (rising[above] - rising[below]) * (place - std::floor(place));
}

Metrics measure(const Experiment& experiment, const Replay& replay) {
    const std::vector<double> times = completion_times(experiment, replay);
    Metrics metrics{.jobs = replay.jobs.size(), .finished = times.size()};
    if (times.empty()) return metrics;
    metrics.avg_jct_s = mean(times);
    metrics.median_jct_s = percentile(times, 50);
    metrics.p95_jct_s = percentile(times, 95);
    metrics.p99_jct_s = percentile(times, 99);
    metrics.max_jct_s = times.back();

    TimePoint last_end = TimePoint::min();
    double work = 0;
    std::vector<double> queues;
    for (std::size_t number = 0; number < replay.jobs.size(); ++number) {
        const JobRecord& record = replay.jobs[number];
        metrics.pauses += record.pauses;
        metrics.moves += record.moves;
        if (!record.end) continue;
        const TraceJob& job = experiment.trace[number];
        last_end = std::max(last_end, *record.end);
        queues.push_back(in_seconds(*record.end - job.submitted - record.held));
        metrics.lost_gpu_s += in_seconds(record.held - job.work) * job.gpu_count();
        work += in_seconds(job.work) * job.gpu_count();
    }
    metrics.avg_queue_s = mean(queues);
    std::ranges::sort(queues);
    metrics.p95_queue_s = percentile(queues, 95);
    metrics.makespan_s = in_seconds(last_end - experiment.trace.front().submitted);

    const double capacity = metrics.makespan_s * experiment.machines.gpus();
    metrics.utilization = work / capacity;
    double idle = 0;  // GPU-seconds
    for (std::size_t at = 0; at + 1 < replay.timeline.size(); ++at) {
        const Sample& sample = replay.timeline[at];
        if (sample.jobs_waiting == 0) continue;
        const base::MilliGpu left = base::gpus(experiment.machines.gpus()) - sample.gpus_used;
        idle += in_seconds(replay.timeline[at + 1].at - sample.at) *
                (static_cast<double>(left.value) / 1000);
    }
    metrics.fragmentation = idle / capacity;

    const Rhos rhos = fairness(experiment, replay);
    metrics.rho_mean = mean(rhos.by_demand);
    metrics.rho_max = *std::ranges::max_element(rhos.by_demand);
    metrics.unfair_share = unfair(rhos.by_demand);
    metrics.static_rho_max = *std::ranges::max_element(rhos.by_jobs);
    metrics.static_unfair_share = unfair(rhos.by_jobs);
    return metrics;
}

}  // namespace berth::simulation
