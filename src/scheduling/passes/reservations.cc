// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/reservations.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/small_vector.h"
#include "cluster/gang.h"
#include "scheduling/passes/decision.h"

namespace berth::scheduling {

using cluster::Cluster;
using cluster::Job;
using model::TaskPlacement;

namespace {

constexpr int kHost = -1;

// Whether each of the tasks, alone, has room on its GPUs.
bool has_been_left(const Cluster& cluster, const std::vector<TaskPlacement>& tasks) {
    return std::ranges::all_of(tasks, [&](const TaskPlacement& task) {
        bool is_free = true;
        for (std::uint64_t mask = task.gpu_mask; mask != 0 && is_free; mask &= mask - 1) {
            is_free = task.part().fits_in(cluster.unused(task.node, std::countr_zero(mask)));
        }
        return is_free;
    });
}

// What a job asks of one GPU, or of a node beside its GPUs.
struct Asked {
    NodeId node;
    int gpu = kHost;
    model::GpuPart part;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;

    std::pair<NodeId, int> place() const { return {node, gpu}; }
    void add(const Asked& other) {
        part = part + other.part;
        cpu += other.cpu;
        memory += other.memory;
    }
};

bool has_room(const Cluster& cluster, const Asked& asked) {
    if (asked.gpu != kHost) return asked.part.fits_in(cluster.unused(asked.node, asked.gpu));
    const auto is_free = [](const cluster::HostUse& host, std::int64_t amount) {
        return host.capacity == cluster::kUnaccounted ||
               host.used + host.releasing + amount <= host.capacity;
    };
    const cluster::NodeState& node = cluster.nodes()[asked.node.index()];
    return node.is_ready && is_free(node.cpu, asked.cpu) && is_free(node.memory, asked.memory);
}

// Whether the tasks together have the other resources that they ask for.
bool has_resources(const Cluster& cluster, const Job& job) {
    const cluster::NodeResources& resources = cluster.resources();
    if (!resources.is_used()) return true;
    base::SmallVector<std::pair<NodeId, cluster::ResourceAsk>, 16> asked;
    for (const TaskPlacement& task : job.reservation->tasks) {
        const ShapeId shape = cluster::asked_by(cluster, job.shape, task.task);
        for (const cluster::ResourceAsk& ask : resources.asked(shape)) {
            asked.emplace_back(task.node, ask);
        }
    }
    const auto place = [](const auto& entry) {
        return std::pair(entry.first, entry.second.resource);
    };
    std::ranges::sort(asked, {}, place);
    for (auto first = asked.begin(); first != asked.end();) {
        const auto at = place(*first);
        std::int64_t amount = 0;
        for (; first != asked.end() && place(*first) == at; ++first) {
            amount += first->second.amount;
        }
        const cluster::HostUse& use = resources.on(at.first, at.second);
        const bool is_enough = use.capacity == cluster::kUnaccounted ||
                               use.used + use.releasing + amount <= use.capacity;
        if (!is_enough) return false;
    }
    return true;
}

}  // namespace

// Only when all of it has been left does taking the reservation as used keep every GPU within its
// bounds. Tasks of one job may share a GPU, and they share the CPU and memory of their node, so
// they are asked about together.
bool is_due(const Cluster& cluster, const Job& job) {
    if (job.is_releasing()) return false;  // it moves, and has not left its old place
    if (!has_been_left(cluster, job.reservation->tasks)) return false;  // which settles it for most
    base::SmallVector<Asked, 16> asked;
    // What its processes take already where they are kept.
    if (const cluster::Pinned pinned = job.pinned_apart(); pinned.node.is_valid()) {
        asked.push_back({pinned.node, kHost, {}, 0, -pinned.memory()});
    }
    for (const TaskPlacement& task : job.reservation->tasks) {
        // Other programs have some of its GPUs, without saying which.
        const bool lacks_gpus = cluster.others().on(task.node).missing() > 0;
        if (task.gpu_mask != 0 && lacks_gpus) return false;
        asked.push_back({task.node, kHost, {}, task.cpu.value, task.memory.value});
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            asked.push_back({task.node, std::countr_zero(mask), task.part(), 0, 0});
        }
    }
    std::ranges::sort(asked, {}, &Asked::place);
    for (auto first = asked.begin(); first != asked.end();) {
        Asked sum = *first;
        while (++first != asked.end() && first->place() == sum.place()) sum.add(*first);
        if (!has_room(cluster, sum)) return false;
    }
    return has_resources(cluster, job);
}

bool ReservationWatch::is_as_before(const Cluster& cluster, const Blocked& blocked) {
    const cluster::NodeState& node = cluster.nodes()[blocked.node.index()];
    return node.stamp == blocked.stamp && node.is_ready;
}

void ReservationWatch::note_if_blocked(const Cluster& cluster, const Job& job) {
    const std::vector<TaskPlacement>& tasks = job.reservation->tasks;
    const NodeId node = tasks.front().node;
    const bool stand_together =
        std::ranges::all_of(tasks, [&](const TaskPlacement& task) { return task.node == node; });
    if (!stand_together || has_been_left(cluster, tasks)) return;
    blocked_.push_back(
        {job.id, node, cluster.nodes()[node.index()].stamp, job.reservation->deadline});
}

void ReservationWatch::start_due(Decision& decision,
                                 const std::function<bool(JobId)>& must_withdraw) {
    const Cluster& cluster = decision.cluster();
    std::swap(before_, blocked_);
    blocked_.clear();
    base::SmallVector<JobId, 256> holders;  // as they stand: each may drop out
    for (const JobId id : cluster.reserved_jobs()) holders.push_back(id);
    auto known = before_.begin();
    for (const JobId id : holders) {
        while (known != before_.end() && known->job < id) ++known;
        const bool is_known = known != before_.end() && known->job == id;
        if (is_known && is_as_before(cluster, *known) && known->deadline > decision.now()) {
            decision.wake_at(known->deadline);
            blocked_.push_back(*known);
            continue;
        }
        const Job& job = cluster.job(id);
        const bool is_broken = std::ranges::any_of(job.reservation->tasks, [&](const auto& task) {
            return !cluster.nodes()[task.node.index()].is_ready;
        });
        if (is_due(cluster, job)) {
            if (!must_withdraw(id)) decision.start_reserved(id);
        } else if (is_broken || job.reservation->deadline <= decision.now()) {
            decision.drop_reservation(id);
        } else {
            decision.wake_at(job.reservation->deadline);
            note_if_blocked(cluster, job);
        }
    }
}

}  // namespace berth::scheduling
