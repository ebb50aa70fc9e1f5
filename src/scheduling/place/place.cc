// SPDX-License-Identifier: Apache-2.0
#include "scheduling/place/place.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

#include "base/check.h"
#include "scheduling/place/companions.h"
#include "scheduling/place/free_capacity.h"
#include "scheduling/place/group_places.h"

namespace berth::scheduling {
namespace {

using base::Bytes;
using cluster::Cluster;
using cluster::FreeIndex;
using cluster::GpuPart;
using cluster::NodeState;
using model::TaskPlacement;

constexpr std::size_t view_index(View view) { return static_cast<std::size_t>(view); }

// What is left of any GPU on which such a part has room, compute and memory together, is no less
// than this. A share of both is rounded down once on either side.
std::int32_t least_left(const model::TaskRequest& request) {
    if (request.gpu_memory == Bytes{0}) return int(2 * request.share.value - 1);
    return request.share == base::kWholeGpu ? 1 : int(request.share.value);
}

enum class NodeOrder {
    Fullest,   // bin-pack
    Emptiest,  // spread
    OneByOne,  // emptiest first, each until it is full: the fewest nodes
};

// The nodes of a region in the order in which they are filled, by whole GPUs that were free when
// they were put in; ties by node.
class NodeHeap {
  public:
    explicit NodeHeap(NodeOrder order) : sign_(order == NodeOrder::Fullest ? 1 : -1) {}

    void push(NodeId node, int whole) {
        entries_.emplace_back(sign_ * whole, node);
        std::ranges::push_heap(entries_, std::greater{});
    }
    std::optional<NodeId> top() const {
        if (entries_.empty()) return {};
        return entries_.front().second;
    }
    bool is_stale(int whole) const { return entries_.front().first != sign_ * whole; }
    void pop() {
        std::ranges::pop_heap(entries_, std::greater{});
        entries_.pop_back();
    }

    bool is_open = false;  // whether the nodes were put in

  private:
    int sign_;
    std::vector<std::pair<int, NodeId>> entries_;
};

// Finds places one after the other in one region.
class Placer {
  public:
    Placer(const PoolView& view, ShapeId shape, const Region& region, NodeOrder order,
           cluster::Spread spread)
        : view_(view),
          cluster_(view.cluster),
          shape_(shape),
          request_(cluster_.shape(shape).request),
          region_(region),
          order_(order),
          spread_(spread),
          heaps_{NodeHeap(order), NodeHeap(order)} {}

    // A place for one more task, or a placement on no node.
    TaskPlacement next(View capacity) {
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
        if (request_.gpus > 0 && cluster_.others().is_overfull(node)) return false;
        // What its processes take there already is not asked for twice.
        const std::int64_t more =
            cluster_.memory_on(shape_, node) - (node == pinned.node ? pinned.memory() : 0);
        return cluster_.cpu_on(shape_, node) <= state.cpu.free(capacity) &&
               more <= state.memory.free(capacity) &&
               cluster_.resources().fits(shape_, node, capacity);
    }

    cluster::Pinned pinned;  // of the job that is placed

    // On this node, when it has room.
    TaskPlacement on_node(NodeId node, View capacity) const {
        const NodeState& state = cluster_.nodes()[node.index()];
        if (!cluster_.allows(shape_, state.kind) || !state.is_ready) return {};
        if (!host_fits(node, capacity)) return {};
        const auto mask = choose_parts(node, capacity);
        return mask ? cluster_.task_on(shape_, node, *mask) : TaskPlacement{};
    }

  private:
    std::optional<std::uint64_t> lowest_whole(NodeId node, View capacity) const {
        std::uint64_t whole = cluster_.nodes()[node.index()].whole[view_index(capacity)];
        if (std::popcount(whole) < request_.gpus) return {};
        std::uint64_t mask = 0;
        for (int i = 0; i < request_.gpus; ++i, whole &= whole - 1) mask |= whole & (~whole + 1);
        return mask;
    }

