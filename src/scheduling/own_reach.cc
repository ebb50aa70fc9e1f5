// SPDX-License-Identifier: Apache-2.0
#include "scheduling/own_reach.h"

#include <algorithm>

namespace berth::scheduling {

const base::SortedRuns<OwnReach::Spot>& OwnReach::spots(const PieceTable& pieces, std::size_t nodes,
                                                        ProjectId project, int gpus) {
    const base::ChangeLog<NodeId>& log = pieces.changed_nodes();
    const bool is_new = std::ranges::find(asked_, gpus) == asked_.end();
    if (is_new) asked_.push_back(gpus);
    if (is_new || on_.size() != nodes || !log.reaches_back_to(mark_)) {
        look_at_all(pieces, nodes);
    } else {
        log.visit_since(mark_, [&](NodeId node) { look_at(pieces, node); });
    }
    mark_ = log.mark();
    return spots_[{project, gpus}];
}

void OwnReach::look_at_all(const PieceTable& pieces, std::size_t nodes) {
    spots_.clear();
    on_.assign(nodes, {});
    for (std::size_t at = 0; at < nodes; ++at) look_at(pieces, {static_cast<NodeId::Rep>(at)});
}

void OwnReach::look_at(const PieceTable& pieces, NodeId node) {
    auto& listed = on_[node.index()];
    for (const auto& [key, spot] : listed) spots_[key].erase(spot);
    listed.clear();
    work_.clear();
    pieces.visit_on(node, [&](std::size_t position) {
        if (pieces.is_gone(position)) return;
        const Piece& piece = pieces[position];
        work_.push_back({piece.project, piece.precedence, piece.gpus_on(node)});
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
