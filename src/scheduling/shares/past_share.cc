// SPDX-License-Identifier: Apache-2.0
#include "scheduling/shares/past_share.h"

#include <algorithm>
#include <utility>

namespace berth::scheduling {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kMillion = 1'000'000;

// When the pool was first used; `now` when it never was.
model::TimePoint beginning(const cluster::PoolHistory& pool, model::TimePoint now) {
    model::TimePoint first = now;
    for (const cluster::PastUse& use : pool.past_use) {
        if (use != cluster::PastUse{}) first = std::min(first, use.began);
    }
    return first;
}

}  // namespace

std::vector<std::int64_t> past_shares(const cluster::Cluster& cluster, base::PoolId id,
                                      const model::Policy& policy, model::TimePoint now,
                                      std::vector<std::int64_t> memory) {
    const cluster::PoolState& pool = cluster.pool(id);
    memory.clear();
    if (!policy.measured_usage) {
        for (const cluster::Claim& claim : pool.claims) memory.push_back(claim.rights.usage_ppm);
        return memory;
    }
    const cluster::PoolHistory& history = cluster.history().pools[id.index()];
    std::vector<std::int64_t> gpu_ms = std::move(memory);
    gpu_ms.resize(cluster.projects().size());
    for (std::size_t leaf = 0; leaf < history.past_use.size(); ++leaf) {
        const std::int64_t had = history.past_use[leaf].decayed(now, policy.usage_half_life);
        base::ProjectId at{static_cast<base::ProjectId::Rep>(leaf)};
        for (; at.is_valid(); at = cluster.projects()[at.index()].parent) gpu_ms[at.index()] += had;
    }
    const std::int64_t time =
        cluster::decayed_time(beginning(history, now), now, policy.usage_half_life);
    const Wide could_have = Wide{time} * pool.capacity.value;  // in thousandths
    for (std::int64_t& usage : gpu_ms) {
        const Wide part = could_have == 0 ? 0 : Wide{usage} * 1000 * kMillion / could_have;
        usage = static_cast<std::int64_t>(std::min<Wide>(part, kMillion));
    }
    return gpu_ms;
}

}  // namespace berth::scheduling
