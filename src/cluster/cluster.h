// SPDX-License-Identifier: Apache-2.0
//
// What is free, who holds what, who waits? The indexed state that decisions read, made of
// nodes (node_state.h), jobs (job_state.h), and pools with what projects claim (pool_state.h).
//
// Changes marked [trial] are recorded while a Trial is open and can be taken back; the others are
// for lifecycle/ alone. Ids are positions: nodes, projects, pools and shapes are never removed.
// Cost of a change: O(log) of the jobs in one project, never of the cluster's size.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/jobs/free_classes.h"
#include "cluster/jobs/history.h"
#include "cluster/membership.h"
#include "cluster/nodes/node_kinds.h"
#include "cluster/nodes/node_resources.h"
#include "cluster/nodes/others.h"
#include "cluster/pool_state.h"
#include "cluster/trial.h"

namespace berth::cluster {

class Cluster {
  public:
    Cluster();

    // --- tables, for reading
    std::span<const NodeState> nodes() const { return nodes_; }
    model::Node description(NodeId node) const;
    const std::string& node_name(NodeId node) const { return node_names_[node.index()]; }
    std::span<const ProjectState> projects() const { return projects_; }
    std::span<const PoolState> pools() const { return pools_; }
    const PoolState& pool(PoolId pool) const { return pools_[pool.index()]; }
    const Shape& shape(ShapeId shape) const { return shapes_[shape.index()]; }
    const Claim& claim(PoolId pool, ProjectId project) const {
        return pools_[pool.index()].claims[project.index()];
    }
    NodeId find_node(std::string_view name) const;  // not valid when unknown, as the next two
    ProjectId find_project(std::string_view name) const;
    PoolId find_pool(std::string_view name) const;
    const Job* find_job(JobId job) const { return jobs_.get(job); }
    const Job& job(JobId job) const;
    const ChangedNodes& changed_nodes() const { return changed_; }
    const Jobs& jobs() const { return jobs_; }  // all that have not ended, by id
    const Membership& membership() const { return membership_; }
    bool is_leaf(ProjectId project) const { return projects_[project.index()].children.empty(); }
    // What is left of one GPU of a ready node, and the largest share, of both alike, in that.
    GpuPart free_part(View view, NodeId node, int gpu) const;
    MilliGpu compute_left(View view, NodeId node, int gpu) const;
    MilliGpu free(View view, NodeId node, int gpu) const;
    GpuPart unused(NodeId node, int gpu) const;  // by anybody now, promised or not, ready or not
    GpuPart whole_gpu(NodeId node) const;
    // Those with tasks on a node, running or being released, once for each task.
    std::span<const JobId> jobs_on(NodeId node) const { return jobs_on_[node.index()]; }
    const base::SortedRuns<JobId>& reserved_jobs() const { return reserved_jobs_; }
    const History& history() const { return history_; }
    const RankBook& ranks() const { return ranks_; }
    int minimum_runs() const { return minimum_runs_; }  // stated by jobs
    const NodeKinds& kinds() const { return kinds_; }
    bool allows(ShapeId shape, std::uint16_t node_kind) const;  // by model and labels
    // What a task of the shape takes of each of its GPUs on the node, and what that counts as.
    GpuPart part_on(ShapeId shape, NodeId node) const;
    MilliGpu share_on(ShapeId shape, NodeId node) const;
    // A task of rank 0.
    TaskPlacement task_on(ShapeId shape, NodeId node, std::uint64_t gpu_mask) const;
    MilliGpu counted(const TaskPlacement& task) const;  // as its GPUs' model is exchanged
    // The GPUs of one task; a request by memory is its part of the smallest GPU of the pool (R14).
    MilliGpu footprint(ShapeId shape, PoolId pool) const;
    // What one waiting task counts as, by the least weight of the nodes that may carry it; and may
    // come to, by the greatest: bounds are asked about that much.
    MilliGpu demand(ShapeId shape, PoolId pool) const;
    MilliGpu most_gpus(ShapeId shape, PoolId pool) const;
    // The pools that a job names, in order; those in whose line it stands, or in which it runs.
    std::span<const PoolId> pools_of(const Job& job) const { return shape(job.shape).pools; }
    std::span<const PoolId> pools_wanted(const Job& job) const;
    // The GPUs to take for one task of whole GPUs, of those that are free.
    std::uint64_t choose_gpus(NodeId node, std::uint64_t free, int count, Spread spread) const;
    std::int64_t cpu_on(ShapeId shape, NodeId node) const;  // that a task takes of the node
    std::int64_t memory_on(ShapeId shape, NodeId node) const;
    const NodeResources& resources() const { return resources_; }
    const OthersTable& others() const { return others_; }
    int own_gpus(NodeId node) const;  // that others leave; those of a ready one are its capacity
    // --- where nodes stand, in which pool and together
    PoolId belongs_to(NodeId node) const;
    PoolId labelled(NodeId node) const;  // whatever it is bound to
    std::span<const std::string> levels() const { return levels_; }
    std::optional<int> level_named(std::string_view name) const;  // "node": levels().size()

