// SPDX-License-Identifier: Apache-2.0
//
// What is each project entitled to now? Rule R1: every tree node first gets what it wants of its
// quota; what is left is offered to those who want more, higher priority first, in proportion to
// weight; a child level divides its parent's share. Whole GPUs; the odd ones go to the largest
// remainder, then the older project, then the name.
//
// A fixed quota is set aside whole, used or not. Quotas that sum to more than there is count for
// what overcommitment.h leaves of them. `usage_weight` (k) leans against past use: the weight of a
// claimant with normal weight n and usage u counts as max(0, n + k (n - u)); past_share.h says
// where u comes from.
//
// Trusts: claims resolved by the cluster. Cost: O(projects x rounds); rounds <= projects.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "cluster/cluster.h"
#include "model/policy/policy.h"

namespace berth::scheduling {

using base::MilliGpu;
using base::PoolId;
using base::ProjectId;

struct Claimant {
    MilliGpu quota{0};
    MilliGpu limit = model::kUnlimited;
    MilliGpu request{0};           // held and wanted
    std::int64_t weight = 1000;    // thousandths
    int priority = 100;
    std::int64_t usage_ppm = 0;
    bool is_fixed = false;
};

// A division written down, for share_account.h: what each step gave to whom.
struct Division {
    enum class What { Quota, Offer, Odd };
    struct Step {
        What what = What::Quota;
        std::size_t who = 0;  // position among the claimants
        MilliGpu taken{0};
        int round = 0;  // of offers at one priority, from 1
        MilliGpu left{0};  // when the round began
        std::int64_t part_ppm = 0;  // of what was left
        MilliGpu offered{0};
    };
    MilliGpu total{0};
    std::vector<Claimant> claimants;
    std::vector<Step> steps;
};
using Divisions = std::map<ProjectId, Division>;  // by parent

// Divides `total` between siblings given from oldest to youngest; the answer is in their order.
// The steps go to `steps` when it is not null.
inline constexpr std::size_t kSiblings = 64;  // more of them need memory of their own
using Parts = base::SmallVector<MilliGpu, kSiblings>;
Parts divide(MilliGpu total, std::span<const Claimant> siblings, std::int64_t usage_weight,
             std::vector<Division::Step>* steps = nullptr);

// By project.
struct Shares {
    std::vector<MilliGpu> fair;
    std::vector<MilliGpu> allocatable;  // min(limit, max(quota, fair))
    std::vector<MilliGpu> quota;        // what it is worth now (overcommitment.h)
    std::vector<model::Overcommitment> overcommitted;  // why some are worth less than written
    std::vector<MilliGpu> request;  // what it holds and wants; a fixed quota at least
    std::vector<std::int64_t> usage_ppm;  // past_share.h
};

// `now` tells how long ago past use lies, where the policy measures it. Every division on the way
// goes to `divisions` when it is not null. The memory of `room` is used again.
Shares fair_shares(const cluster::Cluster& cluster, PoolId pool, const model::Policy& policy,
                   model::TimePoint now, Divisions* divisions = nullptr, Shares memory = {});

}  // namespace berth::scheduling
