// SPDX-License-Identifier: Apache-2.0
//
// Rule R8: victims one piece after the other, worst project first, until the beneficiary fits;
// then whoever can keep its place keeps it, best first.
#include <algorithm>
#include <map>

#include "scheduling/eviction.h"
#include "scheduling/place.h"
#include "scheduling/queue_order.h"
#include "scheduling/quota_gate.h"

namespace berth::scheduling {
namespace {

// The pieces of each project that have not been walked yet: [next, end).
using Walk = std::map<ProjectId, std::pair<std::size_t, std::size_t>>;

bool has_pieces(const PoolView& view, const Walk& walk, ProjectId project) {
    if (const auto own = walk.find(project); own != walk.end()) {
        return own->second.first < own->second.second;
    }
    return std::ranges::any_of(view.cluster.projects()[project.index()].children,
                               [&](ProjectId child) { return has_pieces(view, walk, child); });
}

// The project that R2 would serve last, as things stand with the walked pieces gone.
ProjectId worst_project(const PoolView& view, const Walk& walk) {
    ProjectId at = cluster::kRoot;
    while (!view.cluster.is_leaf(at)) {
        ProjectId worst;
        for (const ProjectId child : view.cluster.projects()[at.index()].children) {
            if (!has_pieces(view, walk, child)) continue;
            const bool is_worse = !worst.is_valid() || !is_before(service_key(view, child, {}),
                                                                  service_key(view, worst, {}));
            if (is_worse) worst = child;
        }
        if (!worst.is_valid()) return {};
        at = worst;
    }
    return at;
}

}  // namespace

Choice choose_in_order(const PoolView& view, const Beneficiary& beneficiary,
                       const std::vector<Piece>& pieces, const EvictionTest& test) {
    Walk walk;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        walk.try_emplace(pieces[i].project, i, i).first->second.second = i + 1;
    }
    Choice choice(pieces.size(), false);
    std::vector<std::size_t> walked;
    std::optional<std::vector<model::TaskPlacement>> places;
    {
        const cluster::Trial trial(view.cluster);
        for (ProjectId from = worst_project(view, walk); from.is_valid() && !places;
             from = worst_project(view, walk)) {
            const std::size_t piece = walk[from].first++;
            view.cluster.release(pieces[piece].job, pieces[piece].ranks());
            choice[piece] = true;
            walked.push_back(piece);
            if (quota_gate(view, beneficiary.job, beneficiary.amount)) continue;
            places = place(view, beneficiary.job, beneficiary.tasks, View::Coming);
        }
    }
    if (!places) return {};
    // Pieces on nodes the beneficiary does not use come back at once, if that is legal.
    std::vector<NodeId> used;
    for (const model::TaskPlacement& task : *places) used.push_back(task.node);
    std::ranges::sort(used);
    Choice on_used_nodes = choice;
    for (const std::size_t piece : walked) {
        const std::size_t last = piece + 1;
        const bool core_is_taken =
            last < pieces.size() && on_used_nodes[last] && pieces[last].job == pieces[piece].job;
        on_used_nodes[piece] =
            core_is_taken || std::ranges::any_of(pieces[piece].tasks, [&](const auto& task) {
                return std::ranges::binary_search(used, task.node);
            });
    }
    if (test.places_if_legal(on_used_nodes)) choice = on_used_nodes;
    std::ranges::reverse(walked);
    // Give back before the ledger is asked: it judges only what is taken in the end.
    if (std::ranges::count(choice, true) <= kPrunedPieces) {
        for (const std::size_t piece : walked) {
            const bool core_is_taken = piece + 1 < pieces.size() && choice[piece + 1] &&
                                       pieces[piece + 1].job == pieces[piece].job;
            if (!choice[piece] || core_is_taken) continue;
            choice[piece] = false;
            if (!test.places_if_legal(choice)) choice[piece] = true;
        }
    }
    if (!test.places_after(choice)) return {};
    return choice;
}

}  // namespace berth::scheduling
