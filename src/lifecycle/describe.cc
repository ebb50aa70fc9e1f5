// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/describe.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "cluster/gang.h"
#include "lifecycle/charging.h"
#include "model/job/companions.h"
#include "model/limits.h"

namespace berth::lifecycle {
namespace {

constexpr auto kComing = cluster::View::Coming;

using base::Result;
using base::Status;
using model::Description;
using model::JobDescription;
using model::TaskDescription;
using model::TaskPlacement;
using model::TaskState;

class Describer {
  public:
    explicit Describer(const Description& description) : description_(description) {}

    Result<State> run() {
        if (description_.levels != model::default_levels()) {
            BERTH_TRY_VOID(record({}, model::LevelsSet{description_.levels}));
        }
        // Where they have their spares is said when all are there.
        for (model::Pool pool : description_.pools) {
            pool.spares.clear();
            BERTH_TRY_VOID(record({}, model::PoolSet{std::move(pool)}));
        }
        for (const model::Pool& pool : description_.pools) {
            BERTH_TRY_VOID(record({}, model::PoolSet{pool}));
        }
        BERTH_TRY_VOID(add_nodes());
        BERTH_TRY_VOID(add_projects());
        for (const model::ProfileLedger& each : description_.profiles) {
            BERTH_TRY_VOID(model::check_limits(each.profile));
        }
        state_.profiles.restore(description_.profiles);
        std::vector<const JobDescription*> jobs;
        for (const JobDescription& job : description_.jobs) jobs.push_back(&job);
        if (!description_.as_listed) {
            std::ranges::stable_sort(jobs, {}, [](const JobDescription* job) {
                return std::tie(job->created, job->spec.project, job->spec.name);
            });
        }
        std::int64_t id = 0;
        for (const JobDescription* job : jobs) {
            if (const Status past = model::check_limits(*job, description_.now); !past) {
                return base::invalid("job \"" + job->spec.name + "\": " + past.error().message);
            }
            BERTH_TRY_VOID(add_job({++id}, *job));
        }
        // Stated places first, so that an open choice of GPUs cannot take them.
        for (const bool stated : {true, false}) {
            id = 0;
            for (const JobDescription* job : jobs) {
                BERTH_TRY_VOID(place_tasks({++id}, *job, stated));
            }
        }
        BERTH_TRY_VOID(choose_gpus_of_others());
        id = 0;
        for (const JobDescription* job : jobs) BERTH_TRY_VOID(finish_job({++id}, *job));
        BERTH_TRY_VOID(keep_promises(jobs));
        state_.time = std::max(state_.time, description_.now);
        if (description_.order) cluster::restore_order(state_.cluster, *description_.order);
        return std::move(state_);
    }

  private:
    Status record(model::TimePoint time, model::EventBody body) {
        BERTH_TRY_VOID(check(state_, body));
        apply(state_, {state_.sequence + 1, time, "description", std::move(body)});
        return {};
    }

    // Ties between nodes go to the lower id: here by name, unless the order in the file counts.
    Status add_nodes() {
        std::vector<const model::Node*> nodes;
        for (const model::Node& node : description_.nodes) nodes.push_back(&node);
        if (!description_.as_listed) std::ranges::stable_sort(nodes, {}, &model::Node::name);
        for (const model::Node* node : nodes) {
            if (state_.cluster.find_node(node->name).is_valid()) {
                return base::invalid("node \"" + node->name + "\" is described twice");
            }
            model::Node known = *node;
            known.others.gpus = static_cast<int>(std::ssize(known.others.gpu_indices));
            BERTH_TRY_VOID(check_limits(node->others));
            BERTH_TRY_VOID(record({}, model::NodeSet{std::move(known)}));
        }
        restore_places(state_, description_.places);
        return {};
    }

    // Of those that our tasks leave: the file does not say which they are.
    Status choose_gpus_of_others() {
        for (const model::Node& node : description_.nodes) {
            if (node.others.gpus == std::ssize(node.others.gpu_indices)) continue;
            BERTH_TRY_VOID(record({}, model::NodeUsedByOthers{node.name, node.others}));
        }
        return {};
    }

