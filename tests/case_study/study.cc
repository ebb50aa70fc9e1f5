// SPDX-License-Identifier: Apache-2.0
#include "case_study/study.h"

#include <algorithm>

#include "base/check.h"
#include "simulation/core/core_audit.h"

namespace berth::case_study {
namespace {

using simulation::CoreExperiment;
using simulation::CoreReplay;
using simulation::RunInterval;
using simulation::TraceJob;

constexpr double kMsPerHour = 3600.0 * 1000;

bool is_experiment(const TraceJob& job) { return job.kind == model::JobKind::Train; }

// GPU time of useful work in the four weeks, in milliseconds: to train and in all.
struct Work {
    double trained = 0, all = 0;
};

Work work_in_window(const CoreExperiment& experiment, const CoreReplay& run) {
    const base::TimePoint end = base::at_ms(kWindow / std::chrono::milliseconds(1));
    std::vector<bool> has_run(experiment.trace.size());
    Work work;
    for (std::size_t at = 0; at < run.replay.intervals.size(); ++at) {
        const RunInterval& interval = run.replay.intervals[at];
        const auto number = static_cast<std::size_t>(interval.job);
        const TraceJob& job = experiment.trace[number];
        const base::TimePoint from =
            interval.from + (has_run[number] ? experiment.restart_cost : base::Duration{});
        has_run[number] = true;
        const base::Duration worked = std::min(run.asked[at], end) - std::min(from, end);
        const double gpu_ms =
            static_cast<double>(std::max(worked, base::Duration{}).count()) * job.gpus;
        work.all += gpu_ms;
        if (is_experiment(job)) work.trained += gpu_ms;
    }
    return work;
}

Figures measure(const Site& site, const CoreExperiment& experiment, const CoreReplay& run) {
    const auto window_ms = static_cast<double>(kWindow / std::chrono::milliseconds(1));
    const Work work = work_in_window(experiment, run);
    Figures figures;
    figures.used = work.all / window_ms / (kBuildGpus + kTrainGpus);
    figures.used_to_train = work.trained / window_ms / kTrainGpus;
    int of_training = 0, of_others = 0;
    for (std::size_t number = 0; number < experiment.trace.size(); ++number) {
        const TraceJob& job = experiment.trace[number];
        const auto& record = run.replay.jobs[number];
        figures.pauses += record.pauses;
        if (!is_experiment(job)) continue;
        BERTH_CHECK(record.end.has_value(), "no experiment is wider than its owner's GPUs");
        const bool is_training = is_of_training(site, job);
        (is_training ? figures.avg_jct_training_h : figures.avg_jct_others_h) +=
            static_cast<double>((*record.end - job.submitted).count()) / kMsPerHour;
        ++(is_training ? of_training : of_others);
        figures.experiments += record.end->time_since_epoch() <= kWindow;
    }
    figures.avg_jct_training_h /= std::max(of_training, 1);
    figures.avg_jct_others_h /= std::max(of_others, 1);
    figures.experiments_per_gpu = static_cast<double>(figures.experiments) / kTrainGpus;
    return figures;
}

}  // namespace

Result replay(const Site& site, const simulation::Trace& trace, Assignment assignment) {
    const model::Description description = cluster(assignment);
    model::Policy policy = model::berth_policy();
    policy.order.by = model::JobOrder::Age;
    const CoreExperiment experiment{
        .trace = trace, .cluster = description, .policy = policy, .save_time = policy.pause_grace};
    auto run = simulation::replay(experiment);
    BERTH_CHECK(run.has_value(), "a pause does not take longer than its grace");
    const simulation::Accounts accounts(experiment);
    Result result{.run = {.policy = assignment == Assignment::Static ? "static" : "shared",
                          .replay = {},
                          .metrics = simulation::measure(experiment.plain(), run->replay),
                          .projects = simulation::project_figures(accounts, experiment, *run)},
                  .figures = measure(site, experiment, *run),
                  .complaints = simulation::audit(accounts, experiment, *run)};
    result.figures.worst_rho = result.run.metrics.rho_max;
    for (const simulation::ProjectFigures& project : result.run.projects) {
        result.figures.longest_in_quota_wait_s =
            std::max(result.figures.longest_in_quota_wait_s, project.longest_in_quota_wait_s);
    }
    result.run.replay = std::move(run->replay);
    return result;
}

}  // namespace berth::case_study