    // A single part goes where least is left beside it. Several go to the GPUs with room for most
    // of them: pairing scarce room with scarce room could miss a solution.
    std::optional<std::uint64_t> choose_parts(NodeId node, View capacity) const {
        if (request_.is_whole()) return lowest_whole(node, capacity);
        const GpuPart part = cluster_.part_on(shape_, node);
        std::uint64_t mask = 0;
        for (int chosen = 0; chosen < request_.gpus; ++chosen) {
            int best = -1;
            std::pair<std::int64_t, std::int64_t> best_key;  // the smallest
            for (int gpu = 0; gpu < cluster_.nodes()[node.index()].gpus; ++gpu) {
                const GpuPart free_part = cluster_.free_part(capacity, node, gpu);
                if ((mask >> gpu & 1) != 0 || !part.fits_in(free_part)) continue;
                const std::int64_t left =
                    cluster::both_parts(free_part, cluster_.whole_gpu(node).memory);
                std::pair<std::int64_t, std::int64_t> key{0, left};
                if (request_.gpus > 1) key = {-parts_in(free_part, part), -left};
                if (best >= 0 && best_key <= key) continue;
                best = gpu;
                best_key = key;
            }
            if (best < 0) return {};
            mask |= std::uint64_t{1} << best;
        }
        return mask;
    }

    TaskPlacement next_whole(View capacity) {
        if (!region_.is_whole_pool()) return next_in_region(capacity);
        if (order_ == NodeOrder::OneByOne && last_.is_valid() && has_room(last_, capacity)) {
            return make_whole(last_, capacity);
        }
        const auto& pool = cluster_.pool(view_.pool);
        const FreeIndex& free = pool.free[view_index(capacity)];
        const int best = pool.gpus_per_node_max;
        const bool packs = order_ == NodeOrder::Fullest;
        for (int step = 0; step <= best - request_.gpus; ++step) {
            const int count = packs ? request_.gpus + step : best - step;
            const auto& nodes = free.nodes_with(count);
            for (const NodeId node : nodes) {
                if (!has_room(node, capacity)) continue;
                last_ = node;
                return make_whole(node, capacity);
            }
        }
        return {};
    }

    TaskPlacement next_in_region(View capacity) {
        NodeHeap& heap = heaps_[view_index(capacity)];
        if (!heap.is_open) {
            heap.is_open = true;
            cluster::visit_nodes(cluster_, view_.pool, region_, [&](NodeId node) {
                if (has_room(node, capacity)) heap.push(node, whole_on(node, capacity));
            });
        }
        while (const auto node = heap.top()) {
            if (!has_room(*node, capacity)) {
                heap.pop();
            } else if (order_ == NodeOrder::Emptiest && heap.is_stale(whole_on(*node, capacity))) {
                heap.pop();
                heap.push(*node, whole_on(*node, capacity));
            } else {
                return make_whole(*node, capacity);
            }
        }
        return {};
    }

    int whole_on(NodeId node, View capacity) const {
        return cluster_.nodes()[node.index()].free_gpus(capacity);
    }

    bool has_room(NodeId node, View capacity) const {
        const NodeState& state = cluster_.nodes()[node.index()];
        return whole_on(node, capacity) >= request_.gpus && state.pool == view_.pool &&
               cluster_.allows(shape_, state.kind) && host_fits(node, capacity);
    }

    TaskPlacement make_whole(NodeId node, View capacity) const {
        const std::uint64_t whole = cluster_.nodes()[node.index()].whole[view_index(capacity)];
        const std::uint64_t mask = cluster_.choose_gpus(node, whole, request_.gpus, spread_);
        return cluster_.task_on(shape_, node, mask);
    }

    // A part of a GPU that is shared already: of those with room the one with least left.
    TaskPlacement next_shared(View capacity) const {
        if (request_.gpus > 1) return next_scanning(capacity);
        const auto& partial = cluster_.pool(view_.pool).free[view_index(capacity)].partial();
        for (auto gpu = partial.from({least_left(request_), NodeId{0}, 0}); gpu != partial.end();
             ++gpu) {
            const NodeState& state = cluster_.nodes()[gpu->node.index()];
            const GpuPart free_part = cluster_.free_part(capacity, gpu->node, gpu->gpu);
            if (!cluster_.part_on(shape_, gpu->node).fits_in(free_part)) continue;
            if (!cluster_.allows(shape_, state.kind) || !host_fits(gpu->node, capacity)) continue;
            if (!cluster::is_in(cluster_, region_, gpu->node)) continue;
            return cluster_.task_on(shape_, gpu->node, std::uint64_t{1} << gpu->gpu);
        }
        return {};
    }

    // Several shares of different GPUs on one node: rare, so nodes are tried one by one.
    TaskPlacement next_scanning(View capacity) const {
        for (std::size_t node = 0; node < cluster_.nodes().size(); ++node) {
            const NodeId id{static_cast<NodeId::Rep>(node)};
            if (cluster_.nodes()[node].pool != view_.pool || !cluster::is_in(cluster_, region_, id))
                continue;
            const TaskPlacement found = on_node(id, capacity);
            if (found.node.is_valid()) return found;
        }
        return {};
    }

