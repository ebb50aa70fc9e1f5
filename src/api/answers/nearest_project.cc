// SPDX-License-Identifier: Apache-2.0
#include "api/answers/nearest_project.h"

#include <string_view>
#include <vector>

#include "codec/words/words.h"

namespace berth::api {

std::string nearest_project(const cluster::Cluster& cluster, const std::string& project) {
    if (cluster.find_project(project).is_valid()) return {};
    std::vector<std::string_view> known;
    for (const auto& other : cluster.projects()) {
        if (!other.project.name.empty()) known.push_back(other.project.name);
    }
    return codec::did_you_mean(project, known);
}

}  // namespace berth::api
