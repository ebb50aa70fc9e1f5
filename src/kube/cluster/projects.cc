// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/projects.h"

namespace berth::kube::cluster {

bool Projects::set_namespace(const std::string& name, const objects::Labels* labels) {
    const std::string* label = labels == nullptr ? nullptr : objects::find(*labels, kProjectLabel);
    const auto known = labelled_.find(name);
    if (label == nullptr) return known != labelled_.end() && (labelled_.erase(known), true);
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
    if (const std::string* label = objects::find(*gang.labels, kProjectLabel)) return *label;
    if (const auto found = labelled_.find(*gang.name_space); found != labelled_.end())
        return found->second;
    const auto found = listed_.find(*gang.name_space);
    return found == listed_.end() ? "" : *found->second.begin();
}

}  // namespace berth::kube::cluster
