// SPDX-License-Identifier: Apache-2.0
//
// Which gangs may not be paused, because a PodDisruptionBudget selects a pod of theirs? Any of its
// pods that is not over counts; of a gang without pods, as a paused one, what its workload's
// templates say of them.
//
// Budgets are those of a cache, which outlives this; each change of it is taken once.
// Ties: of several budgets the oldest is named, then the one of least uid.
#pragma once

#include <map>
#include <string>

#include "kube/cluster/gangs.h"
#include "kube/objects/disruption_budget.h"

namespace berth::kube::cluster {

class Budgets {
  public:
    // Null before: it is new. Null now: it is gone. True when another choice of its namespace's
    // gangs may be protected now.
    bool take(const objects::DisruptionBudget* before, const objects::DisruptionBudget* now);

    // Null: none protects it.
    const objects::DisruptionBudget* protector_of(const Gang& gang) const;
    bool protects(const Gang& gang) const { return protector_of(gang) != nullptr; }

  private:
    using InNamespace = std::map<Uid, const objects::DisruptionBudget*>;

    std::map<std::string, InNamespace, std::less<>> budgets_;
};

}  // namespace berth::kube::cluster
