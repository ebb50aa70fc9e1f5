// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/free_classes.h"

#include <utility>

namespace berth::cluster {

JobClass& FreeClasses::at(JobClasses& job_classes, const JobClassKey& key) {
    const auto at = job_classes.lower_bound(key);
    if (at != job_classes.end() && at->first == key) return at->second;
    if (spare_.empty()) return job_classes.try_emplace(at, key)->second;
    JobClasses::node_type node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = key;
    return job_classes.insert(at, std::move(node))->second;
}

}  // namespace berth::cluster
