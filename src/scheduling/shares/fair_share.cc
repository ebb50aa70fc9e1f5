// SPDX-License-Identifier: Apache-2.0
#include "scheduling/shares/fair_share.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduling/shares/overcommitment.h"
#include "scheduling/shares/past_share.h"

namespace berth::scheduling {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kPpm = 1'000'000;
constexpr std::int64_t kRemainderScale = INT64_C(1) << 30;

// One that needs more than its quota.
struct Open {
    std::size_t who;
    int priority = 0;
    MilliGpu need{0};  // still
    std::int64_t remainder = 0;  // of the last offer, in 2^-30 milli-GPU
    bool has_remainder = false;
};

// The weight of a claimant as R1 bends it by past use, scaled to an integer.
Wide bent_weight(const Claimant& claimant, Wide weight_sum, std::int64_t usage_weight) {
    const Wide normal = Wide{claimant.weight} * kPpm;
    const Wide lean = usage_weight * (normal - claimant.usage_ppm * weight_sum);
    return std::max<Wide>(0, normal * 1000 + lean);
}

// Writes a step down when the account is asked for.
class ShareTrace {
  public:
    explicit ShareTrace(std::vector<Division::Step>* steps) : steps_(steps) {}

    void begin_round(int round) { round_ = round; }
    void operator()(Division::Step step) const {
        if (steps_ == nullptr) return;
        step.round = step.what == Division::What::Offer ? round_ : 0;
        steps_->push_back(step);
    }

  private:
    std::vector<Division::Step>* steps_;
    int round_ = 0;
};

// One round of offers at one priority. Returns whether anyone needed less than was offered.
bool offer_round(std::span<const Claimant> siblings, std::span<Open> open,
                 std::int64_t usage_weight, MilliGpu& rest, std::span<MilliGpu> fair,
                 const ShareTrace& report) {
    Wide weight_sum = 0;
    for (const Open& sibling : open) {
        if (sibling.need > MilliGpu{0}) weight_sum += siblings[sibling.who].weight;
    }
    const auto weight_of = [&](const Open& sibling) {
        if (sibling.need == MilliGpu{0}) return Wide{0};
        return bent_weight(siblings[sibling.who], weight_sum, usage_weight);
    };
    Wide bent_sum = 0;
    for (const Open& sibling : open) bent_sum += weight_of(sibling);
    if (bent_sum == 0) return false;
    const MilliGpu at_start = rest;
    bool someone_needed_less = false;
    for (Open& sibling : open) {
        if (sibling.need == MilliGpu{0}) continue;
        const Wide weight = weight_of(sibling);
        const Wide offered = Wide{at_start.value} * weight;
        const bool is_enough = Wide{sibling.need.value} * bent_sum <= offered;
        const MilliGpu whole{static_cast<std::int64_t>(offered / bent_sum) / 1000 * 1000};
        const MilliGpu taken = is_enough ? sibling.need : whole;
        someone_needed_less |= is_enough && Wide{sibling.need.value} * bent_sum < offered;
        sibling.has_remainder = !is_enough && weight > 0;
        sibling.remainder = static_cast<std::int64_t>((offered - Wide{whole.value} * bent_sum) *
                                                      kRemainderScale / bent_sum);
        sibling.need -= taken;
        fair[sibling.who] += taken;
        rest -= taken;
        report({Division::What::Offer,
                sibling.who,
                taken,
                0,
                at_start,
                static_cast<std::int64_t>(weight * kPpm / bent_sum),
                {static_cast<std::int64_t>(offered / bent_sum)}});
    }
    return someone_needed_less;
}

}  // namespace

