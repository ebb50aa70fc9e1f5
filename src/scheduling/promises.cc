// SPDX-License-Identifier: Apache-2.0
#include "scheduling/promises.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

namespace berth::scheduling {

using cluster::Cluster;
using cluster::Job;
using model::TaskPlacement;

namespace {

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

}  // namespace

// Only when all of it has been left does taking the promise as used keep every GPU within its
// bounds. Tasks of one job may share a GPU, and they share the CPU and memory of their node, so
// they are asked about together.
bool is_due(const Cluster& cluster, const Job& job) {
    if (job.is_releasing()) return false;  // it moves, and has not left its old place
    if (!has_been_left(cluster, job.hold->tasks)) return false;  // which settles it for most
    std::map<std::pair<NodeId, int>, model::GpuPart> gpus;
    std::map<NodeId, std::pair<std::int64_t, std::int64_t>> hosts;  // CPU, memory
    for (const TaskPlacement& task : job.hold->tasks) {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            model::GpuPart& gpu = gpus[{task.node, std::countr_zero(mask)}];
            gpu = gpu + task.part();
        }
        hosts[task.node].first += task.cpu.value;
        hosts[task.node].second += task.memory.value;
    }
    const auto is_free = [](const cluster::HostUse& host, std::int64_t amount) {
        return host.capacity == cluster::kUnaccounted ||
               host.used + host.releasing + amount <= host.capacity;
    };
    return std::ranges::all_of(gpus,
                               [&](const auto& part) {
                                   const auto [node, gpu] = part.first;
                                   return part.second.fits_in(cluster.unused(node, gpu));
                               }) &&
           std::ranges::all_of(hosts, [&](const auto& part) {
               const cluster::NodeState& node = cluster.nodes()[part.first.index()];
               return node.is_ready && is_free(node.cpu, part.second.first) &&
                      is_free(node.memory, part.second.second);
           });
}

void honour_promises(PlanDraft& draft, const std::function<bool(JobId)>& must_let_pass) {
    const Cluster& cluster = draft.cluster();
    const std::vector<JobId> holders(cluster.holders().begin(), cluster.holders().end());
    for (const JobId id : holders) {
        const Job& job = cluster.job(id);
        const bool is_broken = std::ranges::any_of(job.hold->tasks, [&](const auto& task) {
            return !cluster.nodes()[task.node.index()].is_ready;
        });
        if (must_let_pass(id)) {
            draft.drop_hold(id);
        } else if (is_due(cluster, job)) {
            draft.start_from_hold(id);
        } else if (is_broken || job.hold->deadline <= draft.now()) {
            draft.drop_hold(id);
        } else {
            draft.wake_at(job.hold->deadline);
        }
    }
}

}  // namespace berth::scheduling
