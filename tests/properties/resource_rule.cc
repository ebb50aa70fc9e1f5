// SPDX-License-Identifier: Apache-2.0
#include "resource_rule.h"

#include <algorithm>

namespace berth::proof {
namespace {

std::int64_t asked_of(const model::TaskRequest& request, const std::string& name) {
    if (name == "pods") return 1;
    const auto found = request.resources.find(name);
    return found == request.resources.end() ? 0 : found->second;
}

}  // namespace

Amounts left_by_others(const model::Node& node) {
    Amounts left = node.resources;
    for (const auto& [name, amount] : node.others.resources) left.at(name) -= amount;
    return left;
}

void give_back(Amounts& left, const model::TaskRequest& request, std::int64_t tasks) {
    for (auto& [name, amount] : left) amount += asked_of(request, name) * tasks;
}

bool has_enough(const Amounts& left, const model::TaskRequest& request, std::int64_t tasks) {
    for (const auto& [name, amount] : left) {
        if (asked_of(request, name) > 0 && asked_of(request, name) * tasks > amount) return false;
    }
    for (const auto& [name, amount] : request.resources) {
        if (amount > 0 && !left.contains(name)) return false;
    }
    return true;
}

std::vector<Part> beside_others(std::vector<Part> gpus, int owed, WhileOwed while_owed) {
    for (Part& gpu : gpus) {
        if (owed == 0) break;
        if (gpu.compute < 1000) continue;
        gpu = {};
        --owed;
    }
    if (owed > 0 && while_owed == WhileOwed::Full) gpus.assign(gpus.size(), {});
    return gpus;
}

int gpus_left_by_others(const cluster::Cluster& cluster, base::NodeId node) {
    const model::Node description = cluster.description(node);
    return std::max(description.gpus - description.others.gpus, 0);
}

}  // namespace berth::proof
