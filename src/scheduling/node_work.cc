// SPDX-License-Identifier: Apache-2.0
#include "scheduling/node_work.h"

#include <algorithm>

namespace berth::scheduling {

void NodeWork::bring_up_to_date(const PieceTable& pieces, std::size_t nodes) {
    const base::ChangeLog<NodeId>& log = pieces.changed_nodes();
    if (parts_.size() == nodes && log.reaches_back_to(mark_)) {
        log.visit_since(mark_, [&](NodeId node) { look_at(pieces, node); });
    } else {
        parts_.assign(nodes, {});
        nodes_of_.clear();
        for (std::size_t at = 0; at < nodes; ++at) look_at(pieces, {static_cast<NodeId::Rep>(at)});
    }
    mark_ = log.mark();
}

void NodeWork::look_at(const PieceTable& pieces, NodeId node) {
    Parts& parts = parts_[node.index()];
    for (const Part& part : parts) set_of(part.project).erase(node);
    parts.clear();
    pieces.visit_on(node, [&](std::size_t position) {
        if (pieces.is_gone(position)) return;
        const Piece& piece = pieces[position];
        const auto same = std::ranges::find(parts, piece.project, &Part::project);
        if (same != parts.end()) {
            same->gpus += piece.gpus_on(node);
        } else {
            parts.push_back({piece.project, piece.gpus_on(node)});
            set_of(piece.project).insert(node);
        }
    });
}

cluster::NodeSet& NodeWork::set_of(ProjectId project) {
    if (nodes_of_.size() <= project.index()) nodes_of_.resize(project.index() + 1);
    return nodes_of_[project.index()];
}

const cluster::NodeSet& NodeWork::nodes_of(ProjectId project) { return set_of(project); }

}  // namespace berth::scheduling