Parts divide(MilliGpu total, std::span<const Claimant> siblings, std::int64_t usage_weight,
             std::vector<Division::Step>* steps) {
    ShareTrace report(steps);
    Parts fair;
    base::SmallVector<Open, kSiblings> open;
    MilliGpu rest = total;
    for (std::size_t who = 0; who < siblings.size(); ++who) {
        const Claimant& claimant = siblings[who];
        const MilliGpu requestable = std::min(claimant.limit, claimant.request);
        const MilliGpu quota = std::min(claimant.quota, std::max(total, MilliGpu{0}));
        const bool is_unlimited = claimant.quota >= model::kUnlimited;
        const MilliGpu deserved = is_unlimited ? quota : claimant.quota;
        fair.push_back(claimant.is_fixed ? deserved : std::min(deserved, requestable));
        rest -= fair.back();
        report({Division::What::Quota, who, fair.back(), 0, {}, 0, {}});
        const MilliGpu need = requestable - fair.back();
        if (need > MilliGpu{0} && claimant.weight > 0 && !claimant.is_fixed) {
            open.push_back({who, claimant.priority, need});
        }
    }
    std::ranges::sort(
        open, {}, [](const Open& sibling) { return std::pair(-sibling.priority, sibling.who); });
    for (auto first = open.begin(); first != open.end();) {
        const auto last = std::ranges::find_if(first, open.end(), [&](const Open& sibling) {
            return sibling.priority != first->priority;
        });
        for (int round = 1; rest > MilliGpu{0}; ++round) {
            report.begin_round(round);
            if (!offer_round(siblings, std::span(first, last), usage_weight, rest, fair, report))
                break;
        }
        first = last;
    }
    std::ranges::sort(open, {}, [](const Open& sibling) {
        return std::tuple(-sibling.priority, -sibling.remainder, sibling.who);
    });
    for (const Open& sibling : open) {
        if (rest <= MilliGpu{0}) break;
        if (!sibling.has_remainder) continue;
        const MilliGpu extra = std::min({base::kWholeGpu, rest, sibling.need});
        fair[sibling.who] += extra;
        rest -= extra;
        report({Division::What::Odd, sibling.who, extra, 0, {}, 0, {}});
    }
    return fair;
}

namespace {

// What the subtree holds and wants; a fixed quota counts whole, because it is set aside whole.
MilliGpu effective_request(const cluster::Cluster& cluster, PoolId pool, ProjectId project,
                           Shares& shares) {
    const cluster::Claim& claim = cluster.claim(pool, project);
    MilliGpu total = claim.usage.allocated + claim.usage.pending;
    const auto& children = cluster.projects()[project.index()].children;
    if (!children.empty()) {
        total = {0};
        for (const ProjectId child : children) {
            total += effective_request(cluster, pool, child, shares);
        }
    }
    const bool is_fixed = claim.rights.kind == model::QuotaKind::Fixed;
    const MilliGpu quota = shares.quota[project.index()];
    return shares.request[project.index()] = is_fixed ? std::max(total, quota) : total;
}

void divide_below(const cluster::Cluster& cluster, PoolId pool, ProjectId parent,
                  std::int64_t usage_weight, Shares& shares, Divisions* divisions) {
    const auto& children = cluster.projects()[parent.index()].children;
    if (children.empty()) return;
    base::SmallVector<Claimant, kSiblings> siblings;
    for (const ProjectId child : children) {
        const cluster::Claim& claim = cluster.claim(pool, child);
        siblings.push_back({shares.quota[child.index()], claim.limit, shares.request[child.index()],
                            claim.rights.weight, claim.rights.priority,
                            shares.usage_ppm[child.index()],
                            claim.rights.kind == model::QuotaKind::Fixed});
    }
    Division* division = divisions == nullptr ? nullptr : &(*divisions)[parent];
    const auto fair = divide(shares.fair[parent.index()], siblings, usage_weight,
                             division == nullptr ? nullptr : &division->steps);
    if (division != nullptr) {
        division->total = shares.fair[parent.index()];
        division->claimants.assign(siblings.begin(), siblings.end());
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
        const cluster::Claim& claim = cluster.claim(pool, children[i]);
        shares.fair[children[i].index()] = fair[i];
        shares.allocatable[children[i].index()] =
            std::min(claim.limit, std::max(shares.quota[children[i].index()], fair[i]));
        divide_below(cluster, pool, children[i], usage_weight, shares, divisions);
    }
}

}  // namespace

Shares fair_shares(const cluster::Cluster& cluster, PoolId pool, const model::Policy& policy,
                   model::TimePoint now, Divisions* divisions, Shares memory) {
    Shares shares = std::move(memory);
    Quotas quotas = quotas_in_force(cluster, pool, policy,
                                    {std::move(shares.quota), std::move(shares.overcommitted)});
    shares.quota = std::move(quotas.in_force);
    shares.overcommitted = std::move(quotas.scaled);
    shares.usage_ppm = past_shares(cluster, pool, policy, now, std::move(shares.usage_ppm));
    for (auto* amounts : {&shares.fair, &shares.allocatable, &shares.request}) {
        amounts->resize(cluster.projects().size());
    }
    effective_request(cluster, pool, cluster::kRoot, shares);
    shares.fair[0] = shares.allocatable[0] = cluster.pool(pool).counted_capacity;
    divide_below(cluster, pool, cluster::kRoot, policy.usage_weight, shares, divisions);
    return shares;
}

}  // namespace berth::scheduling
