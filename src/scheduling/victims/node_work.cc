// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/node_work.h"

#include <algorithm>

namespace berth::scheduling {

void NodeWork::bring_up_to_date(const PoolView& view) {
    const std::size_t nodes = view.cluster.nodes().size();
    const base::ChangeLog<NodeId>& log = view.cluster.changed_nodes().work;
    nodes_of_.resize(std::max(nodes_of_.size(), view.cluster.projects().size()));
    if (parts_.size() == nodes && log.reaches_back_to(mark_)) {
        log.visit_since(mark_, [&](NodeId node) { look_at(view, node); });
    } else {
        parts_.assign(nodes, {});
        nodes_of_.assign(nodes_of_.size(), {});
        for (std::size_t at = 0; at < nodes; ++at) look_at(view, {static_cast<NodeId::Rep>(at)});
    }
    mark_ = log.read();
}

void NodeWork::look_at(const PoolView& view, NodeId node) {
    Parts& parts = parts_[node.index()];
    for (const Part& part : parts) nodes_of_[part.project.index()].erase(node);
    parts.clear();
    visit_victims(view, node, [&](const cluster::Job& job, int gpus, bool is_whole) {
        auto part = std::ranges::find(parts, job.project, &Part::project);
        if (part == parts.end()) {
            part = parts.insert(part, {job.project});
            nodes_of_[job.project.index()].insert(node);
        }
        part->gpus += gpus;
        part->widest = std::max(part->widest, gpus);
        part->is_whole &= is_whole;
    });
}

}  // namespace berth::scheduling
