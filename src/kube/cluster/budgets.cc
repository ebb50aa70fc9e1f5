// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/budgets.h"

#include <algorithm>

namespace berth::kube::cluster {
namespace {

using objects::DisruptionBudget;
using objects::Labels;

bool is_selecting_alike(const DisruptionBudget& one, const DisruptionBudget& other) {
    return one.selector == other.selector && one.problem == other.problem;
}

// Each once in a row: pods of a template have the same labels, kept once.
std::vector<const Labels*> labels_of(const Gang& gang) {
    std::vector<const Labels*> all;
    for (const auto& [uid, pod] : gang.pods) {
        if (pod->is_over()) continue;
        const Labels* labels = &*pod->meta.labels;
        if (all.empty() || all.back() != labels) all.push_back(labels);
    }
    if (!all.empty() || gang.workload == nullptr) return all;
    for (const Workload::Part& part : gang.workload->parts) all.push_back(&*part.labels);
    return all;
}

}  // namespace

bool Budgets::take(const DisruptionBudget* before, const DisruptionBudget* now) {
    const objects::Meta& meta = (now != nullptr ? now : before)->meta;
    InNamespace& those = budgets_[*meta.name_space];
    if (now != nullptr) {
        those[meta.uid] = now;
    } else {
        those.erase(meta.uid);
    }
    if (those.empty()) budgets_.erase(*meta.name_space);
    // Its status changes with each pod that comes or goes.
    return before == nullptr || now == nullptr || !is_selecting_alike(*before, *now);
}

const DisruptionBudget* Budgets::protector_of(const Gang& gang) const {
    const auto there = budgets_.find(*gang.meta().name_space);
    if (there == budgets_.end()) return nullptr;
    const std::vector<const Labels*> labels = labels_of(gang);
    const DisruptionBudget* oldest = nullptr;
    for (const auto& [uid, budget] : there->second) {
        const auto is_selected = [&](const Labels* each) { return selects(*budget, *each); };
        const bool is_older = oldest == nullptr || budget->meta.created < oldest->meta.created;
        if (is_older && std::ranges::any_of(labels, is_selected)) oldest = budget;
    }
    return oldest;
}

}  // namespace berth::kube::cluster
