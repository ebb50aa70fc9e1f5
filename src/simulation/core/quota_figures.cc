// SPDX-License-Identifier: Apache-2.0
#include "simulation/core/quota_figures.h"

#include <algorithm>
#include <map>
#include <optional>

#include "codec/words/words.h"

namespace berth::simulation {
namespace {

constexpr double kMsPerHour = 3600.0 * 1000;

struct Change {
    TimePoint at;
    std::int64_t milli = 0;
};

// GPU time above the quota, as the pool counts it; in hours.
double hours_above(base::MilliGpu quota, std::vector<Change>& changes) {
    std::ranges::stable_sort(changes, {}, &Change::at);
    double hours = 0;
    std::int64_t held = 0;
    TimePoint since;
    for (const Change& change : changes) {
        const auto above = static_cast<double>(std::max<std::int64_t>(held - quota.value, 0));
        hours += above / 1000 * static_cast<double>((change.at - since).count()) / kMsPerHour;
        held += change.milli;
        since = change.at;
    }
    return hours;
}

std::string own_order(const cluster::Cluster& cluster, base::ProjectId project) {
    std::optional<model::JobOrder> by;
    std::optional<int> tail;
    for (; project.is_valid(); project = cluster.projects()[project.index()].parent) {
        const model::Project& says = cluster.projects()[project.index()].project;
        if (!by) by = says.job_order;
        if (!tail) tail = says.job_tail;
    }
    std::string text(by ? codec::word(*by) : "");
    if (tail) text += (by ? " tail " : "tail ") + std::to_string(*tail);
    return text;
}

}  // namespace

std::vector<ProjectFigures> project_figures(const Accounts& accounts,
                                            const CoreExperiment& experiment,
                                            const CoreReplay& run) {
    const auto projects = accounts.cluster().projects();
    std::vector<ProjectFigures> all(projects.size());
    std::vector<double> jct_ms(projects.size(), 0.0);
    for (std::size_t number = 0; number < experiment.trace.size(); ++number) {
        const TraceJob& job = experiment.trace[number];
        const JobRecord& record = run.replay.jobs[number];
        const auto project = accounts.account_of(static_cast<reference::JobIndex>(number)).project;
        ProjectFigures& figures = all[project.index()];
        ++figures.jobs;
        figures.pauses += record.pauses;
        figures.moves += record.moves;
        figures.gpu_hours +=
            static_cast<double>(record.held.count()) * job.gpu_count() / kMsPerHour;
        if (!record.end) continue;
        ++figures.finished;
        jct_ms[project.index()] += static_cast<double>((*record.end - job.submitted).count());
    }
    std::map<Account, std::vector<Change>> changes;
    for (const RunInterval& interval : run.replay.intervals) {
        const std::int64_t milli = accounts.counted(run, interval).value;
        auto& own = changes[accounts.account_of(interval.job)];
        own.push_back({interval.from, milli});
        own.push_back({interval.to, -milli});
    }
    for (auto& [account, own] : changes) {
        all[account.project.index()].over_quota_gpu_hours +=
            hours_above(accounts.quota_of(account), own);
    }
    const std::vector<InQuotaWait> waits = in_quota_waits(accounts, experiment, run, Demand::All);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].name = projects[i].project.name;
        all[i].own_order = own_order(accounts.cluster(), {static_cast<base::ProjectId::Rep>(i)});
        all[i].longest_in_quota_wait_s = static_cast<double>(waits[i].longest.count()) / 1000;
        if (all[i].finished == 0) continue;
        all[i].avg_jct_s = jct_ms[i] / 1000 / static_cast<double>(all[i].finished);
    }
    std::erase_if(all, [](const ProjectFigures& figures) { return figures.jobs == 0; });
    return all;
}

std::string own_orders_text(std::span<const ProjectFigures> projects) {
    std::string text;
    for (const ProjectFigures& project : projects) {
        if (project.own_order.empty()) continue;
        text += (text.empty() ? "" : "; ") + project.name + " " + project.own_order;
    }
    return text;
}

}  // namespace berth::simulation
