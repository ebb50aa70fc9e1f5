// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/charging.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <variant>

namespace berth::lifecycle {
namespace {

using cluster::Cluster;
using ledger::Charge;
using ledger::Charges;
using ledger::Ledger;
using model::GpuUse;
using model::JobRecord;
using model::TaskPlacement;

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
constexpr ledger::Part kIdle{0, 1};

// Of a part of a GPU its time counts, so that no GPU has more than there is.
std::int64_t gpu_time(const TaskPlacement& task) {
    return task.share.value * std::popcount(task.gpu_mask);
}

void add(Charges& charges, const TaskPlacement& task, GpuUse use) {
    const std::int64_t milli = gpu_time(task);
    if (milli == 0) return;
    const bool is_same =
        !charges.empty() && charges.back().node == task.node && charges.back().use == use;
    if (is_same) {
        charges.back().milli += milli;
    } else {
        charges.push_back({task.node, use, milli});
    }
}

Charges used_by(const JobRecord& record) {
    Charges used;
    for (const TaskPlacement& task : record.tasks) add(used, task, use_of(record, task));
    return used;
}

void charge_node(State& state, base::NodeId id) {
    const cluster::NodeState& node = state.cluster.nodes()[id.index()];
    const int others = node.gpus - state.cluster.own_gpus(id);
    const std::string& pool = state.cluster.pool(node.pool).name;
    state.ledger.set_node(id, {node.pool, pool, state.cluster.description(id).gpu_model, node.gpus,
                               others, node.is_ready});
}

void charge_nodes(State& state) {
    for (std::size_t i = 0; i < state.cluster.nodes().size(); ++i) {
        charge_node(state, {static_cast<base::NodeId::Rep>(i)});
    }
}

// What it asks in each pool in whose line it stands.
ledger::Asks asks_of(const Cluster& cluster, const cluster::Job& job) {
    ledger::Asks asks;
    const model::TaskRequest& request = cluster.shape(job.shape).request;
    if (!job.may_run || job.reservation || !job.is_waiting() || request.gpus == 0) return asks;
    // What memory comes to of a GPU changes with the nodes of a pool, so any part is enough for it.
    const bool is_by_memory = request.gpu_memory != base::Bytes{0};
    const base::MilliGpu task = is_by_memory ? base::MilliGpu{1} : request.share * request.gpus;
    for (const base::PoolId pool : cluster.pools_wanted(job)) {
        asks.push_back(
            {pool, task * job.ask(), request.is_whole() ? request.gpus : 0, job.project});
    }
    return asks;
}

void charge_job(State& state, const JobRecord& record) {
    Charges promised;
    for (const TaskPlacement& task : record.reserved) add(promised, task, GpuUse::Reserved);
    state.ledger.set_job(record.id, {record.spec.project, record.user, record.attempts},
                         used_by(record), std::move(promised));
    state.waits.set(record.id, asks_of(state.cluster, state.cluster.job(record.id)));
}

void charge_free(State& state, base::PoolId pool) {
    state.ledger.set_free(pool, use_of_free(state, pool));
}

void charge_free(State& state) {
    for (std::size_t i = 0; i < state.cluster.pools().size(); ++i) {
        charge_free(state, {static_cast<base::PoolId::Rep>(i)});
    }
}

// What is known only with the event of what was before it.
class Afterthought {
  public:
    Afterthought(State& state, const model::Event& event, JobRecord* ended)
        : state_(state), ledger_(state.ledger), event_(event), ended_(ended) {}

    void operator()(const model::CheckpointSaved& saved) { ledger_.save(saved.job); }

    void operator()(const model::JobPaused& paused) {
        const JobRecord& record = state_.jobs.at(paused.job);
        if (!paused.saved && record.last_pause) {
            lose_to_pause(paused.job, record.last_pause->cost.unsaved_gpu_ms);
        }
        if (record.tasks.empty() && !paused.frozen) ledger_.save(paused.job);
    }

    void operator()(const model::JobResized& resized) {
        lose_to_pause(resized.job, resized.lost_gpu_ms);
    }

    void operator()(const model::JobUsed& used) {
        const std::int64_t gpus = ledger_.gpus_of(used.job);
        ledger_.measure(used.job, {used.busy.count(), used.measured.count()},
                        gpus * used.measured.count());
    }

    // It was parked as it had done nothing for that time.
    void operator()(const model::JobParked& parked) {
        const JobRecord& record = state_.jobs.at(parked.job);
        std::int64_t milli = 0;
        for (const TaskPlacement& task : record.frozen) milli += gpu_time(task);
        const base::Duration idle = record.spec.park_after.value_or(base::Duration{0});
        ledger_.measure(parked.job, kIdle, milli * idle.count());
    }

    void operator()(const model::JobMeasured& measured) {
        const JobRecord& record = state_.jobs.at(measured.job);
        if (!measured.profile.compute || record.tasks.empty()) return;
        ledger_.measure(measured.job,
                        {measured.profile.compute->value, record.tasks.front().share.value}, kAll);
    }

    void operator()(const model::AttemptLost& lost) {
        ledger_.lose(lost.job, GpuUse::LostToFailure, kAll);
    }