    // Parents before children, whatever the order in the file.
    Status add_projects() {
        std::vector<const model::Project*> waiting;
        for (const model::Project& project : description_.projects) waiting.push_back(&project);
        std::ranges::sort(waiting, {}, [](const model::Project* project) {
            return std::tie(project->order, project->name);
        });
        while (!waiting.empty()) {
            const auto ready = std::ranges::stable_partition(waiting, [&](const auto* project) {
                return !project->parent.empty() &&
                       !state_.cluster.find_project(project->parent).is_valid();
            });
            if (ready.empty()) {
                return base::invalid("project \"" + waiting.front()->name + "\": parent \"" +
                                     waiting.front()->parent + "\" does not exist");
            }
            for (const model::Project* project : ready) {
                BERTH_TRY_VOID(record({}, model::ProjectSet{*project}));
            }
            waiting.erase(ready.begin(), ready.end());
        }
        return {};
    }

    Status add_job(model::JobId id, const JobDescription& job) {
        BERTH_TRY_VOID(record(job.created, model::JobSubmitted{id, job.spec, {}, {}}));
        return {};
    }

    static bool runs(const TaskDescription& task) {
        return task.state == TaskState::Running || task.state == TaskState::Releasing;
    }

    static bool is_stated(const JobDescription& job) {
        return std::ranges::all_of(job.tasks, [](const TaskDescription& task) {
            return !runs(task) || !task.gpu_indices.empty();
        });
    }

    Status place_tasks(model::JobId id, const JobDescription& job, bool stated) {
        if (is_stated(job) != stated) return {};
        std::vector<TaskPlacement> placed;
        int rank = 0;
        for (const TaskDescription& task : job.tasks) {
            const int own_rank = rank++;
            if (!runs(task)) continue;
            BERTH_TRY(place, place_task(id, job, own_rank, placed));
            placed.push_back(place);
        }
        if (placed.empty()) return {};
        const model::TimePoint started = job.last_start.value_or(job.created);
        BERTH_TRY_VOID(record(started, model::JobStarting{id, 1, {}, std::move(placed)}));
        return record(started, model::JobRunning{id});
    }

    Result<TaskPlacement> place_task(model::JobId id, const JobDescription& job, int rank,
                                     const std::vector<TaskPlacement>& siblings) const {
        const TaskDescription& task = job.tasks[static_cast<std::size_t>(rank)];
        const int asks = model::request_of(job.spec, rank).gpus;
        const auto node = state_.cluster.find_node(task.node);
        const std::string where = "job \"" + job.spec.name + "\": node \"" + task.node + "\"";
        if (!node.is_valid()) return base::invalid(where + " does not exist");
        const cluster::Cluster& cluster = state_.cluster;
        const base::ShapeId shape = cluster::asked_by(cluster, cluster.job(id).shape, rank);
        const model::GpuPart part = cluster.part_on(shape, node);
        const auto has_room = [&](int gpu) {
            model::GpuPart room = cluster.unused(node, gpu);
            for (const TaskPlacement& sibling : siblings) {
                const bool is_here = sibling.node == node && (sibling.gpu_mask >> gpu & 1) != 0;
                if (is_here) room = room - sibling.part();
            }
            return part.fits_in(room);
        };
        std::vector<int> gpus = task.gpu_indices;
        for (int gpu = 0; task.gpu_indices.empty() && gpu < cluster.nodes()[node.index()].gpus &&
                          std::ssize(gpus) < asks;
             ++gpu) {
            if (has_room(gpu)) gpus.push_back(gpu);
        }
        std::uint64_t mask = 0;
        for (const int gpu : gpus) {
            if (gpu < 0 || gpu >= cluster.nodes()[node.index()].gpus || !has_room(gpu)) {
                return base::invalid(where + ": GPU " + std::to_string(gpu) +
                                     " is not there or already in use by other tasks");
            }
            mask |= std::uint64_t{1} << gpu;
        }
        if (std::popcount(mask) != asks) {
            return base::invalid(where + ": wanted " + std::to_string(asks) + " free GPUs, found " +
                                 std::to_string(std::popcount(mask)));
        }
        return at_rank(rank, cluster.task_on(shape, node, mask));
    }

    static TaskPlacement at_rank(int rank, TaskPlacement place) {
        place.task = rank;
        return place;
    }

