// SPDX-License-Identifier: Apache-2.0
#include "scheduling/shares/overcommitment.h"

#include <algorithm>

#include "base/small_vector.h"

namespace berth::scheduling {
namespace {

__extension__ using Wide = __int128;

struct ScaledQuota {
    ProjectId project;
    int priority = 100;
    MilliGpu quota{0};      // as written, but no more than there is when it has no bound
    MilliGpu in_force{0};
    Wide remainder = 0;     // of its part, in units of 1 / sum
};

// Those directly below one parent.
using ScaledQuotas = base::SmallVector<ScaledQuota, 64>;

MilliGpu sum_of(const ScaledQuotas& quotas) {
    MilliGpu sum{0};
    for (const ScaledQuota& quota : quotas) sum += quota.quota;
    return sum;
}

// Quotas from oldest to youngest, of `there` GPUs.
void scale(ScaledQuotas& quotas, MilliGpu there) {
    const MilliGpu sum = sum_of(quotas);
    MilliGpu rest = there;
    for (ScaledQuota& quota : quotas) {
        quota.in_force = quota.quota;
        if (sum <= there) continue;
        const Wide part = Wide{quota.quota.value} * there.value;  // over sum
        quota.in_force = {static_cast<std::int64_t>(part / sum.value) / 1000 * 1000};
        quota.remainder = part - Wide{quota.in_force.value} * sum.value;
        rest -= quota.in_force;
    }
    if (sum <= there) return;
    std::vector<ScaledQuota*> next_to_get;
    for (ScaledQuota& quota : quotas) next_to_get.push_back(&quota);
    std::ranges::stable_sort(next_to_get, std::greater{}, [](const ScaledQuota* quota) {
        return std::pair(quota->priority, quota->remainder);
    });
    // A second round only where quotas are parts of a GPU.
    while (rest > MilliGpu{0}) {
        for (ScaledQuota* quota : next_to_get) {
            const MilliGpu extra =
                std::min({base::kWholeGpu, rest, quota->quota - quota->in_force});
            quota->in_force += extra;
            rest -= extra;
        }
    }
}

class Tree {
  public:
    Tree(const cluster::Cluster& cluster, PoolId pool, Quotas& quotas)
        : cluster_(cluster), pool_(pool), quotas_(quotas) {
        quotas_.in_force.resize(cluster.projects().size());
        quotas_.in_force[cluster::kRoot.index()] = model::kUnlimited;
        go_below(cluster::kRoot, cluster.pool(pool).counted_capacity);
    }

  private:
    void go_below(ProjectId parent, MilliGpu there) {
        ScaledQuotas fixed;
        ScaledQuotas elastic;
        for (const ProjectId child : cluster_.projects()[parent.index()].children) {
            const cluster::Claim& claim = cluster_.claim(pool_, child);
            const bool is_fixed = claim.rights.kind == model::QuotaKind::Fixed;
            const bool no_bound = claim.quota >= model::kUnlimited;
            (is_fixed ? fixed : elastic)
                .push_back({child, claim.rights.priority, no_bound ? there : claim.quota, {}, 0});
        }
        const MilliGpu sum = sum_of(fixed) + sum_of(elastic);
        const bool has_nodes = cluster_.pool(pool_).gpus_per_node_max > 0;
        if (sum > there && has_nodes) {
            const std::string scope = cluster_.projects()[parent.index()].project.name;
            quotas_.scaled.push_back({cluster_.pool(pool_).name, scope, sum, there});
        }
        scale(fixed, there);
        for (const ScaledQuota& quota : fixed) there -= quota.in_force;
        scale(elastic, there);
        for (const auto* quotas : {&fixed, &elastic}) {
            for (const ScaledQuota& quota : *quotas) {
                const MilliGpu written = cluster_.claim(pool_, quota.project).quota;
                const bool is_whole = quota.in_force == quota.quota;
                quotas_.in_force[quota.project.index()] = is_whole ? written : quota.in_force;
                go_below(quota.project, quota.in_force);
            }
        }
    }

    const cluster::Cluster& cluster_;
    PoolId pool_;
    Quotas& quotas_;
};

}  // namespace

Quotas quotas_in_force(const cluster::Cluster& cluster, PoolId pool, const model::Policy& policy,
                       Quotas memory) {
    memory.in_force.clear();
    memory.scaled.clear();
    if (policy.scale_overcommitted) {
        Tree(cluster, pool, memory);
    } else {
        for (const cluster::Claim& claim : cluster.pool(pool).claims) {
            memory.in_force.push_back(claim.quota);
        }
    }
    return memory;
}

std::vector<model::Overcommitment> overcommitments(const cluster::Cluster& cluster) {
    std::vector<model::Overcommitment> all;
    for (std::size_t i = 0; i < cluster.pools().size(); ++i) {
        Quotas quotas;
        Tree(cluster, {static_cast<PoolId::Rep>(i)}, quotas);
        all.insert(all.end(), quotas.scaled.begin(), quotas.scaled.end());
    }
    return all;
}

std::string overcommitment_text(const model::Overcommitment& found) {
    const std::string where = found.scope.empty()
                                  ? "in pool " + found.pool
                                  : "below " + found.scope + " in pool " + found.pool;
    return "the quotas " + where + " sum to " + base::format_gpus(found.quotas) + ", " +
           base::format(found.capacity) + (found.capacity == base::kWholeGpu ? " is" : " are") +
           " there";
}

}  // namespace berth::scheduling
