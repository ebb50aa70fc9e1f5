// SPDX-License-Identifier: Apache-2.0
#include "scheduling/shares/overcommitment.h"

#include <algorithm>

#include "base/small_vector.h"

namespace berth::scheduling {
namespace {

__extension__ using Wide = __int128;

struct Promise {
    ProjectId project;
    int priority = 100;
    MilliGpu quota{0};      // as written, but no more than there is when it has no bound
    MilliGpu in_force{0};
    Wide remainder = 0;     // of its part, in units of 1 / sum
};

// Those directly below one parent.
using Promises = base::SmallVector<Promise, 64>;

MilliGpu sum_of(const Promises& promises) {
    MilliGpu sum{0};
    for (const Promise& promise : promises) sum += promise.quota;
    return sum;
}

// Promises from oldest to youngest, of `there` GPUs.
void scale(Promises& promises, MilliGpu there) {
    const MilliGpu sum = sum_of(promises);
    MilliGpu rest = there;
    for (Promise& promise : promises) {
        promise.in_force = promise.quota;
        if (sum <= there) continue;
        const Wide part = Wide{promise.quota.value} * there.value;  // over sum
        promise.in_force = {static_cast<std::int64_t>(part / sum.value) / 1000 * 1000};
        promise.remainder = part - Wide{promise.in_force.value} * sum.value;
        rest -= promise.in_force;
    }
    if (sum <= there) return;
    std::vector<Promise*> next_to_get;
    for (Promise& promise : promises) next_to_get.push_back(&promise);
    std::ranges::stable_sort(next_to_get, std::greater{}, [](const Promise* promise) {
        return std::pair(promise->priority, promise->remainder);
    });
    // A second round only where quotas are parts of a GPU.
    while (rest > MilliGpu{0}) {
        for (Promise* promise : next_to_get) {
            const MilliGpu extra =
                std::min({base::kWholeGpu, rest, promise->quota - promise->in_force});
            promise->in_force += extra;
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
        Promises fixed;
        Promises others;
        for (const ProjectId child : cluster_.projects()[parent.index()].children) {
            const cluster::Claim& claim = cluster_.claim(pool_, child);
            const bool is_fixed = claim.rights.kind == model::QuotaKind::Fixed;
            const bool no_bound = claim.quota >= model::kUnlimited;
            (is_fixed ? fixed : others)
                .push_back({child, claim.rights.priority, no_bound ? there : claim.quota, {}, 0});
        }
        const MilliGpu sum = sum_of(fixed) + sum_of(others);
        const bool has_nodes = cluster_.pool(pool_).gpus_per_node_max > 0;
        if (sum > there && has_nodes) {
            const std::string scope = cluster_.projects()[parent.index()].project.name;
            quotas_.scaled.push_back({cluster_.pool(pool_).name, scope, sum, there});
        }
        scale(fixed, there);
        for (const Promise& promise : fixed) there -= promise.in_force;
        scale(others, there);
        for (const auto* promises : {&fixed, &others}) {
            for (const Promise& promise : *promises) {
                const MilliGpu written = cluster_.claim(pool_, promise.project).quota;
                const bool is_whole = promise.in_force == promise.quota;
                quotas_.in_force[promise.project.index()] = is_whole ? written : promise.in_force;
                go_below(promise.project, promise.in_force);
            }
        }
    }

    const cluster::Cluster& cluster_;
    PoolId pool_;
    Quotas& quotas_;
};

}  // namespace

Quotas quotas_in_force(const cluster::Cluster& cluster, PoolId pool, const model::Policy& policy,
                       Quotas room) {
    room.in_force.clear();
    room.scaled.clear();
    if (policy.scale_overcommitted) {
        Tree(cluster, pool, room);
    } else {
        for (const cluster::Claim& claim : cluster.pool(pool).claims) {
            room.in_force.push_back(claim.quota);
        }
    }
    return room;
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
