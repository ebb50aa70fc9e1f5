// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/facts/watches.h"

#include <algorithm>
#include <utility>

namespace berth::kube::scheduler {
namespace {

// What has ended holds nothing; its end comes as a deletion from this selection.
constexpr const char* kNotOver =
    "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

}  // namespace

Watches::Watches(client::Requests& requests, client::Timers& timers, ChangeHandlers handlers,
                 std::uint64_t seed)
    : nodes_([this](codec::JsonReader& reader) { return read_node(reader, node_pools_); },
             std::move(handlers.node)),
      pods_([this](codec::JsonReader& reader) { return read_pod(reader, pod_pools_); },
            std::move(handlers.pod)),
      namespaces_(
          [this](codec::JsonReader& reader) { return Namespace{read_object_meta(reader, words_)}; },
          std::move(handlers.name_space)),
      budgets_([this](codec::JsonReader& reader) { return read_disruption_budget(reader, words_); },
               std::move(handlers.budget)),
      projects_([this](codec::JsonReader& reader) { return read_project(reader, words_); },
                std::move(handlers.project)),
      pools_([this](codec::JsonReader& reader) { return read_pool(reader, words_); },
             std::move(handlers.pool)),
      policies_([this](codec::JsonReader& reader) { return read_policy(reader, words_); },
                std::move(handlers.policy)) {
    base::Rng dice(seed);
    const auto watch = [&](client::Resource resource, client::Shelf& shelf) {
        reflectors_.push_back(std::make_unique<client::Reflector>(
            requests, timers, std::move(resource), shelf, dice.next()));
    };
    watch({"/apis/berth.dev/v1alpha1/projects"}, projects_);
    watch({"/apis/berth.dev/v1alpha1/pools"}, pools_);
    watch({"/apis/berth.dev/v1alpha1/policies"}, policies_);
    watch({"/api/v1/nodes"}, nodes_);
    watch({"/api/v1/namespaces"}, namespaces_);
    watch({"/apis/policy/v1/poddisruptionbudgets"}, budgets_);
    for (const objects::WorkloadTraits& kind : objects::kWorkloads) {
        workloads_.push_back(std::make_unique<client::Cache<objects::Workload>>(
            [this, kind = kind.kind](codec::JsonReader& reader) {
                return objects::read_workload(kind, reader, pod_pools_);
            },
            handlers.workload));
        watch({.path = objects::list_path(kind),
               .may_be_missing = kind.kind != objects::WorkloadKind::Job},
              *workloads_.back());
    }
    watch({.path = "/api/v1/pods", .selection = kNotOver}, pods_);
}

void Watches::start() {
    for (const auto& reflector : reflectors_) reflector->start();
}

bool Watches::are_synced() const {
    return std::ranges::all_of(reflectors_, [](const auto& each) { return each->is_synced(); });
}

bool Watches::are_stale() const {
    return std::ranges::any_of(reflectors_, [](const auto& each) { return each->is_stale(); });
}

std::string Watches::trouble() const {
    for (const auto& reflector : reflectors_) {
        if (!reflector->trouble().empty()) return reflector->trouble();
    }
    return {};
}

client::Reflector::Counts Watches::counts() const {
    client::Reflector::Counts counts;
    for (const auto& reflector : reflectors_) counts.add(reflector->counts());
    return counts;
}

}  // namespace berth::kube::scheduler
