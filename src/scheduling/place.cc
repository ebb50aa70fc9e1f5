// SPDX-License-Identifier: Apache-2.0
#include "scheduling/place.h"

#include <bit>

#include "base/check.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::FreeIndex;
using cluster::NodeState;
using model::TaskPlacement;

constexpr std::size_t index(View view) { return static_cast<std::size_t>(view); }

class Placer {
  public:
    Placer(const PoolView& view, ShapeId shape, model::JobKind kind)
        : view_(view),
          cluster_(view.cluster),
          shape_(shape),
          request_(cluster_.shape(shape).request),
          spreading_(kind == model::JobKind::Train ? view.policy.train : view.policy.build) {}

    // A place for one more task, or a placement on no node.
    TaskPlacement next(View capacity) const {
        if (request_.gpus == 0) return next_without_gpu(capacity);
        if (!request_.is_whole()) {
            if (const TaskPlacement shared = next_shared(capacity); shared.node.is_valid()) {
                return shared;
            }
        }
        return next_whole(capacity);
    }

    bool host_fits(NodeId node, View capacity) const {
        const NodeState& state = cluster_.nodes()[node.index()];
        return cluster_.cpu_on(shape_, node) <= state.cpu.free(capacity) &&
               cluster_.memory_on(shape_, node) <= state.memory.free(capacity);
    }

    // On this node, when it has room.
    TaskPlacement on_node(NodeId node, View capacity) const {
        const NodeState& state = cluster_.nodes()[node.index()];
        if (!cluster_.allows(shape_, state.kind) || !state.is_ready) return {};
        if (!host_fits(node, capacity)) return {};
        std::uint64_t mask = 0;
        const MilliGpu share = cluster_.share_on(shape_, node);
        // One share goes to the fullest GPU it fits. Several shares go to the emptiest ones:
        // pairing scarce room with scarce room could miss a solution.
        const bool fullest = request_.gpus == 1;
        for (int chosen = 0; chosen < request_.gpus; ++chosen) {
            int best = -1;
            MilliGpu best_free{0};
            for (int gpu = 0; gpu < state.gpus; ++gpu) {
                const MilliGpu free = cluster_.free(capacity, node, gpu);
                const bool is_taken = (mask >> gpu & 1) != 0;
                if (is_taken || free < share) continue;
                if (best >= 0 && (fullest ? free >= best_free : free <= best_free)) continue;
                best = gpu;
                best_free = free;
            }
            if (best < 0) return {};
            mask |= std::uint64_t{1} << best;
        }
        return make(node, mask, share);
    }

  private:
    TaskPlacement make(NodeId node, std::uint64_t mask, MilliGpu share) const {
        return {0,
                node,
                mask,
                share,
                {cluster_.cpu_on(shape_, node)},
                {cluster_.memory_on(shape_, node)}};
    }

    TaskPlacement next_whole(View capacity) const {
        const auto& pool = cluster_.pool(view_.pool);
        const FreeIndex& free = pool.free[index(capacity)];
        const int most = pool.gpus_per_node_max;
        const bool packs = spreading_ == model::Spreading::BinPack;
        for (int step = 0; step <= most - request_.gpus; ++step) {
            const int count = packs ? request_.gpus + step : most - step;
            const auto& nodes = free.nodes_with(count);
            for (NodeId node = nodes.next({0}); node.is_valid();
                 node = nodes.next({node.value + 1})) {
                const NodeState& state = cluster_.nodes()[node.index()];
                if (!cluster_.allows(shape_, state.kind) || !host_fits(node, capacity)) continue;
                std::uint64_t mask = 0;
                std::uint64_t whole = state.whole[index(capacity)];
                for (int i = 0; i < request_.gpus; ++i, whole &= whole - 1) {
                    mask |= whole & (~whole + 1);
                }
                return make(node, mask, cluster_.share_on(shape_, node));
            }
        }
        return {};
    }

