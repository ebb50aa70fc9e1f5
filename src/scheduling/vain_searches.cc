// SPDX-License-Identifier: Apache-2.0
#include "scheduling/vain_searches.h"

#include <algorithm>
#include <bit>
#include <span>

#include "scheduling/quota_gate.h"

namespace berth::scheduling {
namespace {

constexpr std::size_t kKnownMax = 1024;
constexpr int kIdleNodesMax = 64;  // where more have idle GPUs, a search has to tell

// As far as GPUs tell, if all left the node that may.
bool could_have_slot(const VictimQuery& query, std::span<const ProjectId> may_lose,
                     const NodeWork& work, NodeId node) {
    const model::TaskRequest& request =
        query.view.cluster.shape(query.beneficiary.job.shape).request;
    const cluster::NodeState& state = query.view.cluster.nodes()[node.index()];
    if (state.pool != query.view.pool) return false;
    int gpus = std::popcount(state.whole[static_cast<std::size_t>(View::Coming)]);
    for (const NodeWork::Part& part : work.on(node)) {
        if (std::ranges::binary_search(may_lose, part.project)) gpus += part.gpus;
    }
    return gpus >= request.gpus;
}

// Calls `visit` with the nodes that have idle GPUs; false when they are many.
bool visit_idle(const PoolView& view, const auto& visit) {
    const auto& pool = view.cluster.pool(view.pool);
    const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
    int count = 0;
    for (int idle = pool.gpus_per_node_max; idle > 0; --idle) {
        const cluster::NodeSet& nodes = free.nodes_with(idle);
        for (NodeId node = nodes.next({0}); node.is_valid(); node = nodes.next({node.value + 1})) {
            if (++count > kIdleNodesMax) return false;
            visit(node);
        }
    }
    return true;
}

}  // namespace

std::optional<VainSearches::Question> VainSearches::question(const VictimQuery& query) {
    const cluster::Job& job = query.beneficiary.job;
    const PoolView& view = query.view;
    const bool is_like_others =
        job.placed.empty() && !job.stay.node.is_valid() && query.beneficiary.within.is_whole_pool();
    const cluster::Shape& shape = view.cluster.shape(job.shape);
    const bool asks_for_slots = shape.request.is_whole() && shape.request.gpus > 0 &&
                                shape.required < 0 && !query.needs_more_than_slots();
    const bool may_take_cpu_only =
        view.policy.reclaim_cpu_only && view.cluster.pool(view.pool).cpu_only_victims > 0;
    const bool is_remembered = query.asks_ledger() && is_like_others && asks_for_slots &&
                               !may_take_cpu_only && view.policy.cheapest_victims &&
                               !view.cluster.pool(view.pool).has_fixed_quota &&
                               view.spared == nullptr;
    if (!is_remembered) return {};
    return Question{job.project, query.terms.minimum_run, job.shape, query.beneficiary.tasks,
                    job.kind,    job.preemptible};
}

bool VainSearches::covers(const VictimQuery& query, NodeWork& work) {
    const auto question = VainSearches::question(query);
    const auto known = question ? known_.find(*question) : known_.end();
    if (known == known_.end()) return false;
    Known& then = known->second;
    const base::ChangeLog<NodeId>& changed = query.view.cluster.changed_nodes().work;
    const auto headrooms = query.ledger.headrooms();
    const bool is_no_better =
        std::ranges::includes(then.projects, query.projects) &&
        std::ranges::equal(headrooms, then.headrooms, std::ranges::less_equal{}) &&
        (!then.until || query.view.now < *then.until) && changed.reaches_back_to(then.mark);
    if (!is_no_better) return false;
    work.bring_up_to_date(query.view);
    bool could_help = false;
    const auto look_at = [&](NodeId node) {
        could_help = could_help || could_have_slot(query, then.projects, work, node);
    };
    changed.visit_since(then.mark, look_at);
    if (could_help || !visit_idle(query.view, look_at) || could_help) return false;
    then.mark = changed.read();
    return true;
}

void VainSearches::add(const VictimQuery& query, std::optional<TimePoint> until) {
    const auto question = VainSearches::question(query);
    // Jobs that started meanwhile may be seen the next time it is asked.
    if (query.view.unseen != nullptr && !query.view.unseen->empty()) return;
    // What a limit forbids it may allow when nothing changed on any node.
    if (!question || quota_gate(query.view, query.beneficiary.job, query.beneficiary.amount))
        return;
    if (known_.size() >= kKnownMax) known_.clear();
    Known& known = known_[*question];
    known.projects.assign(query.projects.begin(), query.projects.end());
    const auto headrooms = query.ledger.headrooms();
    known.headrooms.assign(headrooms.begin(), headrooms.end());
    known.until = query.terms.minimum_run ? until : std::nullopt;
    known.mark = query.view.cluster.changed_nodes().work.read();
}

}  // namespace berth::scheduling