    TaskPlacement next_without_gpu(View capacity) const {
        for (const bool with_gpus : {false, true}) {
            for (std::size_t node = 0; node < cluster_.nodes().size(); ++node) {
                const NodeId id{static_cast<NodeId::Rep>(node)};
                const NodeState& state = cluster_.nodes()[node];
                if (state.pool != view_.pool || (state.gpus > 0) != with_gpus) continue;
                if (!cluster::is_in(cluster_, region_, id)) continue;
                const TaskPlacement found = on_node(id, capacity);
                if (found.node.is_valid()) return found;
            }
        }
        return {};
    }

    const PoolView& view_;
    const Cluster& cluster_;
    ShapeId shape_;
    const model::TaskRequest& request_;
    const Region region_;
    NodeOrder order_;
    cluster::Spread spread_;
    NodeId last_;  // where the last task went
    std::array<NodeHeap, 2> heaps_;  // by View; of a region that is not the whole pool
};

bool has_topology(const PoolView& view, const cluster::Job& job) {
    return view.cluster.shape(job.shape).required >= 0 || preferred_level(view, job) >= 0;
}

NodeOrder spreading_of(const PoolView& view, const cluster::Job& job) {
    const model::Spreading spreading =
        job.kind == model::JobKind::Train ? view.policy.train : view.policy.build;
    return spreading == model::Spreading::BinPack ? NodeOrder::Fullest : NodeOrder::Emptiest;
}

NodeOrder order_for(const PoolView& view, const cluster::Job& job) {
    const int node_level = static_cast<int>(view.cluster.levels().size());
    if (preferred_level(view, job) == node_level) return NodeOrder::OneByOne;
    return spreading_of(view, job);
}

// As many ranks of every stand as fit into its region, one stand after the other.
Places fill(const PoolView& view, const cluster::Job& job, std::span<const Stand> placements,
            View capacity) {
    const cluster::Trial trial(view.cluster);
    // Several shares each: preferring idle GPUs would pair them up and could miss a solution.
    const model::TaskRequest& request = view.cluster.shape(job.shape).request;
    const bool idle_first = capacity == View::Idle || request.gpus <= 1 || request.is_whole();
    Places placed;
    for (const auto& [region, ranks] : placements) {
        std::size_t next = 0;
        const bool on_one_node = job.tasks_min == 1 || region.node.is_valid();
        const auto spread = on_one_node ? cluster::Spread::OneNode : cluster::Spread::ManyNodes;
        const auto fill_part = [&](const Region& part) {
            Placer placer(view, job.shape, part, order_for(view, job), spread);
            placer.pinned = job.pinned_apart();
            while (next < ranks.size()) {
                TaskPlacement task = idle_first ? placer.next(View::Idle) : TaskPlacement{};
                if (!task.node.is_valid() && capacity == View::Coming) {
                    task = placer.next(View::Coming);
                }
                if (!task.node.is_valid()) break;
                task.task = ranks[next++];
                view.cluster.take(capacity, job.shape, task);
                placed.push_back(task);
            }
        };
        if (preferred_level(view, job) >= 0) {
            const Step step{job, static_cast<int>(ranks.size()), capacity};
            std::ranges::for_each(parts_of(view, step, region), fill_part);
        } else {
            fill_part(region);
        }
    }
    if (placements.size() > 1) std::ranges::sort(placed, {}, &TaskPlacement::task);
    return placed;
}

// All the room there is, also what the gang does not need: the fullest domain has the least.
GroupRoom room_for_groups(const PoolView& view, const cluster::Job& job, View capacity,
                          const Region& region) {
    return {view, job, region,
            [&](NodeId node) { return slots_now(view, job.shape, node, capacity, kSlotsCounted); }};
}

// Whether the companions that the job lacks are placed as well.
enum class Beside { Companions, Nothing };

// `tasks` of these ranks, inside that region.
std::optional<Places> place_ranks(const PoolView& view, const cluster::Job& job, Stand& all,
                                  int tasks, View capacity, Beside beside) {
    const bool has_groups = !view.cluster.shape(job.shape).groups.empty();
    const Region bound_to = all.region;
    Places placed;
    bool is_done = false;
    const auto are_tasks_placed = [&](const Region& region) {
        all.region = region;
        if (!has_groups) {
            placed = fill(view, job, std::span(&all, 1), capacity);
            return std::ssize(placed) == tasks;
        }
        const auto placements = room_for_groups(view, job, capacity, region).find(all.ranks, tasks);
        if (placements) placed = fill(view, job, *placements, capacity);
        return placements && std::ssize(placed) == tasks;
    };
    const auto is_placed = [&](const Region& region) {
        is_done = are_tasks_placed(region) &&
                  (beside == Beside::Nothing || !add_companions(view, job, capacity, placed));
        return is_done;
    };
    if (const NodeId node = job.pinned.node; node.is_valid()) {
        if (cluster::is_in(view.cluster, bound_to, node)) is_placed(home_of(job));
    } else if (has_topology(view, job)) {
        visit_regions(view, {job, tasks, capacity}, bound_to, is_placed);
    } else {
        is_placed(bound_to);
    }
    if (!is_done) return {};
    return placed;
}

// The companions that the job lacks stand beside its tasks; where they find no room then, they are
// placed before them.
std::optional<Places> place_with_companions(const PoolView& view, const cluster::Job& job,
                                            Stand& all, int tasks, View capacity) {
    const Region bound_to = all.region;
    if (tasks > 0) {
        auto placed = place_ranks(view, job, all, tasks, capacity, Beside::Companions);
        if (placed) return placed;
    }
    all.region = bound_to;
    const cluster::Trial trial(view.cluster);
    Places companions;
    if (add_companions(view, job, capacity, companions)) return {};
    if (tasks == 0) return companions;
    for (const TaskPlacement& task : companions) view.cluster.take(capacity, job.shape, task);
    auto placed = place_ranks(view, job, all, tasks, capacity, Beside::Nothing);
    if (!placed) return {};
    for (const TaskPlacement& task : companions) placed->push_back(task);
    return placed;
}

}  // namespace

namespace {

// The compute that one task takes of a GPU at the least.
MilliGpu least_compute(const model::TaskRequest& request) {
    const bool is_by_memory_alone =
        request.gpu_memory > Bytes{0} && request.share == base::kWholeGpu;
    return is_by_memory_alone ? MilliGpu{1} : request.share;
}

// What is left of the pool's GPUs together, when each that is whole has so much memory.
GpuPart left_of_all(const cluster::PoolState& pool, View capacity, Bytes memory) {
    const FreeIndex& free = pool.free[view_index(capacity)];
    const std::int64_t whole = free.slots(1, pool.gpus_per_node_max);
    return free.in_parts() + GpuPart{base::kWholeGpu, memory} * whole;
}

}  // namespace

bool exceeds_capacity(const PoolView& view, ShapeId shape, int tasks, View capacity) {
    const auto& pool = view.cluster.pool(view.pool);
    const model::TaskRequest& request = view.cluster.shape(shape).request;
    if (request.gpus == 0) return false;
    if (request.is_whole()) {
        return pool.free[view_index(capacity)].slots(request.gpus, pool.gpus_per_node_max) < tasks;
    }
    const MilliGpu wanted = least_compute(request) * request.gpus * tasks;
    if (request.gpu_memory == Bytes{0}) return pool.free_total[view_index(capacity)] < wanted;
    return left_of_all(pool, capacity, {}).compute < wanted;
}

bool enough_on_separate_nodes(const PoolView& view, ShapeId shape, int tasks, View capacity,
                              MilliGpu reserved) {
    const auto& pool = view.cluster.pool(view.pool);
    const model::TaskRequest& request = view.cluster.shape(shape).request;
    if (request.gpu_memory == Bytes{0}) {
        const MilliGpu asks = view.cluster.footprint(shape, view.pool) * tasks;
        return asks > MilliGpu{0} && asks <= pool.free_total[view_index(capacity)] + reserved;
    }
    const GpuPart each{least_compute(request), request.gpu_memory};
    const Bytes whole = std::max(pool.smallest_gpu.gpu_memory, request.gpu_memory);
    const GpuPart free_part =
        left_of_all(pool, capacity, whole) +
        GpuPart{base::kWholeGpu, whole} * (reserved.value / base::kWholeGpu.value);
    return request.gpus > 0 && (each * request.gpus * tasks).fits_in(free_part);
}

bool has_part_left(const PoolView& view, ShapeId shape, View capacity) {
    const FreeIndex& free = view.cluster.pool(view.pool).free[view_index(capacity)];
    const model::TaskRequest& request = view.cluster.shape(shape).request;
    return !free.partial().empty() && free.partial().back().left >= least_left(request);
}

bool exceeds_largest_part(const PoolView& view, ShapeId shape, View capacity) {
    const auto& pool = view.cluster.pool(view.pool);
    const model::TaskRequest& request = view.cluster.shape(shape).request;
    const bool is_part = request.gpus > 0 && !request.is_whole();
    return is_part && !has_part_left(view, shape, capacity) &&
           pool.free[view_index(capacity)].slots(1, pool.gpus_per_node_max) == 0;
}

std::optional<Places> place(const PoolView& view, const cluster::Job& job, int tasks, View capacity,
                            const Region& bound_to) {
    if (exceeds_capacity(view, job.shape, tasks, capacity)) return {};
    const cluster::Shape& shape = view.cluster.shape(job.shape);
    Stand all{bound_to, cluster::next_ranks(shape, job, tasks)};
    if (lacks_companions(job)) return place_with_companions(view, job, all, tasks, capacity);
    return place_ranks(view, job, all, tasks, capacity, Beside::Nothing);
}

std::optional<Places> place_anew(const PoolView& view, const cluster::Job& leaving, View capacity) {
    const cluster::Shape& shape = view.cluster.shape(leaving.shape);
    Stand all{{}, cluster::ranks_anew(shape, leaving)};
    const int tasks = static_cast<int>(all.ranks.size());
    if (exceeds_capacity(view, leaving.shape, tasks, capacity)) return {};
    cluster::Job anew;  // nothing of it runs
    anew.shape = leaving.shape;
    anew.kind = leaving.kind;
    anew.tasks_max = tasks;
    for (const cluster::Companions& kind : shape.companions) {
        anew.lacking_companions = static_cast<std::int16_t>(anew.lacking_companions + kind.count);
    }
    if (lacks_companions(anew)) return place_with_companions(view, anew, all, tasks, capacity);
    return place_ranks(view, anew, all, tasks, capacity, Beside::Nothing);
}

Places place_fitting(const PoolView& view, const cluster::Job& job, int tasks, View capacity,
                     const Region& bound_to) {
    const cluster::Shape& shape = view.cluster.shape(job.shape);
    const bool has_groups = !shape.groups.empty();
    if (!has_topology(view, job) && !has_groups) return fill(view, job, tasks, capacity, bound_to);
    Stand all{bound_to, cluster::next_ranks(shape, job, tasks)};
    if (!exceeds_capacity(view, job.shape, tasks, capacity)) {
        auto placed = place_ranks(view, job, all, tasks, capacity, Beside::Nothing);
        if (placed) return std::move(*placed);
    }
    const auto fill_some = [&](const Region& region) {
        if (!has_groups) return fill(view, job, tasks, capacity, region);
        GroupRoom free_part = room_for_groups(view, job, capacity, region);
        return fill(view, job, free_part.find_some(all.ranks, tasks), capacity);
    };
    if (shape.required < 0 || !bound_to.is_whole_pool()) return fill_some(bound_to);
    const Step step{job, tasks, capacity};
    Places best;
    for (const Region& region : required_regions(view, job)) {
        if (room_for_tasks(view, step, region) <= std::ssize(best)) continue;
        auto placed = fill_some(region);
        if (placed.size() > best.size()) best = std::move(placed);
    }
    return best;
}

Places fill(const PoolView& view, const cluster::Job& job, int tasks, View capacity,
            const Region& region) {
    const Stand placement{region, job.free_ranks(tasks)};
    return fill(view, job, std::span(&placement, 1), capacity);
}

std::optional<TaskPlacement> place_beside(const PoolView& view, const cluster::Job& job,
                                          ShapeId shape, View capacity) {
    if (const NodeId node = job.pinned.node; node.is_valid())
        return place_on(view, shape, node, capacity, job.pinned_apart());
    Placer placer(view, shape, {}, spreading_of(view, job), cluster::Spread::OneNode);
    TaskPlacement place = placer.next(View::Idle);
    if (!place.node.is_valid() && capacity == View::Coming) place = placer.next(View::Coming);
    if (!place.node.is_valid()) return {};
    return place;
}

std::optional<TaskPlacement> place_on(const PoolView& view, ShapeId shape, NodeId node,
                                      View capacity, cluster::Pinned pinned) {
    Placer placer(view, shape, {}, NodeOrder::Fullest, cluster::Spread::OneNode);
    placer.pinned = pinned;
    const TaskPlacement place = placer.on_node(node, capacity);
    if (!place.node.is_valid()) return {};
    return place;
}

}  // namespace berth::scheduling
