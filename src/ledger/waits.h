// SPDX-License-Identifier: Apache-2.0
//
// What does the smallest job ask that waits in a pool? Kept with each event, so that GPUs that stay
// free beside it can be said to be too few, or kept from it. Cost: O(log waiting jobs), and for a
// question O(asks of unlike size or project) where limits keep those with the smallest from more.
#pragma once

#include <map>

#include "base/ids.h"
#include "base/paged_map.h"
#include "base/quantity.h"
#include "base/small_vector.h"

namespace berth::ledger {

struct Ask {
    base::PoolId pool;
    base::MilliGpu gpus{0};  // in all, to make its next step
    int together = 0;  // whole GPUs of one node
    base::ProjectId project;

    auto operator<=>(const Ask&) const = default;
};
using Asks = base::SmallVector<Ask, 1>;

class Waits {
  public:
    // In each pool in whose line it stands; none: it waits no more.
    void set(base::JobId job, const Asks& asks) {
        Asks* known = asks_.get(job);
        if (known == nullptr ? asks.empty() : *known == asks) return;
        if (known != nullptr) {
            for (const Ask& ask : *known) {
                const auto found = counts_.find(ask);
                if (--found->second == 0) counts_.erase(found);
            }
            asks_.erase(job);
        }
        if (asks.empty()) return;
        for (const Ask& ask : asks) ++counts_[ask];
        asks_.emplace(job, asks);
    }
    bool has_any(base::PoolId pool) const {
        return smallest(pool, [](const Ask&) { return true; }) != nullptr;
    }
    // Of those that may have what they ask. Null: no such job waits there.
    const Ask* smallest(base::PoolId pool, const auto& may_have) const {
        for (auto at = counts_.lower_bound({pool, {}, 0, {}});
             at != counts_.end() && at->first.pool == pool; ++at) {
            if (may_have(at->first)) return &at->first;
        }
        return nullptr;
    }

  private:
    base::PagedMap<base::JobId, Asks> asks_;
    std::map<Ask, int> counts_;
};

}  // namespace berth::ledger
