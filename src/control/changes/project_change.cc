// SPDX-License-Identifier: Apache-2.0
#include "control/changes/project_change.h"

#include <algorithm>

namespace berth::control {
namespace {

std::int64_t order_of(const cluster::ProjectState& state) { return state.project.order; }

}  // namespace

ProjectChange as_given(model::Project project) {
    return [project = std::move(project)](const model::Project& now, bool) {
        model::Project next = project;
        next.order = now.order;
        return base::Result<model::Project>(std::move(next));
    };
}

base::Status take_project(Transaction& transaction, const std::string& name,
                          const ProjectChange& change, const std::string& actor) {
    const cluster::Cluster& cluster = transaction.state().cluster;
    const auto known = cluster.find_project(name);
    const bool is_new = !known.is_valid();
    model::Project now;
    if (is_new) {
        now.name = name;
        now.order = std::ranges::max(cluster.projects(), {}, order_of).project.order + 1;
    } else {
        now = cluster.projects()[known.index()].project;
    }
    BERTH_TRY(next, change(now, is_new));
    if (!is_new && next == now) return {};
    return transaction.record(model::ProjectSet{std::move(next)}, actor);
}

}  // namespace berth::control