    Status finish_job(model::JobId id, const JobDescription& job) {
        std::vector<int> releasing;
        for (std::size_t i = 0; i < job.tasks.size(); ++i) {
            if (job.tasks[i].state == TaskState::Releasing)
                releasing.push_back(static_cast<int>(i));
        }
        const bool runs = state_.jobs.at(id).state == model::JobState::Running;
        if (job.last_checkpoint && runs) {
            BERTH_TRY_VOID(record(*job.last_checkpoint, model::CheckpointSaved{id}));
        }
        if (!releasing.empty()) {
            const bool whole_job = releasing.size() == state_.jobs.at(id).tasks.size();
            model::PauseRequested request{
                id,        model::Rule::Reclaim, {},   {}, description_.now,
                whole_job, std::move(releasing), false};
            const model::TimePoint asked = job.last_pause.value_or(description_.now);
            BERTH_TRY_VOID(record(std::max(asked, state_.jobs.at(id).settled), std::move(request)));
        }
        if (job.waiting_since) {
            state_.jobs.at(id).waiting_since = *job.waiting_since;
            state_.cluster.set_waiting(id, *job.waiting_since);
        }
        if (!runs && job.last_start) state_.cluster.set_started(id, *job.last_start);
        model::JobRecord& known = state_.jobs.at(id);
        if (job.last_pause && known.releasing.empty()) {
            known.last_pause = model::PauseReceipt{};
            known.last_pause->time = *job.last_pause;
            known.last_pause->stopped = *job.last_pause;
            state_.cluster.set_paused(id, *job.last_pause);
        }
        set_saves_when_asked(state_, known, job.saves_when_asked);
        if (job.stale_since && known.stale_since) {
            known.stale_since = job.stale_since;
            state_.cluster.history().stale[id] = {*job.stale_since, job.spec.stale_grace};
        }
        BERTH_TRY_VOID(keep_frozen(id, job));
        if (job.parked_since && known.tasks.empty()) {
            known.parked_since = job.parked_since;
            leave_or_join_line(state_, known);
        }
        known.pauses += job.pauses;
        known.losses += job.losses;
        if (job.held) BERTH_TRY_VOID(record(description_.now, model::JobHeld{id}));
        if (job.attained) {
            known.attained_gpu_ms = job.attained->count();
            known.settled = description_.now;
        }
        restore_attained(state_, known);
        return {};
    }

    Status keep_frozen(model::JobId id, const JobDescription& job) {
        model::JobRecord& known = state_.jobs.at(id);
        for (std::size_t rank = 0; rank < job.tasks.size(); ++rank) {
            if (job.tasks[rank].state != TaskState::Frozen) continue;
            BERTH_TRY(place, stated_place(id, job, rank, static_cast<int>(rank)));
            known.frozen.push_back(place);
        }
        if (known.frozen.empty()) return {};
        if (!known.last_pause) known.last_pause = model::PauseReceipt{};
        known.last_pause->frozen = model::Frozen{.gpu_memory = job.frozen_gpu_memory};
        stay_where_frozen(state_, known);
        return {};
    }

    // Of the task that stands there in the list. Any task may be on the node.
    Result<TaskPlacement> stated_place(model::JobId id, const JobDescription& job, std::size_t at,
                                       int rank) const {
        const TaskDescription& task = job.tasks[at];
        const cluster::Cluster& cluster = state_.cluster;
        const auto node = cluster.find_node(task.node);
        const std::string where = "job \"" + job.spec.name + "\": node \"" + task.node + "\"";
        if (!node.is_valid()) return base::invalid(where + " does not exist");
        std::uint64_t mask = 0;
        for (const int gpu : task.gpu_indices) {
            if (gpu < 0 || gpu >= cluster.nodes()[node.index()].gpus) {
                return base::invalid(where + ": GPU " + std::to_string(gpu) + " is not there");
            }
            mask |= std::uint64_t{1} << gpu;
        }
        if (std::popcount(mask) != model::request_of(job.spec, rank).gpus) {
            return base::invalid(where + ": a task that is promised or frozen names all its GPUs");
        }
        const base::ShapeId shape = cluster::asked_by(cluster, cluster.job(id).shape, rank);
        return at_rank(rank, cluster.task_on(shape, node, mask));
    }

    // Last: the GPUs may still be in use by jobs that are leaving. Of promises without GPUs those
    // come first that are kept longest: what was promised later stands.
    Status keep_promises(const std::vector<const JobDescription*>& jobs) {
        std::vector<std::pair<model::JobId, const JobDescription*>> by_time;
        std::int64_t id = 0;
        for (const JobDescription* job : jobs) {
            ++id;
            const auto promised =
                std::ranges::find(job->tasks, TaskState::Promised, &TaskDescription::state);
            if (promised != job->tasks.end()) by_time.emplace_back(id, job);
        }
        std::ranges::stable_sort(by_time, std::greater(), [](const auto& each) {
            return std::pair(!is_open_promise(*each.second), each.second->promised_until);
        });
        for (const auto& [job, described] : by_time) BERTH_TRY_VOID(keep_promise(job, *described));
        return {};
    }

