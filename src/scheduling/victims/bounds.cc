// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/bounds.h"

#include <algorithm>

namespace berth::scheduling {
namespace {

constexpr std::ptrdiff_t kNamedNodes = 256;  // where they are more, most searches are short
constexpr std::ptrdiff_t kCutNodes = 16;  // so few that each unit on them is asked about

// Calls `visit` with every project of `some` that the rest does not name; both ascend.
void visit_others(std::span<const ProjectId> some, std::span<const ProjectId> rest,
                  const auto& visit) {
    auto at = rest.begin();
    for (const ProjectId project : some) {
        while (at != rest.end() && *at < project) ++at;
        if (at == rest.end() || project < *at) visit(project);
    }
}

// What the beneficiary's project could take on the node.
int own_gpus_on(const VictimQuery& query, NodeId node) {
    int gpus = 0;
    visit_victims(query.view, node, [&](const cluster::Job& job, int gpus_here) {
        const bool is_lower =
            job.project == query.terms.project && query.terms.reaches(job.priority_key());
        if (is_lower) gpus += gpus_here;
    });
    return gpus;
}

int idle_on(const VictimQuery& query, NodeId node) {
    return query.view.cluster.nodes()[node.index()].free_gpus(View::Coming);
}

// What may be taken of it one by one.
int gpus_of_units_on(const VictimQuery& query, NodeId node) {
    int gpus = 0;
    for (const std::size_t unit : query.units.on(node)) {
        if (query.may_take(unit, query.ledger)) gpus += query.units[unit].gpus_on(node);
    }
    return gpus;
}

}  // namespace

Bounds::Extent Bounds::extent(const VictimQuery& query) {
    const model::TaskRequest& request = query.request();
    const bool is_counted = request.is_whole() && request.gpus > 1;
    if (!is_counted || !query.beneficiary.bound_to.is_whole_pool()) return {true, {}};
    named_.clear();
    return query.terms.from_own ? extent_of_own(query) : extent_of_lent(query);
}

Bounds::Extent Bounds::extent_of_own(const VictimQuery& query) {
    const int wanted = query.request().gpus;
    const auto could_have = [&](NodeId node) { return own_gpus_on(query, node); };
    std::int64_t slots = 0;
    for (const auto& reachable : own_.reachable_nodes(query.view, query.terms.project, wanted)) {
        if (!(reachable.least < query.terms.priority_key)) break;
        named_.push_back(reachable.node);
        slots += query.beneficiary.tasks > 1 ? could_have(reachable.node) / wanted : 1;
    }
    slots += slots_with_idle(query, could_have);
    return answer(slots >= query.beneficiary.tasks);
}

// From what is counted already to what has to be looked at: most questions end early.
Bounds::Extent Bounds::extent_of_lent(const VictimQuery& query) {
    bring_up_to_date(query);
    const int wanted = query.request().gpus;
    const int widest = query.view.cluster.pool(query.view.pool).gpus_per_node_max;
    const auto counted = [&](NodeId node) { return std::min(lent_.gpus.at(node), widest); };
    std::int64_t slots = slots_with_idle(query, counted);
    for (int gpus = wanted; gpus <= widest; gpus += wanted) slots += lent_.gpus.nodes_with(gpus);
    if (slots < query.beneficiary.tasks) return answer(false);
    const bool is_exact = counting_of(query.view, query.beneficiary.job.shape) == Counting::Exact;
    const auto legal = [&](NodeId node) {
        return is_exact ? legal_gpus_on(query, node) : counted(node);
    };
    slots = keep_those_with_slots(query, legal);
    bool are_many = false;
    lent_.gpus.visit_with(wanted, [&](NodeId node) {
        const int slots_here = (idle_on(query, node) + legal(node)) / wanted;
        if (slots_here == 0) return true;
        slots += slots_here;
        named_.push_back(node);
        are_many = std::ssize(named_) > kNamedNodes && slots >= query.beneficiary.tasks;
        return !are_many;
    });
    if (are_many) return answer(true);
    if (std::ssize(named_) <= kCutNodes) {
        const auto in_units = [&](NodeId node) { return gpus_of_units_on(query, node); };
        slots = keep_those_with_slots(query, in_units);
    }
    return answer(slots >= query.beneficiary.tasks);
}

Bounds::Extent Bounds::answer(bool is_enough) const {
    if (!is_enough || std::ssize(named_) > kNamedNodes) return {is_enough, {}};
    return {true, named_};
}

// The slots that the GPUs which idle now make beyond those that could be had without them; names
// nodes that have none without.
std::int64_t Bounds::slots_with_idle(const VictimQuery& query, const auto& could_have) {
    const int wanted = query.request().gpus;
    const auto& pool = query.view.cluster.pool(query.view.pool);
    const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
    std::int64_t slots = 0;
    for (int idle = pool.gpus_per_node_max; idle > 0; --idle) {
        for (const NodeId node : free.nodes_with(idle)) {
            const int rest = could_have(node);
            const int more = (rest + idle) / wanted - rest / wanted;
            slots += more;
            if (more > 0 && rest < wanted) named_.push_back(node);
        }
    }
    return slots;
}

// Forgets those of the named nodes that have no slot; returns the slots of the others.
std::int64_t Bounds::keep_those_with_slots(const VictimQuery& query, const auto& could_have) {
    const int wanted = query.request().gpus;
    std::int64_t slots = 0;
    std::erase_if(named_, [&](NodeId node) {
        const int slots_here = (idle_on(query, node) + could_have(node)) / wanted;
        slots += slots_here;
        return slots_here == 0;
    });
    return slots;
}

// What the ledger lets each side lose on the node, as if nothing were taken elsewhere.
int Bounds::legal_gpus_on(const VictimQuery& query, NodeId node) const {
    struct Side {
        std::size_t account;
        NodeWork::Part all;
    };
    base::SmallVector<Side, 8> sides;
    for (const NodeWork::Part& part : query.work.on(node)) {
        if (!lent_.may_lose[part.project.index()]) continue;
        const std::size_t account = *query.ledger.account_of(part.project);
        const auto same = std::ranges::find(sides, account, &Side::account);
        if (same == sides.end()) {
            sides.push_back({account, part});
            continue;
        }
        same->all.gpus += part.gpus;
        same->all.widest = std::max(same->all.widest, part.widest);
        same->all.is_whole &= part.is_whole;
    }
    int gpus = 0;
    for (const auto& [account, all] : sides) {
        const MilliGpu limit =
            query.ledger.reclaimable_from(all.project, base::kWholeGpu * all.widest);
        const std::int64_t whole = std::max<std::int64_t>(limit.value / base::kWholeGpu.value, 0);
        gpus += all.is_whole ? static_cast<int>(std::min<std::int64_t>(all.gpus, whole)) : all.gpus;
    }
    return gpus;
}

// Two beneficiaries in turn may mostly take from the same projects, but for their own.
void Bounds::bring_up_to_date(const VictimQuery& query) {
    query.work.bring_up_to_date(query.view);
    const base::ChangeLog<NodeId>& log = query.view.cluster.changed_nodes().work;
    // As the work itself is looked at anew: what is subtracted is what was added.
    const std::size_t nodes = query.view.cluster.nodes().size();
    const bool can_follow = log.reaches_back_to(lent_.mark) && lent_.nodes == nodes;
    if (!can_follow) lent_ = {log.mark(), nodes, {}, {}, {}};
    lent_.may_lose.resize(query.view.cluster.projects().size());
    log.visit_since(lent_.mark, [&](NodeId node) { count_again(query, node); });
    lent_.mark = log.read();
    visit_others(lent_.projects, query.projects, [&](ProjectId project) {
        lent_.gpus.subtract(query.work.gpus_of(project));
        lent_.may_lose[project.index()] = false;
    });
    visit_others(query.projects, lent_.projects, [&](ProjectId project) {
        lent_.gpus.add(query.work.gpus_of(project));
        lent_.may_lose[project.index()] = true;
    });
    lent_.projects = query.projects;
}

void Bounds::count_again(const VictimQuery& query, NodeId node) {
    int gpus = 0;
    for (const NodeWork::Part& part : query.work.on(node)) {
        if (lent_.may_lose[part.project.index()]) gpus += part.gpus;
    }
    lent_.gpus.set(node, gpus);
}

}  // namespace berth::scheduling
