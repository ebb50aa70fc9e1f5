// SPDX-License-Identifier: Apache-2.0
#include "rule_shares.h"

#include <algorithm>
#include <functional>
#include <map>

#include "judge.h"
#include "scheduling/shares/past_share.h"

namespace berth::proof {
namespace {

__extension__ using Wide = __int128;

struct Sibling {
    std::size_t project = 0;
    std::int64_t need = 0;       // beyond what it has
    Wide fraction = 0;           // remembered of the last offer
    bool is_remembered = false;
};

class Division {
  public:
    Division(const cluster::Cluster& cluster, base::PoolId pool, const model::Policy& policy,
             model::TimePoint now)
        : cluster_(cluster),
          pool_(pool),
          usage_weight_(policy.usage_weight),
          usage_(scheduling::past_shares(cluster, pool, policy, now)) {
        const std::size_t count = cluster.projects().size();
        request_.resize(count);
        shares_.fair.resize(count);
        shares_.allocatable.resize(count);
        for (const cluster::Claim& claim : cluster.pool(pool).claims) {
            shares_.quota.push_back(claim.quota.value);
        }
        std::int64_t capacity = 0;
        for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
            const base::NodeId node{static_cast<base::NodeId::Rep>(i)};
            const bool is_there = cluster.nodes()[i].is_ready && cluster.nodes()[i].pool == pool;
            const model::Node description = cluster.description(node);
            const int gpus = std::max(description.gpus - description.others.gpus, 0);
            if (is_there) capacity += gpus * exchange_weight(cluster, node);
        }
        if (policy.scale_overcommitted) shrink_below(0, capacity);
        for (const auto& [id, job] : cluster.jobs()) add_request(job);
        request_below(0);
        shares_.fair[0] = shares_.allocatable[0] = capacity;
        divide_below(0);
    }

    RuleShares shares() && { return std::move(shares_); }

  private:
    const cluster::Claim& claim(std::size_t project) const {
        return cluster_.pool(pool_).claims[project];
    }

    // What the job holds here and what it still wants here.
    void add_request(const cluster::Job& job) {
        std::int64_t held = 0;
        int tasks = 0;
        const auto add = [&](const model::TaskPlacement& place) {
            const Part part{place.share.value, place.gpu_memory.value};
            const std::int64_t given = given_memory(cluster_.description(place.node));
            held += least_share(part, given) * __builtin_popcountll(place.gpu_mask) *
                    exchange_weight(cluster_, place.node) / 1000;
            ++tasks;
        };
        for (const auto& task : job.placed) {
            if (!task.is_releasing) add(task.place);
        }
        if (job.reservation) {
            for (const auto& place : job.reservation->tasks) add(place);
        }
        const bool is_here = tasks > 0 && job.pool == pool_;
        const auto pools = cluster_.pools_of(job);
        const bool may_come = tasks == 0 && std::ranges::find(pools, pool_) != pools.end();
        if (is_here) request_[job.project.index()] += held;
        if (job.may_run && (is_here || may_come)) {
            // Who is frozen comes back as it was.
            const int most = job.pinned.node.is_valid() ? int(job.pinned.tasks) : job.tasks_max;
            request_[job.project.index()] +=
                cluster_.demand(job.shape, pool_).value * (most - tasks);
        }
    }

    // A fixed quota is asked for whole, because it is set aside whole.
    std::int64_t request_below(std::size_t project) {
        for (const auto child : cluster_.projects()[project].children) {
            request_[project] += request_below(child.index());
        }
        if (is_fixed(project)) {
            request_[project] = std::max(request_[project], shares_.quota[project]);
        }
        return request_[project];
    }

    // Promises of more than there is: first the fixed ones, then the others, get their part of it,
    // whole GPUs at first, then one (or what is left) to each, the largest fraction first.
    void shrink_below(std::size_t parent, std::int64_t there) {
        const std::int64_t whole = there;
        for (const bool fixed : {true, false}) {
            std::vector<std::size_t> group;
            std::int64_t promised = 0;
            for (const auto child : cluster_.projects()[parent].children) {
                if (is_fixed(child.index()) != fixed) continue;
                group.push_back(child.index());
                promised += std::min(shares_.quota[child.index()], bound(child.index(), whole));
            }
            const std::int64_t before = there;
            for (const std::size_t child : group) {
                const std::int64_t quota = std::min(shares_.quota[child], bound(child, whole));
                if (promised > before) continue;
                there -= quota;
                shrink_below(child, quota);
            }
            if (promised > before) there = shrink(group, promised, before, whole);
        }
    }

    // What a quota without a bound counts as: all there is.
    std::int64_t bound(std::size_t child, std::int64_t there) const {
        return shares_.quota[child] >= model::kUnlimited.value ? there : shares_.quota[child];
    }

