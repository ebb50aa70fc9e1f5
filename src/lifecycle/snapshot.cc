// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "cluster/gang.h"
#include "lifecycle/apply.h"
#include "lifecycle/charging.h"

namespace berth::lifecycle {

namespace {

void add_history(model::Snapshot& snapshot, const State& state, std::size_t pool) {
    const cluster::PoolHistory& history = state.cluster.history().pools[pool];
    const std::string& name = state.cluster.pools()[pool].name;
    if (history.waste.gpu_ms != 0) {
        snapshot.waste.push_back({name, history.waste.day, history.waste.gpu_ms});
    }
    for (std::size_t i = 0; i < history.past_use.size(); ++i) {
        const cluster::PastUse& use = history.past_use[i];
        if (use == cluster::PastUse{}) continue;
        snapshot.use.push_back({state.cluster.projects()[i].project.name, name, use.in_use,
                                use.settled, use.began, use.first_period, use.milli_gpu_ms});
    }
}

void restore_history(State& state, const model::Snapshot& snapshot) {
    cluster::History& history = state.cluster.history();
    for (const model::WasteLedger& waste : snapshot.waste) {
        const base::PoolId pool = state.cluster.find_pool(waste.pool);
        history.pools[pool.index()].waste = {waste.day, waste.gpu_ms};
    }
    for (const model::UseLedger& use : snapshot.use) {
        const base::PoolId pool = state.cluster.find_pool(use.pool);
        history.pools[pool.index()].use_of(state.cluster.find_project(use.project)) = {
            use.held, use.settled, use.began, use.first_period, use.milli_gpu_ms};
    }
}

}  // namespace

void restore_attained(State& state, const model::JobRecord& record) {
    cluster::note_attained(state.cluster, record.id, record.attained_gpu_ms, record.settled);
}

std::string incarnation_of(const State& state, const model::JobRecord& record) {
    const auto number = static_cast<std::size_t>(record.incarnation);
    return number == 0 ? "" : state.incarnations.at(number - 1);
}

void restore_places(State& state, const std::vector<model::NodePlace>& places) {
    for (const model::NodePlace& place : places) {
        state.cluster.move_node(state.cluster.find_node(place.node),
                                state.cluster.find_pool(place.pool), place.is_bound);
    }
}

model::Snapshot snapshot(const State& state) {
    model::Snapshot snapshot;
    snapshot.sequence = state.sequence;
    snapshot.time = state.time;
    snapshot.last_job = state.last_job;
    snapshot.incarnations = state.incarnations;
    snapshot.levels.assign(state.cluster.levels().begin(), state.cluster.levels().end());
    for (const auto& pool : state.cluster.pools()) {
        if (!pool.name.empty()) snapshot.pools.push_back(pool.description());
    }
    for (std::size_t i = 0; i < state.cluster.nodes().size(); ++i) {
        snapshot.nodes.push_back(state.cluster.description({static_cast<model::NodeId::Rep>(i)}));
    }
    snapshot.places = cluster::places(state.cluster);
    for (std::size_t i = 1; i < state.cluster.projects().size(); ++i) {
        const model::Project& project = state.cluster.projects()[i].project;
        if (!project.name.empty()) snapshot.projects.push_back(project);
    }
    snapshot.jobs.reserve(state.jobs.size());
    for (const auto& [id, record] : state.jobs) snapshot.jobs.push_back(record);
    for (std::size_t i = 0; i < state.cluster.pools().size(); ++i) add_history(snapshot, state, i);
    snapshot.profiles = state.profiles.ledgers();
    snapshot.policy = state.policy;
    snapshot.order = cluster::order_ledger(state.cluster);
    snapshot.ledger = state.ledger.book();
    return snapshot;
}

namespace {

void restore_job(State& state, const model::JobRecord& record) {
    cluster::Cluster& cluster = state.cluster;
    const auto pool = [&] {
        return cluster::pool_of(cluster, cluster.job(record.id), record.tasks);
    };
    cluster.add_job(record.id, record.spec, record.created, {record.user, record.command});
    cluster.set_waiting(record.id, std::max(record.created, record.waiting_since));
    // What it was given since its processes started comes last.
    std::span<const model::TaskPlacement> started(record.tasks);
    std::span<const model::TaskPlacement> fresh;
    if (record.is_resizing()) {
        const auto count = std::min(started.size(), static_cast<std::size_t>(record.started_tasks));
        fresh = started.subspan(count);
        started = started.first(count);
    }
    if (!started.empty()) cluster.place(record.id, pool(), started);
    if (record.last_start) cluster.set_started(record.id, *record.last_start);
    cluster.set_saved(record.id, record.last_checkpoint.value_or(cluster.job(record.id).last_saved),
                      record.saves_when_asked);
    if (!fresh.empty()) cluster.place(record.id, pool(), fresh);
    if (record.last_pause) cluster.set_paused(record.id, record.last_pause->time);
    if (record.stale_since) {
        cluster.history().stale[record.id] = {*record.stale_since, record.spec.stale_grace};
    }
    leave_or_join_line(state, record);
    if (!record.tasks.empty()) cluster.release(record.id, record.releasing);
    if (record.state == model::JobState::Paused) stay_where_frozen(state, record);
    state.jobs.emplace(record.id, record);
    if (record.spec.may_share) state.sharing.insert(record.id);
    ++state.count(record.state);
}

void restore_hold(State& state, const model::JobRecord& record) {
    if (record.reserved.empty()) return;
    const cluster::Job& job = state.cluster.job(record.id);
    const base::PoolId pool = cluster::pool_of(state.cluster, job, record.reserved);
    const model::TimePoint deadline = record.hold_deadline.value_or(state.time);
    state.cluster.reserve(record.id, pool, record.reserved, deadline, record.hold_rule);
}

}  // namespace

State restore(const model::Snapshot& snapshot) {
    State state;
    state.sequence = snapshot.sequence;
    state.time = snapshot.time;
    state.last_job = snapshot.last_job;
    state.incarnations = snapshot.incarnations;
    cluster::keep_ranks(state.cluster, snapshot.time);
    state.cluster.set_levels(snapshot.levels);
    for (const model::Pool& pool : snapshot.pools) state.cluster.set_pool(pool);
    for (const model::Node& node : snapshot.nodes) state.cluster.set_node(node);
    restore_places(state, snapshot.places);
    for (const model::Project& project : snapshot.projects) state.cluster.set_project(project);
    for (const model::JobRecord& record : snapshot.jobs) restore_job(state, record);
    restore_history(state, snapshot);
    state.profiles.restore(snapshot.profiles);
    state.policy = model::under_new_names(snapshot.policy);
    // Promises last: the GPUs may still be in use by jobs that are leaving. And after them what
    // each job has had: whatever is done to it counts that up to now, which rounds.
    for (const model::JobRecord& record : snapshot.jobs) restore_hold(state, record);
    for (const model::JobRecord& record : snapshot.jobs) restore_attained(state, record);
    // One of an earlier version has none: then it is learned anew, from those that live.
    cluster::restore_order(state.cluster, snapshot.order);
    // Nor has it a ledger: that begins now.
    open_ledger(state, snapshot.ledger);
    return state;
}

}  // namespace berth::lifecycle
