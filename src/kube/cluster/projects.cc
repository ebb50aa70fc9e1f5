// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/projects.h"

namespace berth::kube::cluster {

bool Projects::set_namespace(const std::string& name, const objects::Labels* labels) {
    const std::string* label = labels == nullptr ? nullptr : objects::find(*labels, kProjectLabel);
    const auto known = labelled_.find(name);
    if (label == nullptr) return labelled_.erase(name) > 0;
    if (known != labelled_.end() && known->second == *label) return false;
    labelled_[name] = *label;
    return true;
}

void Projects::set_listed(const std::string& project, const std::vector<std::string>& namespaces) {
    for (auto at = listed_.begin(); at != listed_.end();) {
        at->second.erase(project);
        at = at->second.empty() ? listed_.erase(at) : std::next(at);
    }
    for (const std::string& name_space : namespaces) listed_[name_space].insert(project);
}

std::string Projects::project_of(const objects::Meta& gang) const {
    const auto labelled = labelled_.find(*gang.name_space);
    const auto listed = listed_.find(*gang.name_space);
    if (const std::string* label = objects::find(*gang.labels, kProjectLabel)) {
        const bool is_for_it = labelled != labelled_.end() && labelled->second == *label;
        const bool is_listed = listed != listed_.end() && listed->second.contains(*label);
        return is_for_it || is_listed ? *label : "";
    }
    if (labelled != labelled_.end()) return labelled->second;
    return listed == listed_.end() ? "" : *listed->second.begin();
}

}  // namespace berth::kube::cluster