    // Its GPUs were its own until the server heard that it had ended.
    void operator()(const model::JobFinished& finished) {
        if (finished.ended) {
            const base::Duration late = event_.time - *finished.ended;
            ledger_.measure(finished.job, kIdle,
                            ledger_.gpus_of(ended_->id) * std::max<std::int64_t>(late.count(), 0));
        }
        if (finished.state == model::JobState::Failed) {
            ledger_.lose(finished.job, GpuUse::LostToFailure, kAll);
        }
        ended_->milli_gpu_ms = ledger_.end(finished.job);
        state_.waits.set(finished.job, {});
    }

    void operator()(const auto&) {}

  private:
    void lose_to_pause(model::JobId job, std::int64_t gpu_ms) {
        const std::int64_t most = std::min(gpu_ms, kAll / 1000) * 1000;
        ledger_.lose(job, GpuUse::LostToPause, most);
    }

    State& state_;
    Ledger& ledger_;
    const model::Event& event_;
    JobRecord* ended_;
};

// Whether the event puts nodes elsewhere, or into another state.
bool charge_nodes_of(State& state, const model::EventBody& event) {
    const auto one = [&](const std::string& name) {
        const base::NodeId id = state.cluster.find_node(name);
        if (id.is_valid()) charge_node(state, id);
        return true;
    };
    if (const auto* set = std::get_if<model::NodeSet>(&event)) return one(set->node.name);
    if (const auto* used = std::get_if<model::NodeUsedByOthers>(&event)) return one(used->node);
    if (const auto* moved = std::get_if<model::NodeMoved>(&event)) {
        one(moved->node);
        return one(moved->replaces);
    }
    const bool is_about_all = std::holds_alternative<model::LevelsSet>(event) ||
                              std::holds_alternative<model::PoolSet>(event) ||
                              std::holds_alternative<model::PoolRemoved>(event);
    if (is_about_all) charge_nodes(state);
    return is_about_all;
}

// Of its project and of those above it; a GPU counts as the least of the pool does.
bool is_within_limits(const Cluster& cluster, const cluster::PoolState& pool,
                      const ledger::Ask& ask) {
    constexpr std::int32_t kOne = 1'000;
    const std::int32_t weight =
        pool.weights.empty() ? kOne : *std::ranges::min_element(pool.weights);
    const base::MilliGpu counted{ask.gpus.value * weight / kOne};
    for (base::ProjectId at = ask.project; at != cluster::kRoot;
         at = cluster.projects()[at.index()].parent) {
        const cluster::Claim& claim = pool.claims[at.index()];
        if (claim.usage.allocated + counted > claim.limit) return false;
    }
    return true;
}

base::ShapeId shape_of(const State& state, const model::EventBody& event) {
    return std::visit(
        [&](const auto& body) -> base::ShapeId {
            if constexpr (requires { base::JobId{body.job}; }) {
                const cluster::Job* job = state.cluster.find_job(body.job);
                if (job != nullptr) return job->shape;
            }
            return {};
        },
        event);
}

}  // namespace

GpuUse use_of(const JobRecord& record, const TaskPlacement& task) {
    using model::JobState;
    const bool leaves = record.state == JobState::Pausing || record.state == JobState::Cancelling ||
                        std::ranges::find(record.releasing, task.task) != record.releasing.end();
    if (leaves) return GpuUse::Leaving;
    return record.state == JobState::Starting ? GpuUse::Starting : GpuUse::NotMeasured;
}

GpuUse use_of_free(const State& state, base::PoolId id) {
    if (!state.waits.has_any(id)) return GpuUse::Free;
    const cluster::PoolState& pool = state.cluster.pool(id);
    const ledger::Ask* ask = state.waits.smallest(
        id, [&](const ledger::Ask& each) { return is_within_limits(state.cluster, pool, each); });
    if (ask == nullptr) return GpuUse::BlockedByRules;
    constexpr auto kIdle = static_cast<std::size_t>(cluster::View::Idle);
    const bool fits = ask->gpus <= pool.free_total[kIdle] &&
                      ask->together <= pool.free[kIdle].free_together(pool.gpus_per_node_max);
    return fits ? GpuUse::BlockedByRules : GpuUse::BlockedByRoom;
}

base::ShapeId shape_before(const State& state, const model::EventBody& event) {
    return shape_of(state, event);
}

void charge(State& state, const model::Event& event, base::ShapeId before, JobRecord* ended) {
    std::visit(Afterthought(state, event, ended), event.body);
    if (charge_nodes_of(state, event.body)) return charge_free(state);
    if (std::holds_alternative<model::ProjectSet>(event.body)) return charge_free(state);
    // Jobs like the one that was measured share their GPU in another part from now on.
    if (std::holds_alternative<model::JobMeasured>(event.body)) {
        for (const model::JobId id : state.sharing) charge_job(state, state.jobs.at(id));
        return charge_free(state);
    }
    const base::ShapeId now = shape_of(state, event.body);
    if (now.is_valid()) {
        std::visit(
            [&](const auto& body) {
                if constexpr (requires { base::JobId{body.job}; }) {
                    charge_job(state, state.jobs.at(body.job));
                }
            },
            event.body);
    }
    for (const base::ShapeId shape : {before, now}) {
        if (!shape.is_valid()) continue;
        for (const base::PoolId pool : state.cluster.shape(shape).pools) charge_free(state, pool);
    }
}

void open_ledger(State& state, const model::LedgerBook& book) {
    state.ledger = {};
    state.waits = {};
    state.ledger.restore(book, state.time);
    charge_nodes(state);
    for (const auto& [id, record] : state.jobs) charge_job(state, record);
    charge_free(state);
}

}  // namespace berth::lifecycle
