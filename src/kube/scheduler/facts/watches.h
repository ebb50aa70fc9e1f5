// SPDX-License-Identifier: Apache-2.0
//
// What does the scheduler see of the server? Caches of nodes, pods, workloads, namespaces,
// disruption budgets and of what people declared, each kept by a list and a watch. Handlers get
// changes as they come; until all are synced nothing should be decided by them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/client/caches/cache.h"
#include "kube/client/caches/reflector.h"
#include "kube/objects/declared.h"
#include "kube/objects/disruption_budget.h"
#include "kube/objects/node.h"
#include "kube/objects/workload.h"

namespace berth::kube::scheduler {

struct Namespace {
    objects::Meta meta;
};

// Called with each change; null before: it is new, null now: it is gone.
struct ChangeHandlers {
    template <typename Object>
    using Change = std::function<void(const Object* before, const Object* now)>;

    Change<objects::Node> node;
    Change<objects::Pod> pod;
    Change<objects::Workload> workload;
    Change<Namespace> name_space;
    Change<objects::DisruptionBudget> budget;
    Change<objects::DeclaredProject> project;
    Change<objects::DeclaredPool> pool;
    Change<objects::DeclaredPolicy> policy;
};

class Watches {
  public:
    Watches(client::Requests& requests, client::Timers& timers, ChangeHandlers handlers,
            std::uint64_t seed);

    void start();
    bool are_synced() const;
    bool are_stale() const;
    // What goes wrong at the moment, empty when nothing does.
    std::string trouble() const;
    // Of all of them together.
    client::Reflector::Counts counts() const;

  private:
    objects::NodePools node_pools_;
    objects::PodPools pod_pools_;
    objects::MetaPools words_;  // of namespaces, budgets and declarations
    client::Cache<objects::Node> nodes_;
    client::Cache<objects::Pod> pods_;
    std::vector<std::unique_ptr<client::Cache<objects::Workload>>> workloads_;  // by kind
    client::Cache<Namespace> namespaces_;
    client::Cache<objects::DisruptionBudget> budgets_;
    client::Cache<objects::DeclaredProject> projects_;
    client::Cache<objects::DeclaredPool> pools_;
    client::Cache<objects::DeclaredPolicy> policies_;
    std::vector<std::unique_ptr<client::Reflector>> reflectors_;
};

}  // namespace berth::kube::scheduler