    static bool is_open_promise(const JobDescription& job) {
        return std::ranges::all_of(job.tasks, [](const TaskDescription& task) {
            return task.state != TaskState::Promised || task.gpu_indices.empty();
        });
    }

    Status keep_promise(model::JobId id, const JobDescription& job) {
        const std::size_t left = model::places_before_promise(job);
        std::vector<TaskPlacement> promised;
        if (is_open_promise(job)) {
            promised = open_promise(id, job, left);
        } else {
            for (std::size_t at = left; at < job.tasks.size(); ++at) {
                if (job.tasks[at].state != TaskState::Promised) continue;
                BERTH_TRY(place, stated_place(id, job, at, static_cast<int>(at - left)));
                promised.push_back(place);
            }
        }
        if (promised.empty()) return {};
        const model::TimePoint until = job.promised_until.value_or(description_.now);
        return record(description_.now,
                      model::JobReserved{id, model::Rule::Reclaim, until, std::move(promised)});
    }

    // The places of a promise that names no GPUs; none when a task of it has no room any more.
    std::vector<TaskPlacement> open_promise(model::JobId id, const JobDescription& description,
                                            std::size_t left) {
        cluster::Cluster& cluster = state_.cluster;
        const cluster::Job& job = cluster.job(id);
        const cluster::Trial trial(cluster);
        std::vector<TaskPlacement> places;
        for (std::size_t at = left; at < description.tasks.size(); ++at) {
            const TaskDescription& task = description.tasks[at];
            if (task.state != TaskState::Promised) continue;
            const int rank = static_cast<int>(at - left);
            const auto place = coming_place(job, rank, cluster.find_node(task.node));
            if (!place) return {};
            cluster.take(kComing, cluster::asked_by(cluster, job.shape, rank), *place);
            places.push_back(*place);
        }
        if (places.empty()) return {};
        const base::PoolId pool = cluster::pool_of(cluster, job, places);
        const auto pools = cluster.pools_of(job);
        const auto is_there = [&](const TaskPlacement& place) {
            return (job.is_companion(place.task) && place.gpu_mask == 0) ||
                   cluster.nodes()[place.node.index()].pool == pool;
        };
        if (std::ranges::find(pools, pool) == pools.end()) return {};
        return std::ranges::all_of(places, is_there) ? places : std::vector<TaskPlacement>{};
    }

    // The lowest GPUs of the node that are free or being left; none when they are too few.
    std::optional<TaskPlacement> coming_place(const cluster::Job& job, int rank,
                                              base::NodeId node) const {
        const cluster::Cluster& cluster = state_.cluster;
        if (!node.is_valid()) return {};
        const cluster::NodeState& state = cluster.nodes()[node.index()];
        const base::ShapeId shape = cluster::asked_by(cluster, job.shape, rank);
        const int asks = model::request_of(state_.jobs.at(job.id).spec, rank).gpus;
        const bool has_room = state.is_ready && cluster.allows(shape, state.kind) &&
                              (asks == 0 || !cluster.others().is_overfull(node)) &&
                              cluster.cpu_on(shape, node) <= state.cpu.free(kComing) &&
                              cluster.memory_on(shape, node) <= state.memory.free(kComing) &&
                              cluster.resources().fits(shape, node, kComing);
        if (!has_room) return {};
        const model::GpuPart part = cluster.part_on(shape, node);
        std::uint64_t mask = 0;
        for (int gpu = 0; gpu < state.gpus && std::popcount(mask) < asks; ++gpu) {
            const bool fits = part.fits_in(cluster.free_part(kComing, node, gpu));
            mask |= std::uint64_t{fits} << gpu;
        }
        if (std::popcount(mask) < asks) return {};
        return at_rank(rank, cluster.task_on(shape, node, mask));
    }

    const Description& description_;
    State state_;
};

}  // namespace

Result<State> from_description(const Description& description) {
    BERTH_TRY(state, Describer(description).run());
    open_ledger(state);
    return std::move(state);
}

}  // namespace berth::lifecycle
