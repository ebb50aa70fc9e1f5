// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/bounds.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace berth::scheduling {
namespace {

constexpr std::size_t kLentMax = 64;  // counts that are kept
constexpr std::ptrdiff_t kNamedNodes = 256;  // where they are more, most searches are short
constexpr std::ptrdiff_t kCutNodes = 16;  // so few that each unit on them is asked about

// Calls `visit` with every project that one of the two names and the other does not.
void visit_difference(std::span<const ProjectId> some, std::span<const ProjectId> rest,
                      const auto& visit) {
    auto left = some.begin();
    auto right = rest.begin();
    while (left != some.end() || right != rest.end()) {
        if (right == rest.end() || (left != some.end() && *left < *right)) {
            visit(*left++);
        } else if (left == some.end() || *right < *left) {
            visit(*right++);
        } else {
            ++left;
            ++right;
        }
    }
}

// What the beneficiary's project could take on the node.
int own_gpus_on(const VictimQuery& query, NodeId node) {
    int gpus = 0;
    visit_victims(query.view, node, [&](const cluster::Job& job, int gpus_here) {
        const bool is_lower =
            job.project == query.terms.project && job.priority_key() < query.terms.priority_key;
        if (is_lower) gpus += gpus_here;
    });
    return gpus;
}

int idle_on(const VictimQuery& query, NodeId node) {
    const cluster::NodeState& state = query.view.cluster.nodes()[node.index()];
    return std::popcount(state.whole[static_cast<std::size_t>(View::Coming)]);
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
    query.work.bring_up_to_date(query.view);
    may_lose_.assign(query.view.cluster.projects().size(), false);
    for (const ProjectId project : query.projects) may_lose_[project.index()] = true;
    Count& count = nearest(query);
    bring_up_to_date(query, count);
    count.used = ++questions_;
    const int wanted = query.request().gpus;
    const auto counted = [&](NodeId node) { return int{count.gpus[node.index()]}; };
    std::int64_t slots = slots_with_idle(query, counted);
    const int widest = static_cast<int>(count.nodes_with.size()) - 1;
    for (int gpus = wanted; gpus <= widest; ++gpus) {
        slots +=
            std::int64_t{gpus / wanted} * count.nodes_with[static_cast<std::size_t>(gpus)].size();
    }
    if (slots < query.beneficiary.tasks) return answer(false);
    const bool is_exact = counting_of(query.view, query.beneficiary.job.shape) == Counting::Exact;
    const auto legal = [&](NodeId node) {
        return is_exact ? legal_gpus_on(query, node) : counted(node);
    };
    slots = keep_those_with_slots(query, legal);
    for (int gpus = wanted; gpus <= widest; ++gpus) {
        for (const NodeId node : count.nodes_with[static_cast<std::size_t>(gpus)]) {
            const int slots_here = (idle_on(query, node) + legal(node)) / wanted;
            if (slots_here == 0) continue;
            slots += slots_here;
            named_.push_back(node);
            const bool are_many = std::ssize(named_) > kNamedNodes;
            if (are_many && slots >= query.beneficiary.tasks) return answer(true);
        }
    }
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
        if (!may_lose_[part.project.index()]) continue;
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

void Bounds::bring_up_to_date(const VictimQuery& query, Count& count) {
    const auto nodes = std::ssize(query.view.cluster.nodes());
    if (cost_to_follow(query, count) < nodes) {
        query.view.cluster.changed_nodes().work.visit_since(
            count.mark, [&](NodeId node) { count_again(count, query, node); });
        visit_difference(count.projects, query.projects, [&](ProjectId project) {
            for (const NodeId node : query.work.nodes_of(project)) count_again(count, query, node);
        });
    } else {
        count.gpus.assign(static_cast<std::size_t>(nodes), 0);
        for (cluster::NodeSet& with : count.nodes_with) with.clear();
        for (std::int64_t at = 0; at < nodes; ++at) {
            count_again(count, query, {static_cast<NodeId::Rep>(at)});
        }
    }
    count.projects = query.projects;
    count.mark = query.view.cluster.changed_nodes().work.read();
}

// That of these projects; or a copy of the one that is brought up to date at the least cost, in the
// place of the one not asked for longest: the sets of two beneficiaries in turn often differ by
// their own projects alone.
Bounds::Count& Bounds::nearest(const VictimQuery& query) {
    const auto same = std::ranges::find_if(lent_, [&](const Count& count) {
        return std::ranges::equal(count.projects, query.projects);
    });
    if (same != lent_.end()) return *same;
    const auto cost = [&](const Count& count) { return cost_to_follow(query, count); };
    const auto best = std::ranges::min_element(lent_, {}, cost);
    const bool is_near =
        best != lent_.end() && 2 * cost(*best) < std::ssize(query.view.cluster.nodes());
    if (lent_.size() < kLentMax) {
        lent_.push_back(is_near ? Count(*best) : Count());
        return lent_.back();
    }
    Count& oldest = *std::ranges::min_element(lent_, {}, &Count::used);
    if (is_near) oldest = *best;
    return oldest;
}

// In nodes that are counted again.
std::int64_t Bounds::cost_to_follow(const VictimQuery& query, const Count& count) const {
    const base::ChangeLog<NodeId>& log = query.view.cluster.changed_nodes().work;
    const bool can_follow =
        log.reaches_back_to(count.mark) && count.gpus.size() == query.view.cluster.nodes().size();
    if (!can_follow) return std::numeric_limits<std::int64_t>::max() / 2;
    auto cost = static_cast<std::int64_t>(log.mark() - count.mark);
    visit_difference(count.projects, query.projects,
                     [&](ProjectId project) { cost += query.work.nodes_of(project).size(); });
    return cost;
}

void Bounds::count_again(Count& count, const VictimQuery& query, NodeId node) const {
    std::int64_t gpus = 0;
    for (const NodeWork::Part& part : query.work.on(node)) {
        if (may_lose_[part.project.index()]) gpus += part.gpus;
    }
    // One that several share was counted for each of them.
    const auto now = static_cast<std::uint8_t>(
        std::min<std::int64_t>(gpus, query.view.cluster.nodes()[node.index()].gpus));
    std::uint8_t& known = count.gpus[node.index()];
    if (known == now) return;
    if (count.nodes_with.size() <= now) count.nodes_with.resize(std::size_t{now} + 1);
    if (known > 0) count.nodes_with[known].erase(node);
    if (now > 0) count.nodes_with[now].insert(node);
    known = now;
}

}  // namespace berth::scheduling
