// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/pausing/pause_way.h"

#include <algorithm>
#include <set>

#include "adapters/gpu_shares/terms/tenants.h"

namespace berth::gpu_shares {
namespace {

// Empty when a checkpoint is possible.
std::string why_not(const ports::LaunchOrder& order, const NodeAbility& node) {
    std::set<std::string> nodes;
    std::set<int> gpus;
    for (const ports::TaskLaunch& task : order.tasks) {
        nodes.insert(task.node);
        gpus.insert(task.gpu_indices.begin(), task.gpu_indices.end());
    }
    const std::string& signal = order.spec.pause.signal;
    if (gpus.empty()) return "it has no GPU";
    if (signal != "auto") return "the job asks for " + signal;
    if (nodes.size() > 1) return "it runs on " + std::to_string(nodes.size()) + " nodes";
    const bool has_groups = std::ranges::any_of(
        order.tasks, [](const ports::TaskLaunch& task) { return !task.group.empty(); });
    if (order.is_elastic && has_groups) return "it is elastic, by groups";
    if (!node.why_not.empty()) return node.why_not;
    if (order.may_share) return "it may share its GPU, in turns that are kept for that GPU alone";
    if (shares(order) && order.tasks.size() > 1) return "several of its tasks share GPUs";
    if (shares(order) && !node.shares_why_not.empty()) return node.shares_why_not;
    if (!node.can_move && static_cast<int>(gpus.size()) < node.gpus)
        return "the driver puts a job back on the same GPUs only; CUDA 13.0 can move it";
    return {};
}

}  // namespace

model::PauseWay pause_way(const ports::LaunchOrder& order, const NodeAbility& node) {
    model::PauseWay way{model::PauseRung::Checkpoint, why_not(order, node)};
    if (!way.why_not.empty()) {
        const bool kills = order.spec.pause.signal == "none";
        way.rung = kills ? model::PauseRung::Kill : model::PauseRung::Signal;
        if (kills) way.why_not = "the job asks for no signal";
    }
    if (!order.park_after) return way;
    way.why_not_parked = way.why_not.empty() ? node.parks_why_not : "no checkpoint: " + way.why_not;
    way.may_park = way.why_not_parked.empty();
    return way;
}

}  // namespace berth::gpu_shares
