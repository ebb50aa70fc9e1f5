// SPDX-License-Identifier: Apache-2.0
//
// Whether what an event brings is small enough to be looked at (model/limits.h), and whether the
// cluster can take one more of its kind.
#include "model/limits.h"

#include "lifecycle/check.h"

namespace berth::lifecycle {
namespace {

using base::Status;

class Limits {
  public:
    explicit Limits(const State& state) : cluster_(state.cluster) {}

    Status operator()(const model::LevelsSet& set) const { return model::check_limits(set.levels); }
    Status operator()(const model::PoolSet& set) const {
        BERTH_TRY_VOID(model::check_limits(set.pool));
        if (cluster_.find_pool(set.pool.name).is_valid()) return {};
        return one_more("pools", cluster_.pools().size(), model::kPoolsMax);
    }
    Status operator()(const model::NodeSet& set) const {
        BERTH_TRY_VOID(model::check_limits(set.node));
        if (cluster_.find_node(set.node.name).is_valid()) return {};
        return one_more("nodes", cluster_.nodes().size(), model::kNodesMax);
    }
    Status operator()(const model::NodeUsedByOthers& used) const {
        return model::check_limits(used.use);
    }
    Status operator()(const model::ProjectSet& set) const {
        BERTH_TRY_VOID(model::check_limits(set.project));
        if (cluster_.find_project(set.project.name).is_valid()) return {};
        // The root is one that no user made.
        BERTH_TRY_VOID(one_more("projects", cluster_.projects().size() - 1, model::kProjectsMax));
        int levels = 1;
        base::ProjectId at = cluster_.find_project(set.project.parent);
        for (; at.is_valid() && at != cluster::kRoot; ++levels) {
            at = cluster_.projects()[at.index()].parent;
        }
        if (levels <= model::kProjectLevelsMax) return {};
        return base::invalid("project \"" + set.project.name + "\": wanted at most " +
                             std::to_string(model::kProjectLevelsMax) +
                             " projects above each other");
    }
    Status operator()(const model::JobSubmitted& submitted) const {
        return model::check_limits(submitted.spec);
    }
    Status operator()(const model::JobMeasured& measured) const {
        return model::check_limits(measured.profile);
    }
    // The others come from the machine, the scheduler, or name what is there.
    Status operator()(const auto&) const { return {}; }

  private:
    static Status one_more(std::string_view what, std::size_t there, std::size_t most) {
        if (there < most) return {};
        return base::invalid(std::string(what) + ": wanted at most " + std::to_string(most) +
                             ", removed ones included; use one of those that are there");
    }

    const cluster::Cluster& cluster_;
};

}  // namespace

Status check_limits(const State& state, const model::EventBody& event) {
    return std::visit(Limits(state), event);
}

}  // namespace berth::lifecycle
