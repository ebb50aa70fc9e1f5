// SPDX-License-Identifier: Apache-2.0
#include "scheduling/room/own_reach.h"

#include <algorithm>

#include "scheduling/room/node_work.h"

namespace berth::scheduling {

const base::SortedRuns<OwnReach::Spot>& OwnReach::spots(const PoolView& view, ProjectId project,
                                                        int gpus) {
    const base::ChangeLog<NodeId>& log = view.cluster.changed_nodes().work;
    const bool is_new = std::ranges::find(asked_, gpus) == asked_.end();
    if (is_new) asked_.push_back(gpus);
    if (is_new || on_.size() != view.cluster.nodes().size() || !log.reaches_back_to(mark_)) {
        look_at_all(view);
    } else {
        log.visit_since(mark_, [&](NodeId node) { look_at(view, node); });
    }
    mark_ = log.read();
    return spots_[{project, gpus}];
}

void OwnReach::look_at_all(const PoolView& view) {
    spots_.clear();
    on_.assign(view.cluster.nodes().size(), {});
    for (std::size_t at = 0; at < on_.size(); ++at) {
        look_at(view, {static_cast<NodeId::Rep>(at)});
    }
}

void OwnReach::look_at(const PoolView& view, NodeId node) {
    auto& listed = on_[node.index()];
    for (const auto& [key, spot] : listed) spots_[key].erase(spot);
    listed.clear();
    work_.clear();
    visit_victims(view, node, [&](const cluster::Job& job, int job_gpus) {
        work_.push_back({job.project, job.precedence(), job_gpus});
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
            const Spot spot{work.precedence, node};
            spots_[key].insert(spot);
            listed.emplace_back(key, spot);
        }
        before = with;
    }
}

}  // namespace berth::scheduling
