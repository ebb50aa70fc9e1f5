// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/bounds.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace berth::scheduling {
namespace {

constexpr std::size_t kLentMax = 64;  // counts that are kept
constexpr int kIdleNodes = 256;  // looked at; where more have idle GPUs, a search has to say
constexpr int kNamedNodes = 256;  // where they are more, most searches are short

int gpus_wanted(const VictimQuery& query) {
    return query.view.cluster.shape(query.beneficiary.job.shape).request.gpus;
}

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

}  // namespace

Bounds::Extent Bounds::extent(const VictimQuery& query) {
    const model::TaskRequest& request =
        query.view.cluster.shape(query.beneficiary.job.shape).request;
    const bool is_counted = request.is_whole() && request.gpus > 1;
    if (!is_counted || !query.beneficiary.bound_to.is_whole_pool()) return {true, {}};
    named_.clear();
    return query.terms.from_own ? extent_of_own(query) : extent_of_lent(query);
}

Bounds::Extent Bounds::extent_of_own(const VictimQuery& query) {
    const int wanted = gpus_wanted(query);
    const auto could_have = [&](NodeId node) { return own_gpus_on(query, node); };
    std::int64_t slots = 0;
    for (const auto& reachable : own_.reachable_nodes(query.view, query.terms.project, wanted)) {
        if (!(reachable.least < query.terms.priority_key)) break;
        named_.push_back(reachable.node);
        slots += query.beneficiary.tasks > 1 ? could_have(reachable.node) / wanted : 1;
    }
    if (!is_enough_with_idle(query, could_have, slots)) return {false, {}};
    if (std::ssize(named_) > kNamedNodes) return {true, {}};
    return {true, named_};
}

Bounds::Extent Bounds::extent_of_lent(const VictimQuery& query) {
    work_.bring_up_to_date(query.view);
    may_lose_.assign(query.view.cluster.projects().size(), false);
    for (const ProjectId project : query.projects) may_lose_[project.index()] = true;
    Count& count = nearest(query);
    bring_up_to_date(query, count);
    count.used = ++questions_;
    const int wanted = gpus_wanted(query);
    std::int64_t slots = 0, nodes = 0;
    for (std::size_t gpus = static_cast<std::size_t>(wanted); gpus < count.nodes_with.size();
         ++gpus) {
        slots += static_cast<int>(gpus) / wanted * count.nodes_with[gpus];
        nodes += count.nodes_with[gpus];
    }
    const auto could_have = [&](NodeId node) { return int{count.gpus[node.index()]}; };
    if (!is_enough_with_idle(query, could_have, slots)) return {false, {}};
    if (nodes > kNamedNodes) return {true, {}};
    for (std::size_t at = 0; at < count.gpus.size(); ++at) {
        if (count.gpus[at] >= wanted) named_.push_back({static_cast<NodeId::Rep>(at)});
    }
    return {true, named_};
}

// With the GPUs that idle now, where they make the difference; names those nodes.
bool Bounds::is_enough_with_idle(const VictimQuery& query, const auto& could_have,
                                 std::int64_t slots) {
    const int wanted = gpus_wanted(query);
    const auto& pool = query.view.cluster.pool(query.view.pool);
    const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
    int looked_at = 0;
    for (int idle = pool.gpus_per_node_max; idle > 0; --idle) {
        const cluster::NodeSet& with_idle = free.nodes_with(idle);
        for (NodeId node = with_idle.next({0}); node.is_valid();
             node = with_idle.next({node.value + 1})) {
            if (++looked_at > kIdleNodes) return true;
            const int rest = could_have(node);
            const int more = (rest + idle) / wanted - rest / wanted;
            slots += more;
            if (more > 0 && rest < wanted) named_.push_back(node);
        }
    }
    return slots >= query.beneficiary.tasks;
}

void Bounds::bring_up_to_date(const VictimQuery& query, Count& count) {
    const auto nodes = std::ssize(query.view.cluster.nodes());
    if (cost_to_follow(query, count) < nodes) {
        query.view.cluster.changed_nodes().work.visit_since(
            count.mark, [&](NodeId node) { count_again(count, node); });
        visit_difference(count.projects, query.projects, [&](ProjectId project) {
            const cluster::NodeSet& of_project = work_.nodes_of(project);
            for (NodeId node = of_project.next({0}); node.is_valid();
                 node = of_project.next({node.value + 1})) {
                count_again(count, node);
            }
        });
    } else {
        count.gpus.assign(static_cast<std::size_t>(nodes), 0);
        count.nodes_with.assign(1, static_cast<std::int32_t>(nodes));
        for (std::int64_t at = 0; at < nodes; ++at) {
            count_again(count, {static_cast<NodeId::Rep>(at)});
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
                     [&](ProjectId project) { cost += work_.nodes_of(project).size(); });
    return cost;
}

void Bounds::count_again(Count& count, NodeId node) const {
    int gpus = 0;
    for (const NodeWork::Part& part : work_.on(node)) {
        if (may_lose_[part.project.index()]) gpus += part.gpus;
    }
    BERTH_CHECK(gpus < 1 << 16, "GPUs of a node are counted in two bytes");
    std::uint16_t& gpus_here = count.gpus[node.index()];
    const auto now = static_cast<std::size_t>(gpus);
    if (count.nodes_with.size() <= now) count.nodes_with.resize(now + 1);
    --count.nodes_with[gpus_here];
    ++count.nodes_with[now];
    gpus_here = static_cast<std::uint16_t>(gpus);
}

}  // namespace berth::scheduling