    // A part of a GPU that is shared already.
    TaskPlacement next_shared(View capacity) const {
        if (request_.gpus > 1) return next_scanning(capacity);
        const auto& partial = cluster_.pool(view_.pool).free[index(capacity)].partial();
        const bool by_memory = request_.gpu_memory > model::Bytes{0};
        const MilliGpu least = by_memory ? MilliGpu{1} : request_.share;
        for (auto gpu = partial.lower_bound({least, NodeId{0}, 0}); gpu != partial.end(); ++gpu) {
            const NodeState& state = cluster_.nodes()[gpu->node.index()];
            const MilliGpu share = cluster_.share_on(shape_, gpu->node);
            if (gpu->free < share || !cluster_.allows(shape_, state.kind)) continue;
            if (!host_fits(gpu->node, capacity)) continue;
            return make(gpu->node, std::uint64_t{1} << gpu->gpu, share);
        }
        return {};
    }

    // Several shares of different GPUs on one node: rare, so nodes are tried one by one.
    TaskPlacement next_scanning(View capacity) const {
        for (std::size_t node = 0; node < cluster_.nodes().size(); ++node) {
            const NodeId id{static_cast<NodeId::Rep>(node)};
            if (cluster_.nodes()[node].pool != view_.pool) continue;
            const TaskPlacement found = on_node(id, capacity);
            if (found.node.is_valid()) return found;
        }
        return {};
    }

    TaskPlacement next_without_gpu(View capacity) const {
        for (const bool with_gpus : {false, true}) {
            for (std::size_t node = 0; node < cluster_.nodes().size(); ++node) {
                const NodeState& state = cluster_.nodes()[node];
                if (state.pool != view_.pool || (state.gpus > 0) != with_gpus) continue;
                const TaskPlacement found = on_node({static_cast<NodeId::Rep>(node)}, capacity);
                if (found.node.is_valid()) return found;
            }
        }
        return {};
    }

    const PoolView& view_;
    const Cluster& cluster_;
    ShapeId shape_;
    const model::TaskRequest& request_;
    model::Spreading spreading_;
};

// Whether the free counts alone rule it out: most refusals end here.
bool is_hopeless(const PoolView& view, const cluster::Job& job, int tasks, View capacity) {
    const auto& pool = view.cluster.pool(view.pool);
    const model::TaskRequest& request = view.cluster.shape(job.shape).request;
    if (request.gpus == 0) return false;
    if (!request.is_whole()) {
        return pool.free_total[index(capacity)] < request.share * request.gpus * tasks &&
               request.gpu_memory == model::Bytes{0};
    }
    return pool.free[index(capacity)].slots(request.gpus, pool.gpus_per_node_max) < tasks;
}

}  // namespace

std::optional<std::vector<TaskPlacement>> place(const PoolView& view, const cluster::Job& job,
                                                int tasks, View capacity) {
    if (is_hopeless(view, job, tasks, capacity)) return {};
    std::vector<TaskPlacement> placed = place_fitting(view, job, tasks, capacity);
    if (std::ssize(placed) < tasks) return {};
    return placed;
}

std::vector<TaskPlacement> place_fitting(const PoolView& view, const cluster::Job& job, int tasks,
                                         View capacity) {
    const Placer placer(view, job.shape, job.kind);
    const cluster::Trial trial(view.cluster);
    // Several shares each: preferring idle GPUs would pair them up and could miss a solution.
    const model::TaskRequest& request = view.cluster.shape(job.shape).request;
    const bool idle_first = capacity == View::Idle || request.gpus <= 1 || request.is_whole();
    std::vector<TaskPlacement> placed;
    for (const int rank : job.free_ranks(tasks)) {
        TaskPlacement task = idle_first ? placer.next(View::Idle) : TaskPlacement{};
        if (!task.node.is_valid() && capacity == View::Coming) task = placer.next(View::Coming);
        if (!task.node.is_valid()) break;
        task.task = rank;
        view.cluster.take(capacity, task);
        placed.push_back(task);
    }
    return placed;
}

std::optional<TaskPlacement> place_on(const PoolView& view, ShapeId shape, NodeId node,
                                      View capacity) {
    const TaskPlacement place = Placer(view, shape, model::JobKind::Train).on_node(node, capacity);
    if (!place.node.is_valid()) return {};
    return place;
}

}  // namespace berth::scheduling
