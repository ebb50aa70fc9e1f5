// SPDX-License-Identifier: Apache-2.0
#include "group_rule.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace berth::proof {
namespace {

using base::NodeId;
using Slots = std::map<NodeId, std::int64_t>;

// Tasks that are to be placed, on these nodes alone.
struct Placing {
    int tasks = 0;
    std::set<NodeId> nodes;
};

// They can when no choice of them wants more than all their nodes together take (Hall).
bool can_all_be_placed(const std::vector<Placing>& placings, const Slots& slots) {
    for (unsigned some = 1; some < 1U << placings.size(); ++some) {
        std::int64_t wanted = 0;
        std::set<NodeId> nodes;
        for (std::size_t i = 0; i < placings.size(); ++i) {
            if ((some >> i & 1) == 0) continue;
            wanted += placings[i].tasks;
            nodes.insert(placings[i].nodes.begin(), placings[i].nodes.end());
        }
        for (const NodeId node : nodes) wanted -= slots.at(node);
        if (wanted > 0) return false;
    }
    return true;
}

class Trials {
  public:
    Trials(const std::vector<model::TaskGroup>& groups, const cluster::Job& job, const Slots& slots,
           const DomainOf& domain_of)
        : groups_(groups), job_(job), slots_(slots), domain_of_(domain_of) {}

    // Whether this many tasks of each group can be placed.
    bool fit(const std::vector<int>& tasks) {
        placings_.clear();
        return fit_from(0, tasks);
    }

  private:
    bool fit_from(std::size_t group, const std::vector<int>& tasks) {
        if (group == groups_.size()) return can_all_be_placed(placings_, slots_);
        if (tasks[group] == 0) return fit_from(group + 1, tasks);
        std::map<std::string, std::set<NodeId>> domains;
        for (const auto& [node, slots] : slots_) {
            const auto domain = domain_of_(node, groups_[group].level);
            if (domain && is_beside_running(group, *domain)) domains[*domain].insert(node);
        }
        for (const auto& [domain, nodes] : domains) {
            placings_.push_back({tasks[group], nodes});
            const bool is_placed = fit_from(group + 1, tasks);
            placings_.pop_back();
            if (is_placed) return true;
        }
        return false;
    }

    bool is_beside_running(std::size_t group, const std::string& domain) const {
        return std::ranges::all_of(job_.placed, [&](const auto& task) {
            return task.is_releasing || group_of(groups_, task.place.task) != group ||
                   domain_of_(task.place.node, groups_[group].level) == domain;
        });
    }

    const std::vector<model::TaskGroup>& groups_;
    const cluster::Job& job_;
    const Slots& slots_;
    const DomainOf& domain_of_;
    std::vector<Placing> placings_;
};

}  // namespace

std::vector<model::TaskGroup> groups_of(const cluster::Cluster& cluster, const cluster::Job& job) {
    auto groups = cluster.shape(job.shape).topology.groups;
    if (groups.empty()) groups.push_back({"", job.tasks_min, job.tasks_max, ""});
    return groups;
}

std::size_t group_of(const std::vector<model::TaskGroup>& groups, int rank) {
    std::size_t group = 0;
    for (; rank >= groups[group].tasks_max; ++group) rank -= groups[group].tasks_max;
    return group;
}

std::vector<int> running_in(const std::vector<model::TaskGroup>& groups, const cluster::Job& job) {
    std::vector<int> running(groups.size());
    for (const auto& task : job.placed) {
        if (!task.is_releasing) ++running[group_of(groups, task.place.task)];
    }
    return running;
}

int groups_needed(const cluster::Cluster& cluster, const cluster::Job& job) {
    if (grows_by_groups(cluster, job)) return cluster.shape(job.shape).topology.groups_min;
    return static_cast<int>(groups_of(cluster, job).size());
}

bool grows_by_groups(const cluster::Cluster& cluster, const cluster::Job& job) {
    return cluster.shape(job.shape).topology.groups_min > 0;
}

