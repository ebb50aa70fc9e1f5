// SPDX-License-Identifier: Apache-2.0
#include "state_check.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "node_rule.h"
#include "resource_rule.h"

namespace berth::proof {

namespace {

// Whether every group has its minimum, by the tasks that run, and with those that are promised.
template <typename IsLeaving>
bool are_whole(const model::JobRecord& record, IsLeaving&& is_leaving) {
    auto groups = record.spec.topology.groups;
    if (groups.empty()) groups.push_back({"", record.spec.tasks_min, record.spec.tasks_max, ""});
    std::vector<int> active(groups.size());
    std::vector<int> held(groups.size());
    const auto group = [&](int rank) {
        std::size_t at = 0;
        for (; rank >= groups[at].tasks_max; ++at) rank -= groups[at].tasks_max;
        return at;
    };
    for (const auto& task : record.tasks) {
        if (!is_leaving(task.task)) ++active[group(task.task)], ++held[group(task.task)];
    }
    for (const auto& task : record.reserved) ++held[group(task.task)];
    const auto is_whole = [&](const std::vector<int>& count) {
        const auto begun = std::ranges::count_if(count, [](int tasks) { return tasks > 0; });
        const int least = record.spec.topology.groups_min;
        const bool are_enough = least > 0 && begun >= least;
        for (std::size_t i = 0; i < groups.size() && begun > 0; ++i) {
            if (count[i] == 0 && are_enough) continue;
            if (count[i] < groups[i].tasks_min || count[i] > groups[i].tasks_max) return false;
        }
        return true;
    };
    return is_whole(active) && is_whole(held);
}

// What keeps a job off a node keeps it off all that are taken for nodes of that kind.
void check_kinds(const cluster::Cluster& cluster, std::vector<std::string>& found) {
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const model::Node node = cluster.description({static_cast<base::NodeId::Rep>(i)});
        for (const auto& [id, job] : cluster.jobs()) {
            if (!cluster.allows(job.shape, cluster.nodes()[i].kind)) continue;
            if (rule_admits(cluster.shape(job.shape), node)) continue;
            found.push_back("I1: job " + std::to_string(id.value) + " may run on " + node.name);
        }
    }
}

// No node has more of a resource taken than it has, now and when all have left that leave.
void check_resources(const lifecycle::State& state, std::vector<std::string>& found) {
    std::map<base::NodeId, std::array<Amounts, 2>> left;
    for (std::size_t i = 0; i < state.cluster.nodes().size(); ++i) {
        const base::NodeId node{static_cast<base::NodeId::Rep>(i)};
        left[node].fill(state.cluster.description(node).resources);
    }
    for (const auto& [id, record] : state.jobs) {
        const auto& releasing = record.releasing;
        for (const auto& task : record.tasks) {
            const bool leaves = std::ranges::find(releasing, task.task) != releasing.end();
            give_back(left[task.node][0], record.spec.request, -1);
            give_back(left[task.node][1], record.spec.request, leaves ? 0 : -1);
        }
        for (const auto& task : record.reserved) {
            give_back(left[task.node][1], record.spec.request, -1);
        }
    }
    for (const auto& [node, amounts] : left) {
        for (const Amounts& each : amounts) {
            for (const auto& [name, amount] : each) {
                if (amount < 0) found.push_back("I1: more " + name + " is used than a node has");
            }
        }
    }
}

}  // namespace

std::vector<std::string> check_state(const lifecycle::State& state) {
    std::vector<std::string> found;
    struct Sum {
        std::int64_t used = 0;
        std::int64_t leaving = 0;
        std::int64_t promised = 0;
    };
    std::map<std::pair<base::NodeId, int>, std::pair<Sum, Sum>> gpus;  // compute, memory
    std::map<base::NodeId, std::pair<Sum, Sum>> hosts;  // CPU, memory
    const auto add = [&](const model::TaskPlacement& task, std::int64_t Sum::* field) {
        for (int gpu = 0; gpu < model::kGpusPerNodeMax; ++gpu) {
            if ((task.gpu_mask >> gpu & 1) == 0) continue;
            gpus[{task.node, gpu}].first.*field += task.share.value;
            gpus[{task.node, gpu}].second.*field += task.gpu_memory.value;
        }
        hosts[task.node].first.*field += task.cpu.value;
        hosts[task.node].second.*field += task.memory.value;
    };
    for (const auto& [id, record] : state.jobs) {
        const auto is_leaving = [&](int rank) {
            return std::ranges::find(record.releasing, rank) != record.releasing.end();
        };
        int active = 0;
        std::set<int> ranks;
        for (const auto& task : record.tasks) {
            add(task, is_leaving(task.task) ? &Sum::leaving : &Sum::used);
            active += is_leaving(task.task) ? 0 : 1;
            // A job that moves restarts with the ranks that leave.
            if (!is_leaving(task.task) || record.reserved.empty()) ranks.insert(task.task);
        }
        for (const auto& task : record.reserved) {
            add(task, &Sum::promised);
            ranks.insert(task.task);
        }
        const int held = active + static_cast<int>(record.reserved.size());
        if (!are_whole(record, is_leaving) || held > record.spec.tasks_max) {
            found.push_back("I2: job " + std::to_string(id.value) + " has " +
                            std::to_string(active) + " tasks and " +
                            std::to_string(record.reserved.size()) + " promised");
        }
        const auto leaving = record.reserved.empty() ? 0 : record.releasing.size();
        if (ranks.size() != record.tasks.size() - leaving + record.reserved.size()) {
            found.push_back("I2: two tasks of job " + std::to_string(id.value) + " have one rank");
        }
    }
    const auto is_over = [](const Sum& sum, std::int64_t bound) {
        return sum.used + std::max(sum.leaving, sum.promised) > bound;
    };
    for (const auto& [gpu, sums] : gpus) {
        if (is_over(sums.first, 1000)) found.push_back("I1: a GPU is used beyond what it has");
        const model::Node node = state.cluster.description(gpu.first);
        if (is_over(sums.second, node.gpu_memory.value - node.gpu_reserved.value)) {
            found.push_back("I1: the memory of a GPU is used beyond what it has");
        }
    }
    for (const auto& [node, sums] : hosts) {
        const auto& host = state.cluster.nodes()[node.index()];
        const bool cpu = host.cpu.capacity != cluster::kUnaccounted;
        const bool memory = host.memory.capacity != cluster::kUnaccounted;
        if ((cpu && is_over(sums.first, host.cpu.capacity)) ||
            (memory && is_over(sums.second, host.memory.capacity))) {
            found.push_back("I1: a node's CPU or memory is used beyond what it has");
        }
    }
    check_resources(state, found);
    check_kinds(state.cluster, found);
    return found;
}

}  // namespace berth::proof
