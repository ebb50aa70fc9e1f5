// SPDX-License-Identifier: Apache-2.0
#include "cluster/gang.h"

#include <algorithm>
#include <numeric>

#include "cluster/regions.h"

namespace berth::cluster {
namespace {

// How many of them do not run; one that is asked to leave does not.
int lacking_of(const Companions& kind, const Job& job) {
    const auto runs = std::ranges::count_if(job.placed, [&](const PlacedTask& task) {
        return !task.is_releasing && kind.has(task.place.task);
    });
    return kind.count - static_cast<int>(runs);
}

std::vector<int> tasks_in_groups(const Shape& shape, const Job& job, Job::Leaving leaving) {
    std::vector<int> tasks(shape.groups.size());
    for (const PlacedTask& task : job.placed) {
        const bool counts = leaving == Job::Leaving::Counted || !task.is_releasing;
        if (counts && !job.is_companion(task.place.task)) ++tasks[group_of(shape, task.place.task)];
    }
    return tasks;
}

// How many groups without tasks the gang needs to start.
int needed_unbegun(const Shape& shape, const std::vector<int>& tasks) {
    const auto begun = std::ranges::count_if(tasks, [](int count) { return count > 0; });
    return std::max(shape.groups_min() - static_cast<int>(begun), 0);
}

// How many groups are whole beyond those with which the gang starts.
int whole_beyond_need(const Shape& shape, const std::vector<int>& running) {
    int beyond = -shape.groups_min();
    for (std::size_t i = 0; i < running.size(); ++i) {
        beyond += running[i] >= shape.groups[i].tasks_min ? 1 : 0;
    }
    return beyond;
}

}  // namespace

int lacking_in_groups(const Shape& shape, const Job& job) {
    const std::vector<int> running = tasks_in_groups(shape, job, Job::Leaving::Ignored);
    int unbegun = needed_unbegun(shape, running);
    int sum = 0;
    for (std::size_t i = 0; i < running.size(); ++i) {
        const bool is_needed = running[i] > 0 || unbegun-- > 0;
        if (is_needed) sum += std::max(shape.groups[i].tasks_min - running[i], 0);
    }
    return sum;
}

Ranks next_ranks(const Shape& shape, const Job& job, int tasks) {
    if (shape.groups.empty()) return job.free_ranks(tasks);
    Ranks ranks = job.free_ranks(job.tasks_max);
    if (job.lacking == 0 && job.grows_by == 1) return ranks;
    std::vector<int> missing = tasks_in_groups(shape, job, Job::Leaving::Counted);
    int unbegun = job.lacking > 0 ? needed_unbegun(shape, missing) : tasks / job.grows_by;
    for (std::size_t i = 0; i < missing.size(); ++i) {
        const bool is_next = missing[i] > 0 || unbegun-- > 0;
        missing[i] = is_next ? shape.groups[i].tasks_min - missing[i] : 0;
    }
    const auto rest = std::ranges::remove_if(
        ranks, [&](int rank) { return missing[group_of(shape, rank)]-- <= 0; });
    ranks.erase(rest.begin(), rest.end());
    return ranks;
}

Ranks free_ranks(const Companions& kind, const Job& job) {
    base::SmallVector<bool, 64> taken(static_cast<std::size_t>(kind.count));
    for (const PlacedTask& task : job.placed) {
        const int rank = task.place.task;
        if (kind.has(rank)) taken[static_cast<std::size_t>(rank - kind.first)] = true;
    }
    Ranks ranks;
    for (int i = 0; i < kind.count; ++i) {
        if (!taken[static_cast<std::size_t>(i)]) ranks.push_back(kind.first + i);
    }
    return ranks;
}

bool has_two_gpu_requests(const Cluster& cluster, const Shape& shape) {
    return std::ranges::any_of(shape.companions, [&](const Companions& kind) {
        return cluster.shape(kind.shape).request.gpus > 0;
    });
}

MilliGpu gpus_of_companions(const Cluster& cluster, const Shape& shape, PoolId pool,
                            CountOfTask count) {
    MilliGpu sum{0};
    for (const Companions& kind : shape.companions) {
        sum += (cluster.*count)(kind.shape, pool) * kind.count;
    }
    return sum;
}

MilliGpu gpus_of_lacking_companions(const Cluster& cluster, const Job& job, PoolId pool,
                                    CountOfTask count) {
    if (job.lacking_companions == 0) return {0};
    MilliGpu sum{0};
    for (const Companions& kind : cluster.shape(job.shape).companions) {
        sum += (cluster.*count)(kind.shape, pool) * lacking_of(kind, job);
    }
    return sum;
}

MilliGpu pending_gpus(const Cluster& cluster, const Job& job, PoolId pool) {
    const int promised = job.reservation ? job.tasks_among(job.reservation->tasks) : 0;
    const int missing = std::max(job.most_tasks() - job.active - promised, 0);
    const MilliGpu tasks = missing > 0 ? cluster.demand(job.shape, pool) * missing : MilliGpu{0};
    if (job.reservation) return tasks;  // with all companions that it lacks
    return tasks + gpus_of_lacking_companions(cluster, job, pool, &Cluster::demand);
}

PoolId pool_of(const Cluster& cluster, const Job& job, std::span<const TaskPlacement> tasks) {
    const auto task = std::ranges::find_if(
        tasks, [&](const TaskPlacement& place) { return !job.is_companion(place.task); });
    if (task == tasks.end() && job.pool.is_valid()) return job.pool;
    const NodeId node = task == tasks.end() ? tasks.front().node : task->node;
    return cluster.nodes()[node.index()].pool;
}

std::size_t group_of(const Shape& shape, int rank) {
    const auto after = std::ranges::upper_bound(shape.groups, rank, {}, &Group::first);
    return static_cast<std::size_t>(after - shape.groups.begin()) - 1;
}

namespace {

HostAsk stated_in(const model::TaskRequest& request) {
    constexpr std::int64_t kMebibyte = 1 << 20;
    const std::int64_t memory = request.memory.value_or(model::Bytes{0}).value;
    return {request.cpu.value_or(model::MilliCpu{0}).value, (memory + kMebibyte - 1) / kMebibyte};
}

}  // namespace

HostAsk stated_by(const Cluster& cluster, const Job& job, int rank) {
    return stated_in(cluster.shape(asked_by(cluster, job.shape, rank)).request);
}

HostAsk stated_together(const Cluster& cluster, const Job& job, int tasks) {
    const Shape& shape = cluster.shape(job.shape);
    HostAsk total = stated_in(shape.request) * tasks;
    if (job.lacking_companions == 0) return total;
    for (const Companions& kind : shape.companions) {
        total += stated_in(cluster.shape(kind.shape).request) * lacking_of(kind, job);
    }
    return total;
}

std::size_t spare_first(const Shape& shape, int tasks_min,
                        std::span<model::TaskPlacement> running) {
    if (!shape.companions.empty()) {
        const int first = shape.companions.front().first;
        const auto companions = std::ranges::stable_partition(
            running, [&](const auto& task) { return task.task < first; });
        running = running.first(running.size() - companions.size());
    }
    if (shape.groups.empty()) {
        return running.size() - std::min(running.size(), static_cast<std::size_t>(tasks_min));
    }
    std::vector<int> above_minimum(shape.groups.size());
    for (const model::TaskPlacement& task : running) ++above_minimum[group_of(shape, task.task)];
    int beyond = whole_beyond_need(shape, above_minimum);
    for (std::size_t i = above_minimum.size(); i-- > 0;) {
        const int least = shape.groups[i].tasks_min;
        const bool is_spared = above_minimum[i] >= least && beyond-- > 0;
        if (!is_spared) above_minimum[i] -= least;
    }
    const auto needed = std::ranges::stable_partition(
        running, [&](const auto& task) { return above_minimum[group_of(shape, task.task)]-- > 0; });
    return running.size() - needed.size();
}

Ranks stale_ranks(const Shape& shape, const Job& job) {
    Ranks ranks;
    for (const PlacedTask& task : job.placed) {
        if (!task.is_releasing) ranks.push_back(task.place.task);
    }
    if (shape.groups.empty() || job.lacking_companions > 0) return ranks;
    const std::vector<int> running = tasks_in_groups(shape, job, Job::Leaving::Ignored);
    if (whole_beyond_need(shape, running) < 0) return ranks;
    const auto useful = std::ranges::remove_if(ranks, [&](int rank) {
        if (job.is_companion(rank)) return true;
        const std::size_t group = group_of(shape, rank);
        return running[group] >= shape.groups[group].tasks_min;
    });
    ranks.erase(useful.begin(), useful.end());
    return ranks;
}

Ranks ranks_anew(const Shape& shape, const Job& job) {
    Ranks ranks;
    for (const PlacedTask& task : job.placed) {
        if (!job.is_companion(task.place.task)) ranks.push_back(task.place.task);
    }
    if (shape.groups.empty()) {
        std::iota(ranks.begin(), ranks.end(), 0);
        return ranks;
    }
    std::vector<int> next;
    for (const Group& group : shape.groups) next.push_back(group.first);
    for (int& rank : ranks) rank = next[group_of(shape, rank)]++;
    std::ranges::sort(ranks);
    return ranks;
}

Region bound_region(const Cluster& cluster, const Job& job, const Group& group) {
    if (job.pinned.node.is_valid()) return {kWholePool, job.pinned.node};
    std::optional<Region> bound_region;
    if (group.level >= 0 && job.active > 0) {
        for (const PlacedTask& task : job.placed) {
            if (task.is_releasing || !group.has(task.place.task)) continue;
            const Region region = cluster::region_of(cluster, task.place.node, group.level);
            if (bound_region && !(*bound_region == region)) return {DomainId{}, {}};
            bound_region = region;
        }
    }
    return bound_region.value_or(Region{});
}

}  // namespace berth::cluster