namespace {

// What each group lacks; all groups without tasks are alike where some of them are not needed.
std::vector<int> lacking(const cluster::Cluster& cluster, const cluster::Job& job) {
    const std::vector<model::TaskGroup> groups = groups_of(cluster, job);
    const std::vector<int> running = running_in(groups, job);
    auto empty = groups_needed(cluster, job) -
                 std::ranges::count_if(running, [](int tasks) { return tasks > 0; });
    std::vector<int> missing(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (running[i] == 0 && empty-- <= 0) continue;
        missing[i] = std::max(groups[i].tasks_min - running[i], 0);
    }
    return missing;
}

int sum_of(const std::vector<int>& tasks) { return std::accumulate(tasks.begin(), tasks.end(), 0); }

}  // namespace

int next_step(const cluster::Cluster& cluster, const cluster::Job& job) {
    if (const int missing = sum_of(lacking(cluster, job)); missing > 0) return missing;
    return grows_by_groups(cluster, job) ? groups_of(cluster, job).front().tasks_max : 1;
}

bool can_spare(const cluster::Cluster& cluster, const cluster::Job& job,
               const std::vector<int>& running, std::size_t group) {
    const std::vector<model::TaskGroup> groups = groups_of(cluster, job);
    if (!grows_by_groups(cluster, job)) {
        return job.elastic != model::Elastic::Grow && running[group] > groups[group].tasks_min;
    }
    const int size = groups[group].tasks_max;
    return running[group] == size &&
           std::ranges::count(running, size) > groups_needed(cluster, job);
}

bool groups_fit(const cluster::Cluster& cluster, const cluster::Job& job,
                const std::map<NodeId, std::int64_t>& slots, const DomainOf& domain_of) {
    const std::vector<model::TaskGroup> groups = groups_of(cluster, job);
    const std::vector<int> running = running_in(groups, job);
    Trials trials(groups, job, slots, domain_of);
    std::vector<int> tasks = lacking(cluster, job);
    if (sum_of(tasks) > 0) return trials.fit(tasks);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (running[i] == groups[i].tasks_max) continue;
        tasks.assign(groups.size(), 0);
        tasks[i] = next_step(cluster, job);
        if (trials.fit(tasks)) return true;
    }
    return false;
}

std::vector<std::string> broken_groups(const cluster::Cluster& cluster, const cluster::Job& job,
                                       const std::vector<model::TaskPlacement>& more,
                                       const AreTogether& are_together) {
    const auto groups = groups_of(cluster, job);
    std::vector<int> sizes(groups.size());
    std::vector<std::set<NodeId>> nodes(groups.size());
    std::vector<bool> grows(groups.size());  // nodes may have come apart below those that do not
    for (const model::TaskPlacement& task : more) {
        if (!job.is_companion(task.task)) grows[group_of(groups, task.task)] = true;
    }
    const auto add = [&](const model::TaskPlacement& task) {
        if (job.is_companion(task.task)) return;
        ++sizes[group_of(groups, task.task)];
        nodes[group_of(groups, task.task)].insert(task.node);
    };
    std::ranges::for_each(more, add);
    for (const auto& task : job.placed) {
        if (!task.is_releasing) add(task.place);
    }
    std::vector<std::string> found;
    auto empty = std::ranges::count(sizes, 0);  // of them, those that need not have tasks
    empty = std::min<std::ptrdiff_t>(empty, std::ssize(groups) - groups_needed(cluster, job));
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (sizes[i] == 0 && empty-- > 0) continue;
        if (sizes[i] < groups[i].tasks_min || sizes[i] > groups[i].tasks_max) {
            found.push_back("I2: group " + groups[i].name + " has " + std::to_string(sizes[i]) +
                            " tasks");
        }
        if (grows[i] && !are_together(groups[i].level, nodes[i])) {
            found.push_back("R13: group " + groups[i].name + " does not stand in one " +
                            groups[i].level);
        }
    }
    return found;
}

}  // namespace berth::proof
