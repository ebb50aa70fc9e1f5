// SPDX-License-Identifier: Apache-2.0
#include "scheduling/node_work.h"

#include <algorithm>

namespace berth::scheduling {

void NodeWork::bring_up_to_date(const PieceTable& pieces, const cluster::Cluster& cluster) {
    const std::size_t nodes = cluster.nodes().size();
    const base::ChangeLog<NodeId>& log = pieces.changed_nodes();
    nodes_of_.resize(std::max(nodes_of_.size(), cluster.projects().size()));
    if (parts_.size() == nodes && log.reaches_back_to(mark_)) {
        log.visit_since(mark_, [&](NodeId node) { look_at(pieces, node); });
    } else {
        parts_.assign(nodes, {});
        nodes_of_.assign(nodes_of_.size(), {});
        for (std::size_t at = 0; at < nodes; ++at) look_at(pieces, {static_cast<NodeId::Rep>(at)});
    }
    mark_ = log.mark();
}

void NodeWork::look_at(const PieceTable& pieces, NodeId node) {
    Parts& parts = parts_[node.index()];
    for (const Part& part : parts) nodes_of_[part.project.index()].erase(node);
    parts.clear();
    pieces.visit_on(node, [&](std::size_t position) {
        if (pieces.is_gone(position)) return;
        const Piece& piece = pieces[position];
        const auto same = std::ranges::find(parts, piece.project, &Part::project);
        if (same != parts.end()) {
            same->gpus += piece.gpus_on(node);
        } else {
            parts.push_back({piece.project, piece.gpus_on(node)});
            nodes_of_[piece.project.index()].insert(node);
        }
    });
}

}  // namespace berth::scheduling
