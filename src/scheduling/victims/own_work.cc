// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/own_work.h"

#include <algorithm>

#include "scheduling/victims/node_work.h"

namespace berth::scheduling {

const base::SortedRuns<OwnWork::ReachableNode>& OwnWork::reachable_nodes(const PoolView& view,
                                                                         ProjectId project,
                                                                         int gpus) {
    const cluster::ChangedNodes& changed = view.cluster.changed_nodes();
    const bool can_follow =
        changed.work.reaches_back_to(work_mark_) && changed.ranks.reaches_back_to(ranks_mark_);
    const bool is_new = std::ranges::find(asked_, gpus) == asked_.end();
    if (is_new) asked_.push_back(gpus);
    if (is_new || on_.size() != view.cluster.nodes().size() || !can_follow) {
        look_at_all(view);
    } else {
        const auto look = [&](NodeId node) { look_at(view, node); };
        changed.work.visit_since(work_mark_, look);
        changed.ranks.visit_since(ranks_mark_, look);
    }
    work_mark_ = changed.work.read();
    ranks_mark_ = changed.ranks.read();
    return reachable_nodes_[{project, gpus}];
}

void OwnWork::look_at_all(const PoolView& view) {
    reachable_nodes_.clear();
    on_.assign(view.cluster.nodes().size(), {});
    for (std::size_t at = 0; at < on_.size(); ++at) {
        look_at(view, {static_cast<NodeId::Rep>(at)});
    }
}

void OwnWork::look_at(const PoolView& view, NodeId node) {
    auto& listed = on_[node.index()];
    for (const auto& [key, reachable] : listed) reachable_nodes_[key].erase(reachable);
    listed.clear();
    work_.clear();
    visit_victims(view, node, [&](const cluster::Job& job, int job_gpus) {
        work_.push_back({job.project, job.priority_key(), job_gpus});
    });
    std::ranges::sort(work_, std::less{});
    int before = 0;
    for (std::size_t at = 0; at < work_.size(); ++at) {
        const Work& work = work_[at];
        if (at == 0 || work_[at - 1].project != work.project) before = 0;
        const int with = before + work.gpus;
        for (const int gpus : asked_) {
            if (before >= gpus || with < gpus) continue;
            const Key key{work.project, gpus};
            const ReachableNode reachable{work.priority_key, node};
            reachable_nodes_[key].insert(reachable);
            listed.emplace_back(key, reachable);
        }
        before = with;
    }
}

}  // namespace berth::scheduling