    // Returns what is left.
    std::int64_t shrink(const std::vector<std::size_t>& group, std::int64_t promised,
                        std::int64_t there, std::int64_t whole) {
        std::vector<std::pair<Wide, std::size_t>> fractions;
        std::map<std::size_t, std::int64_t> part;
        std::map<std::size_t, std::int64_t> most;
        std::int64_t left = there;
        for (const std::size_t child : group) {
            most[child] = bound(child, whole);
            const Wide exact = Wide{most[child]} * there;  // over promised
            part[child] = static_cast<std::int64_t>(exact / (Wide{promised} * 1000)) * 1000;
            fractions.emplace_back(exact - Wide{part[child]} * promised, child);
            left -= part[child];
        }
        std::ranges::stable_sort(fractions, std::greater<>{}, [&](const auto& f) {
            return std::pair(claim(f.second).rights.priority, f.first);
        });
        while (left > 0) {
            for (const auto& [fraction, child] : fractions) {
                const std::int64_t more =
                    std::min({std::int64_t{1000}, left, most[child] - part[child]});
                part[child] += more;
                left -= more;
            }
        }
        for (const std::size_t child : group) {
            if (part[child] != most[child]) shares_.quota[child] = part[child];
            shrink_below(child, part[child]);
        }
        return left;
    }

    bool is_fixed(std::size_t project) const {
        return project != 0 && claim(project).rights.kind == model::QuotaKind::Fixed;
    }

    void divide_below(std::size_t parent) {
        const std::int64_t total = shares_.fair[parent];
        std::int64_t rest = total;
        std::map<int, std::vector<Sibling>, std::greater<>> by_priority;
        for (const auto child : cluster_.projects()[parent].children) {
            const std::size_t id = child.index();
            const cluster::Claim& rights = claim(id);
            const bool no_bound = shares_.quota[id] >= model::kUnlimited.value;
            const std::int64_t quota = no_bound ? total : shares_.quota[id];
            const std::int64_t requestable = std::min(rights.limit.value, request_[id]);
            shares_.fair[id] = is_fixed(id) ? quota : std::min(quota, requestable);
            rest -= shares_.fair[id];
            const std::int64_t need = requestable - shares_.fair[id];
            if (need > 0 && rights.rights.weight > 0 && !is_fixed(id)) {
                by_priority[rights.rights.priority].push_back({id, need});
            }
        }
        for (auto& [priority, group] : by_priority) {
            while (rest > 0 && !group.empty() && offer(group, rest)) {
            }
        }
        for (auto& [priority, group] : by_priority) give_odd_ones(group, rest);
        for (const auto child : cluster_.projects()[parent].children) {
            const cluster::Claim& rights = claim(child.index());
            shares_.allocatable[child.index()] =
                std::min(rights.limit.value,
                         std::max(shares_.quota[child.index()], shares_.fair[child.index()]));
            divide_below(child.index());
        }
    }

    // One round; whether a project needed less than was offered.
    bool offer(std::vector<Sibling>& group, std::int64_t& rest) {
        Wide all = 0;
        for (const Sibling& one : group) all += claim(one.project).rights.weight;
        std::vector<Wide> weights;
        Wide sum = 0;
        for (const Sibling& one : group) {
            // n + k (n - u) with n = weight / all, over the common denominator.
            const Wide n = Wide{claim(one.project).rights.weight} * 1'000'000;
            const Wide u = Wide{usage_[one.project]} * all;
            weights.push_back(std::max<Wide>(0, 1000 * n + usage_weight_ * (n - u)));
            sum += weights.back();
        }
        if (sum == 0) return false;
        const Wide at_start = rest;
        bool needed_less = false;
        std::vector<Sibling> unsatisfied;
        for (std::size_t i = 0; i < group.size(); ++i) {
            Sibling one = group[i];
            const Wide offered = at_start * weights[i];  // over sum
            std::int64_t given = one.need;
            if (Wide{one.need} * sum > offered) {
                given = static_cast<std::int64_t>(offered / sum / 1000) * 1000;
                one.fraction = (offered - Wide{given} * sum) * 1'000'000 / sum;
                one.is_remembered = weights[i] > 0;
                one.need -= given;
                unsatisfied.push_back(one);
            } else if (Wide{one.need} * sum < offered) {
                needed_less = true;
            }
            shares_.fair[one.project] += given;
            rest -= given;
        }
        group = std::move(unsatisfied);
        return needed_less;
    }

    // Siblings stand from oldest to youngest, and a stable sort leaves ties in that order.
    void give_odd_ones(std::vector<Sibling>& group, std::int64_t& rest) {
        std::ranges::stable_sort(group, std::greater<>{}, &Sibling::fraction);
        for (const Sibling& one : group) {
            if (rest <= 0 || !one.is_remembered) continue;
            const std::int64_t extra = std::min({std::int64_t{1000}, rest, one.need});
            shares_.fair[one.project] += extra;
            rest -= extra;
        }
    }

    const cluster::Cluster& cluster_;
    base::PoolId pool_;
    std::int64_t usage_weight_;
    std::vector<std::int64_t> usage_;  // parts per million
    std::vector<std::int64_t> request_;
    RuleShares shares_;
};

}  // namespace

std::int64_t exchange_weight(const cluster::Cluster& cluster, base::NodeId node) {
    const auto& exchange = cluster.pool(cluster.nodes()[node.index()].pool).exchange;
    const auto found = exchange.find(cluster.description(node).gpu_model);
    return found == exchange.end() ? 1000 : found->second;
}

RuleShares rule_shares(const cluster::Cluster& cluster, base::PoolId pool,
                       const model::Policy& policy, model::TimePoint now) {
    return Division(cluster, pool, policy, now).shares();
}

}  // namespace berth::proof
