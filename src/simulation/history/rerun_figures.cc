// SPDX-License-Identifier: Apache-2.0
#include "simulation/history/rerun_figures.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "simulation/report/metrics.h"

namespace berth::simulation {
namespace {

using model::ReplayFigures;
using model::ReplaySides;
using Numbers = std::vector<std::size_t>;  // of jobs

std::int64_t used_gpu_ms(const History& history, const Replay& replay,
                         const std::vector<bool>& counts) {
    std::int64_t milli_gpu_ms = 0;
    for (const RunInterval& interval : replay.intervals) {
        const auto number = static_cast<std::size_t>(interval.job);
        if (!counts[number]) continue;
        const Duration time =
            std::min(interval.to, history.to) - std::max(interval.from, history.from);
        const Duration within = std::max(time, Duration{});
        milli_gpu_ms += history.jobs[number].amount().value * within.count();
    }
    return milli_gpu_ms / 1000;
}

Duration from_seconds(double seconds) {
    return Duration{static_cast<std::int64_t>(std::llround(seconds * 1000))};
}

// By the same measures as any replay: of these jobs alone.
ReplayFigures figures(const History& history, const Replay& replay, const Numbers& jobs) {
    Trace trace;
    Replay part;
    for (const std::size_t number : jobs) {
        trace.push_back(history.jobs[number]);
        part.jobs.push_back(replay.jobs[number]);
    }
    const Metrics metrics = measure({trace, Machines({NodesAlike{}})}, part);
    ReplayFigures figures;
    figures.jobs = static_cast<std::int64_t>(metrics.finished);
    figures.mean_wait = from_seconds(metrics.avg_queue_s);
    figures.p95_wait = from_seconds(metrics.p95_queue_s);
    figures.mean_completion = from_seconds(metrics.avg_jct_s);
    figures.pauses = metrics.pauses;
    figures.lost_gpu_ms = from_seconds(metrics.lost_gpu_s).count();
    return figures;
}

std::int64_t capacity_gpu_ms(const model::LedgerBook& ledger) {
    std::int64_t milli_gpu_ms = 0;
    for (const model::LedgerRow& row : ledger.rows) {
        milli_gpu_ms += row.times.capacity - row.times.unhealthy - row.times.others;
    }
    return milli_gpu_ms / 1000;
}

// Of one project, or of all.
ReplaySides sides_of(const History& history, const BothSides& sides, const std::string* project) {
    Numbers ended;  // really, and as it was set: what happened does not depend on the change
    Numbers ended_changed;  // of them
    std::vector<bool> counts(history.jobs.size(), false);
    for (std::size_t number = 0; number < history.jobs.size(); ++number) {
        counts[number] = project == nullptr || history.jobs[number].project == *project;
        const bool ends = history.really.jobs[number].end && sides.as_set.replay.jobs[number].end;
        if (!counts[number] || !ends) continue;
        ended.push_back(number);
        if (sides.changed.replay.jobs[number].end) ended_changed.push_back(number);
    }
    const auto of = [&](const Replay& replay, const Numbers& jobs) {
        ReplayFigures result = figures(history, replay, jobs);
        result.used_gpu_ms = used_gpu_ms(history, replay, counts);
        return result;
    };
    return {.project = project == nullptr ? "" : *project,
            .really = of(history.really, ended),
            .as_set = of(sides.as_set.replay, ended),
            .changed = of(sides.changed.replay, ended_changed)};
}

}  // namespace

void add_figures(const History& history, BothSides sides, model::WhatIfReplay& answer) {
    answer.all = sides_of(history, sides, nullptr);
    answer.all.as_set.capacity_gpu_ms = capacity_gpu_ms(sides.as_set.ledger);
    answer.all.really.capacity_gpu_ms = answer.all.as_set.capacity_gpu_ms;
    answer.all.changed.capacity_gpu_ms = capacity_gpu_ms(sides.changed.ledger);
    std::map<std::string, bool> projects;
    for (std::size_t number = 0; number < history.jobs.size(); ++number) {
        projects[history.jobs[number].project] = true;
        const bool ends = sides.as_set.replay.jobs[number].end.has_value();
        if (ends && !sides.changed.replay.jobs[number].end) ++answer.never_end;
    }
    for (const auto& [project, is_there] : projects) {
        answer.projects.push_back(sides_of(history, sides, &project));
    }
    std::ranges::stable_sort(answer.projects, {}, [](const ReplaySides& one) {
        const std::int64_t starved = one.as_set.jobs - one.changed.jobs;
        return std::pair(starved, one.changed.mean_wait - one.as_set.mean_wait);
    });
}

}  // namespace berth::simulation
