// SPDX-License-Identifier: Apache-2.0
#include "scheduling/shares/share_account.h"

#include <algorithm>

namespace berth::scheduling {
namespace {

model::ShareLevel level_of(const cluster::Cluster& cluster, const Division& division,
                           ProjectId parent) {
    const auto& children = cluster.projects()[parent.index()].children;
    model::ShareLevel level;
    level.parent = cluster.projects()[parent.index()].project.name;
    level.total = level.surplus = division.total;
    for (std::size_t i = 0; i < children.size(); ++i) {
        const Claimant& claimant = division.claimants[i];
        model::ShareRow row;
        row.project = cluster.projects()[children[i].index()].project.name;
        row.quota = claimant.quota;
        row.limit = claimant.limit;
        row.wants = claimant.request;
        row.weight = claimant.weight;
        row.priority = claimant.priority;
        level.rows.push_back(std::move(row));
    }
    for (const Division::Step& step : division.steps) {
        model::ShareRow& row = level.rows[step.who];
        row.fair += step.taken;
        switch (step.what) {
            case Division::What::Quota:
                row.from_quota += step.taken;
                level.surplus -= step.taken;
                break;
            case Division::What::Offer:
                row.from_surplus += step.taken;
                level.offers.push_back({row.priority, step.round, row.project, step.left,
                                        step.part_ppm, step.offered, step.taken});
                break;
            case Division::What::Odd: row.odd += step.taken; break;
        }
    }
    return level;
}

}  // namespace

model::ShareAccount account_of(const cluster::Cluster& cluster, const model::Policy& policy,
                               model::TimePoint now, PoolId pool, ProjectId project) {
    Divisions divisions;
    const Shares shares = fair_shares(cluster, pool, policy, now, &divisions);
    model::ShareAccount account;
    account.project = cluster.projects()[project.index()].project.name;
    account.pool = cluster.pool(pool).name;
    account.fair = shares.fair[project.index()];
    for (ProjectId at = project; at != cluster::kRoot;) {
        at = cluster.projects()[at.index()].parent;
        account.levels.push_back(level_of(cluster, divisions.at(at), at));
    }
    std::ranges::reverse(account.levels);
    return account;
}

}  // namespace berth::scheduling
