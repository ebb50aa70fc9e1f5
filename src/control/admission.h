// SPDX-License-Identifier: Apache-2.0
//
// Could this job ever run here? Asked before a submission is accepted: the verdict the job would
// get in the empty cluster, when that verdict cannot change by waiting. With several pools, one
// that could take it is enough.
//
// Guarantee: the cluster is as before, except for the shape of a task that it remembers. Cost: one
// explanation (O(nodes)) for each new kind of request; the same request again costs one look-up
// until nodes, pools or projects change.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "cluster/cluster.h"
#include "model/answer/verdict.h"
#include "model/policy/policy.h"

namespace berth::control {

class Admission {
  public:
    // Trusts: the spec passed lifecycle::check; `id` is not in use.
    std::optional<model::Verdict> refusal(cluster::Cluster& cluster, const model::Policy& policy,
                                          model::TimePoint now, model::JobId id,
                                          const model::JobSpec& spec);
    // Nodes, pools, projects or the policy have changed.
    void forget() { accepted_.clear(); }

  private:
    std::unordered_set<std::string> accepted_;
    std::string key_;
};

}  // namespace berth::control