    // --- the machine room and the tree; lifecycle/ only
    void set_levels(const model::Levels& levels);
    void set_pool(const model::Pool& pool);
    void remove_pool(PoolId pool);  // that nothing names; its id is never used again
    void set_node(const model::Node& node);
    void set_others(NodeId node, const model::OthersUse& use);  // O(GPUs of the node)
    void move_node(NodeId node, PoolId pool, bool is_bound);  // an empty one
    void set_project(const model::Project& project);
    // Without children and jobs; its past use is its department's, its id is never used again.
    void remove_project(ProjectId project);
    History& history() { return history_; }
    RankBook& ranks() { return ranks_; }  // for ranks.h
    // --- jobs; lifecycle/ only
    void add_job(JobId id, const model::JobSpec& spec, TimePoint time, const Origin& origin = {});
    void remove_job(JobId id);  // with all that it holds
    void set_request(JobId id, const model::TaskRequest& request);  // what it has changes too
    void set_size(JobId id, int tasks_min, int tasks_max);  // its tasks have the ranks from 0
    void set_may_run(JobId id, bool may_run, bool is_parked = false);
    void set_started(JobId id, TimePoint time);  // last_start and last_saved
    void set_saved(JobId id, TimePoint time, bool when_asked);  // as when it left last
    void set_waiting(JobId id, TimePoint since), set_paused(JobId id, TimePoint time);
    void set_attained(JobId id, const Attained& attained, Rank rank);  // ranks.h only
    void keep_losses(const MinimumRuns& runs, TimePoint now);  // at other times they tell less
    void vacate(JobId id, std::span<const int> ranks);  // these tasks are gone
    void set_pinned(JobId id, Pinned pinned);  // where its processes are kept; {}: nowhere any more
    // --- capacity [trial]; a share that says nothing of the memory is one of it as well
    void place(JobId id, PoolId pool, std::span<const TaskPlacement> tasks);
    void release(JobId id, std::span<const int> ranks);  // asked to leave
    void reserve(JobId id, PoolId pool, std::span<const TaskPlacement> tasks, TimePoint deadline,
                 model::Rule rule);
    void drop_reservation(JobId id);
    // Capacity alone, while a gang is being placed; what is given back was taken.
    void take(View view, ShapeId shape, const TaskPlacement& task);
    void give_back(View view, ShapeId shape, const TaskPlacement& task);

  private:
    friend class Trial;
    Job& mutable_job(JobId id);
    void count_loss(const Job& job, int sign);
    void note_work(NodeId node) { changed_.work.add(node, 2 * nodes_.size()); }
    void touch(NodeId node);
    void settle_requests_by_memory();
    void dequeue(const Job& job);  // and the sums of its projects and node
    void enqueue(const Job& job);
    void change(JobId id, auto&& change), change_loss(JobId id, auto&& change);
    void count_pending(const Job& job, std::int64_t sign);
    void add_usage(PoolId pool, ProjectId project, const Usage& amount, std::int64_t sign);
    void add_allocated(const Job& job, std::span<const TaskPlacement> tasks, std::int64_t sign);
    void set_releasing(Job& job, PlacedTask& task, bool releasing);
    void undo_release(Job& job, const Undo& entry);
    void leave_node(JobId id, NodeId node), vacate(const Job& job, const PlacedTask& task);
    void change_capacity(const TaskPlacement& task, Use use, std::int64_t sign);
    // And of other resources what the shape asks.
    void change_task(ShapeId shape, const TaskPlacement& task, Use use, std::int64_t sign);
    void set_resources(NodeId id, const model::Node& node);
    void reindex(NodeState& node, PartialGpu gpu, View view, GpuPart before, GpuPart now);
    void change_shared(NodeState& node, PartialGpu gpu, Use use, const GpuPart& amount);
    void change_gpu(NodeState& node, NodeId id, int gpu, Use use, const GpuPart& amount);
    void put_node(NodeId id, const model::Node& node), add_gpus(NodeState& node, int gpus);
    std::uint64_t free_gpus(NodeId node) const;
    void change_others(NodeId node, const Others& next), undo_others();
    // What they lack becomes theirs where something was left; their GPUs become ours.
    void settle_others(NodeId node), settle_others();
    void let_others_yield(std::span<const TaskPlacement> tasks);
    void enter_pool(NodeId id, PoolId pool), leave_pool(NodeId id);
    void review(NodeId id, PoolId labelled), review_all(), unbind(PoolId pool);  // membership.cc
    void index_node(NodeId id, std::int64_t sign);
    void put_into_domains(NodeId id);
    void change_domains(const std::function<void()>& change);
    void recount();  // what projects hold and want, after GPUs came to count differently
    void resolve_quota(PoolState& pool, ProjectId project), resolve_claims();
    ShapeId intern(Shape shape);
    void ask_about(const model::NodeTerm& term), weigh_kinds();
    void record(const Undo& entry);
    void record_take(View view, ShapeId shape, const TaskPlacement& task, Undo::What what);
    void undo_to(std::size_t mark), undo(const Undo& entry);
    model::Levels levels_ = model::default_levels();
    std::vector<NodeState> nodes_;
    std::vector<std::string> node_names_;
    HashIndex nodes_by_name_;
    GpuTable gpus_;
    OthersTable others_;
    NodeResources resources_;
    NodeKinds kinds_;
    std::vector<PoolState> pools_;
    Membership membership_;
    std::vector<ProjectState> projects_;
    LossBook loss_book_;
    ChangedNodes changed_;
    std::uint64_t last_stamp_ = 0;
    std::vector<Shape> shapes_;
    Jobs jobs_;
    std::vector<std::vector<JobId>> jobs_on_;  // by node
    base::SortedRuns<JobId> reserved_jobs_;
    FreeClasses free_classes_;
    History history_;
    RankBook ranks_;
    std::map<std::string, ProjectId, std::less<>> project_names_;
    int minimum_runs_ = 0, open_trials_ = 0;
    UndoList undo_;
};
}  // namespace berth::cluster
