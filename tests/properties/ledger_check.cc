// SPDX-License-Identifier: Apache-2.0
#include "ledger_check.h"

#include <algorithm>
#include <bit>

namespace berth::proof {
namespace {

using model::GpuUse;

constexpr std::int64_t kDay = INT64_C(24) * 3600 * 1000;

std::int64_t milli(const model::TaskPlacement& task) {
    return task.share.value * std::popcount(task.gpu_mask);
}

// What the nodes and the records of jobs say.
model::GpuTimes uses_of(const lifecycle::State& state) {
    const cluster::Cluster& cluster = state.cluster;
    model::GpuTimes uses;
    std::map<base::NodeId, std::int64_t> of_jobs;
    for (const auto& [id, record] : state.jobs) {
        for (const model::TaskPlacement& task : record.tasks) {
            const auto& leaving = record.releasing;
            const bool leaves = record.state == model::JobState::Pausing ||
                                record.state == model::JobState::Cancelling ||
                                std::ranges::find(leaving, task.task) != leaving.end();
            const bool starts = record.state == model::JobState::Starting;
            uses[leaves   ? GpuUse::Leaving
                 : starts ? GpuUse::Starting
                          : GpuUse::NotMeasured] += milli(task);
            of_jobs[task.node] += milli(task);
        }
    }
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const base::NodeId id{static_cast<base::NodeId::Rep>(i)};
        const std::int64_t left = std::int64_t{cluster.nodes()[i].gpus} * 1000 - of_jobs[id];
        const std::int64_t others =
            std::min<std::int64_t>(cluster.others().on(id).gpus * INT64_C(1000), left);
        uses[GpuUse::Others] += others;
        uses[cluster.nodes()[i].is_ready ? GpuUse::Free : GpuUse::Unhealthy] += left - others;
    }
    return uses;
}

// In which of these a free GPU is, is not counted here.
model::GpuTimes free_as_one(model::GpuTimes uses) {
    for (const GpuUse use : {GpuUse::Reserved, GpuUse::BlockedByRoom, GpuUse::BlockedByRules}) {
        uses[GpuUse::Free] += uses[use];
        uses[use] = 0;
    }
    return uses;
}

}  // namespace

std::vector<std::string> LedgerCheck::look(const lifecycle::State& state) {
    std::vector<std::string> found;
    const std::int64_t until = base::to_ms(state.time);
    for (std::int64_t at = base::to_ms(time_); at < until;) {
        const std::int64_t end = std::min(until, (at / kDay + 1) * kDay);
        for (const auto& [place, gpus] : there_) wanted_[{at / kDay, place}] += gpus * (end - at);
        at = there_.empty() ? until : end;
    }
    time_ = std::max(time_, state.time);
    there_.clear();
    const cluster::Cluster& cluster = state.cluster;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const model::Node node = cluster.description({static_cast<base::NodeId::Rep>(i)});
        const std::string& pool = cluster.pool(cluster.nodes()[i].pool).name;
        there_[{pool, node.gpu_model}] += node.gpus * INT64_C(1000);
    }
    std::map<std::pair<std::int64_t, Place>, std::int64_t> had;
    std::int64_t sum = 0;
    std::int64_t capacity = 0;
    for (const model::LedgerRow& row : state.ledger.book().rows) {
        had[{row.day, {row.line.pool, row.line.gpu}}] += row.times.sum();
        sum += row.times.sum();
        capacity += row.times.capacity;
        for (const GpuUse use : model::kGpuUses) {
            if (row.times[use] < 0) found.push_back("a use has a negative time");
        }
    }
    std::erase_if(wanted_, [](const auto& each) { return each.second == 0; });
    if (had != wanted_) {
        found.push_back("the ledger does not sum to what was there:");
        for (const auto& [key, amount] : wanted_) {
            const auto& [day, place] = key;
            if (had[key] == amount) continue;
            found.push_back("  day " + std::to_string(day) + ", pool " + place.first + ", " +
                            place.second + ": " + std::to_string(had[key]) + " of " +
                            std::to_string(amount));
        }
    }
    if (sum != capacity) found.push_back("the ledger has another capacity than its uses sum to");
    if (free_as_one(state.ledger.uses()) != uses_of(state)) {
        found.push_back("the ledger does not count the moment as the records do");
    }
    return found;
}

}  // namespace berth::proof
