// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/write_down.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "model/job/packing.h"

namespace berth::lifecycle {
namespace {

using model::TaskState;

// `first`: the place of rank 0 in the list.
void add_task(const State& state, model::JobDescription& job, const model::TaskPlacement& place,
              TaskState standing, std::size_t first = 0) {
    const std::size_t rank = first + static_cast<std::size_t>(place.task);
    if (job.tasks.size() <= rank) job.tasks.resize(rank + 1);
    model::TaskDescription& task = job.tasks[rank];
    task.state = standing;
    task.node = state.cluster.description(place.node).name;
    for (std::uint64_t mask = place.gpu_mask; mask != 0; mask &= mask - 1) {
        task.gpu_indices.push_back(std::countr_zero(mask));
    }
}

model::JobDescription describe_job(const State& state, const model::JobRecord& record,
                                   model::TimePoint now) {
    model::JobDescription job;
    job.spec = record.spec;
    job.spec.request = model::asked(record.spec);
    job.spec.may_share = false;  // what is known of it is in what it asks
    job.spec.packed.reset();
    job.created = record.created;
    if (record.waiting_since > record.created) job.waiting_since = record.waiting_since;
    job.last_start = record.last_start;
    job.last_checkpoint = record.last_checkpoint;
    if (record.last_pause) job.last_pause = record.last_pause->time;
    job.saves_when_asked = record.saves_when_asked;
    job.stale_since = record.stale_since;
    const std::int64_t attained = attained_gpu_ms(record, now);
    if (attained > 0) job.attained = model::Duration{attained};
    job.held = record.held || record.state == model::JobState::Cancelling;
    job.parked_since = record.parked_since;
    for (const model::TaskPlacement& place : record.tasks) {
        const bool leaves =
            std::ranges::find(record.releasing, place.task) != record.releasing.end();
        add_task(state, job, place, leaves ? TaskState::Releasing : TaskState::Running);
    }
    const bool is_frozen = !record.frozen.empty() && record.tasks.empty();
    if (is_frozen) {
        for (const model::TaskPlacement& place : record.frozen) {
            add_task(state, job, place, TaskState::Frozen);
        }
        if (record.last_pause && record.last_pause->frozen) {
            job.frozen_gpu_memory =
                std::max(record.last_pause->frozen->gpu_memory, model::Bytes{0});
        }
    }
    const bool moves = record.state == model::JobState::Pausing && !record.reserved.empty();
    const std::size_t first = moves || is_frozen ? job.tasks.size() : 0;
    for (const model::TaskPlacement& place : record.reserved) {
        add_task(state, job, place, TaskState::Promised, first);
    }
    if (!record.reserved.empty()) job.promised_until = record.hold_deadline;
    return job;
}

// Jobs by their place in the list, from 1. Those that have ended have none.
model::OrderLedger renumbered(model::OrderLedger ledger, const State& state) {
    std::map<model::JobId, model::JobId> places;
    for (const auto& [id, record] : state.jobs) {
        const model::JobId place{static_cast<model::JobId::Rep>(places.size() + 1)};
        places.emplace(id, place);
    }
    const auto renumber = [&](model::JobId& job) {
        const auto place = places.find(job);
        job = place == places.end() ? model::JobId{} : place->second;
    };
    for (model::FamilyLedger& family : ledger.families)
        std::ranges::for_each(family.jobs, renumber);
    for (model::RankLedger& job : ledger.jobs) renumber(job.job);
    for (model::CrowdLedger& project : ledger.projects) {
        for (model::GuardLedger* guard : {&project.waits, &project.fair}) {
            for (model::ClaimLedger& claim : guard->claims) renumber(claim.job);
        }
    }
    std::ranges::for_each(ledger.to_rank, renumber);
    return ledger;
}

}  // namespace

model::Description written_down(const State& state, model::TimePoint now) {
    model::Description description;
    description.now = now;
    description.as_listed = true;
    description.levels.assign(state.cluster.levels().begin(), state.cluster.levels().end());
    for (const auto& pool : state.cluster.pools()) {
        const bool is_plain = pool.description() == model::Pool{model::kDefaultPool, {}, {}};
        if (!is_plain && !pool.name.empty()) {
            description.pools.push_back(pool.description());
        }
    }
    for (std::size_t i = 0; i < state.cluster.nodes().size(); ++i) {
        description.nodes.push_back(
            state.cluster.description({static_cast<model::NodeId::Rep>(i)}));
    }
    description.places = cluster::places(state.cluster);
    for (std::size_t i = 1; i < state.cluster.projects().size(); ++i) {
        const model::Project& project = state.cluster.projects()[i].project;
        if (!project.name.empty()) description.projects.push_back(project);
    }
    cluster::Cluster then = state.cluster;
    cluster::keep_ranks(then, now);
    description.order = renumbered(cluster::order_ledger(then), state);
    std::set<std::pair<std::string, std::string>> names;
    for (const auto& [id, record] : state.jobs) {
        model::JobDescription job = describe_job(state, record, now);
        while (job.spec.name.empty() || !names.emplace(job.spec.project, job.spec.name).second) {
            job.spec.name += "#" + std::to_string(id.value);
        }
        description.jobs.push_back(std::move(job));
    }
    return description;
}

}  // namespace berth::lifecycle
