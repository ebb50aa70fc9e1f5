// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/reclaim.h"

#include <algorithm>

#include "cluster/gang.h"
#include "scheduling/rights/victim_terms.h"

namespace berth::scheduling {
namespace {

__extension__ using Wide = __int128;

// One node of the tree on the asking side, as it would stand with so much more.
class Asking {
  public:
    Asking(const PoolView& view, ProjectId at, MilliGpu amount)
        : view_(view),
          gained_(view.allocated(at) + amount),
          fair_(view.shares.fair[at.index()]),
          is_within_quota_(gained_ <= view.quota(at)) {}

    // A sibling must hold more than this to lose anything.
    MilliGpu protected_amount_of(ProjectId sibling) const {
        const MilliGpu protected_amount = view_.shares.allocatable[sibling.index()];
        return is_within_quota_ ? std::min(protected_amount, view_.quota(sibling))
                                : protected_amount;
    }

    // The most that a sibling may lose: what it keeps stays more, relatively, unless the side that
    // gains stays within its fair share.
    MilliGpu reclaimable_from(ProjectId sibling) const {
        const MilliGpu allocated = view_.allocated(sibling);
        const MilliGpu sibling_fair = view_.shares.fair[sibling.index()];
        if (gained_ <= fair_ || sibling_fair == MilliGpu{0}) return allocated;
        if (fair_ == MilliGpu{0}) return {0};
        const Wide least_left = Wide{gained_.value} * sibling_fair.value / fair_.value + 1;
        const Wide reclaimable = Wide{allocated.value} - least_left;
        return {reclaimable < 0 ? 0 : static_cast<std::int64_t>(reclaimable)};
    }

  private:
    const PoolView& view_;
    MilliGpu gained_;
    MilliGpu fair_;
    bool is_within_quota_;
};

}  // namespace

bool is_within_quota(const PoolView& view, ProjectId project, MilliGpu amount) {
    for (ProjectId at = project; at != cluster::kRoot; at = view.parent(at)) {
        if (view.allocated(at) + amount > view.quota(at)) return false;
    }
    return true;
}

bool may_reclaim(const PoolView& view, ProjectId project, bool preemptible, MilliGpu amount) {
    if (amount == MilliGpu{0}) return false;
    const cluster::Claim& claim = view.claim(project);
    const MilliGpu counted = view.policy.gang_reclaim ? MilliGpu{1} : amount;
    if (claim.usage.allocated + counted > view.shares.fair[project.index()]) return false;
    return preemptible || claim.usage.not_preemptible + amount <= view.quota(project);
}

bool may_reclaim(const PoolView& view, const cluster::Job& job, MilliGpu amount) {
    if (amount == MilliGpu{0}) return has_host_right(view, job);
    return may_reclaim(view, job.project, job.preemptible, amount);
}

Counting counting_of(const PoolView& view, ShapeId shape) {
    const bool by_memory = view.cluster.shape(shape).request.gpu_memory > model::Bytes{0};
    const bool is_exchanged = !view.cluster.pool(view.pool).exchange.empty();
    return by_memory || is_exchanged ? Counting::AtMost : Counting::Exact;
}

// Whether work without GPUs may be taken for so much more.
bool takes_cpu_only(const PoolView& view, ProjectId project, MilliGpu amount) {
    return view.policy.reclaim_cpu_only && is_within_quota(view, project, amount);
}

bool could_be_freed(const PoolView& view, ProjectId project, MilliGpu amount, Counting counting,
                    MilliGpu reserved) {
    MilliGpu reachable =
        view.cluster.pool(view.pool).free_total[static_cast<std::size_t>(View::Coming)] + reserved;
    const int cpu_only =
        view.cluster.pool(view.pool).cpu_only_victims - view.claim(project).cpu_only_victims;
    if (amount == MilliGpu{0}) return cpu_only > 0;
    if (cpu_only > 0 && reachable >= amount && takes_cpu_only(view, project, amount)) return true;
    for (ProjectId at = project; at != cluster::kRoot; at = view.parent(at)) {
        const Asking asking(view, at, amount);
        for (const ProjectId sibling : view.cluster.projects()[view.parent(at).index()].children) {
            if (sibling == at) continue;
            const cluster::Usage& usage = view.claim(sibling).usage;
            if (usage.allocated <= asking.protected_amount_of(sibling)) continue;
            const MilliGpu reclaimable = asking.reclaimable_from(sibling);
            if (reclaimable <= MilliGpu{0}) continue;
            if (counting == Counting::AtMost) return true;
            reachable += std::min(usage.allocated - usage.not_preemptible, reclaimable);
            if (reachable >= amount) return true;
        }
    }
    return false;
}

ReclaimLedger::ReclaimLedger(const PoolView& view, const Beneficiary& beneficiary)
    : account_of_(view.cluster.projects().size(), kNoAccount) {
    const cluster::Job& job = beneficiary.job;
    const MilliGpu amount = beneficiary.amount;
    const bool has_gpus = amount > MilliGpu{0};
    takes_cpu_only_ = !has_gpus || takes_cpu_only(view, job.project, amount);
    if (takes_cpu_only_ && view.cluster.pool(view.pool).has_host_quota) {
        host_.emplace(view, job.project);
    }
    HostRight right(view, has_gpus
                              ? cluster::HostAsk{}
                              : cluster::stated_together(view.cluster, job, beneficiary.tasks));
    const auto mark_below = [&](auto&& self, ProjectId project, std::uint32_t account) -> void {
        account_of_[project.index()] = account;
        for (const ProjectId child : view.cluster.projects()[project.index()].children) {
            self(self, child, account);
        }
    };
    for (ProjectId at = job.project; at != cluster::kRoot; at = view.parent(at)) {
        if (!has_gpus && !right.reaches_beside(at)) continue;
        const Asking asking(view, at, amount);
        for (const ProjectId sibling : view.cluster.projects()[view.parent(at).index()].children) {
            if (sibling == at) continue;
            SiblingAccount account;
            account.allocated = view.allocated(sibling);
            account.protected_amount = asking.protected_amount_of(sibling);
            if (has_gpus) account.reclaimable = asking.reclaimable_from(sibling);
            mark_below(mark_below, sibling, static_cast<std::uint32_t>(accounts_.size()));
            accounts_.push_back(account);
        }
    }
}

const ReclaimLedger::SiblingAccount* ReclaimLedger::find_account(ProjectId from) const {
    const std::uint32_t account = account_of_[from.index()];
    return account == kNoAccount ? nullptr : &accounts_[account];
}

MilliGpu ReclaimLedger::of_job_with(const UnitSize& unit) const {
    const auto part = std::ranges::find(parts_, unit.part_of, &JobPart::job);
    return part == parts_.end() ? unit.gpus : part->taken + unit.gpus;
}

// With the largest job taken last, every job before it is taken from no less.
bool ReclaimLedger::may_take(ProjectId from, const UnitSize& unit) const {
    const SiblingAccount* account = find_account(from);
    if (account == nullptr) return false;
    if (unit.gpus == MilliGpu{0}) {
        return takes_cpu_only_ && (!host_ || host_->may_take(from, unit.host));
    }
    const MilliGpu largest = std::max(of_job_with(unit), account->largest);
    const MilliGpu taken = account->taken + unit.gpus;
    const MilliGpu before_last = account->allocated - (taken - largest);
    return before_last > account->protected_amount && taken <= account->reclaimable;
}

MilliGpu ReclaimLedger::reclaimable_from(ProjectId from, MilliGpu largest) const {
    const SiblingAccount* account = find_account(from);
    if (account == nullptr || account->allocated <= account->protected_amount) return {0};
    const MilliGpu by_protected =
        account->allocated - account->protected_amount + largest - MilliGpu{1};
    return std::min(by_protected, account->reclaimable);
}

std::optional<std::size_t> ReclaimLedger::account_of(ProjectId project) const {
    if (account_of_.empty() || account_of_[project.index()] == kNoAccount) return {};
    return account_of_[project.index()];
}

ReclaimLedger::Headrooms ReclaimLedger::headrooms() const {
    Headrooms headrooms;
    headrooms.reserve(2 * accounts_.size());
    for (const SiblingAccount& account : accounts_) {
        const MilliGpu above = account.allocated - account.taken - account.protected_amount;
        headrooms.push_back(std::max(above, MilliGpu{0}).value);
        headrooms.push_back((account.reclaimable - account.taken).value);
    }
    if (host_) host_->visit_above([&](std::int64_t above) { headrooms.push_back(above); });
    return headrooms;
}

MilliGpu ReclaimLedger::take_host(ProjectId from, const UnitSize& unit) {
    if (host_) host_->take(from, unit.host);
    return {0};
}

void ReclaimLedger::give_back_host(ProjectId from, const UnitSize& unit) {
    if (host_) host_->give_back(from, unit.host);
}

MilliGpu ReclaimLedger::take(ProjectId from, const UnitSize& unit) {
    if (unit.gpus == MilliGpu{0}) return take_host(from, unit);
    SiblingAccount& account = accounts_[account_of_[from.index()]];
    const MilliGpu largest_before = account.largest;
    const MilliGpu of_job = of_job_with(unit);
    account.taken += unit.gpus;
    account.largest = std::max(account.largest, of_job);
    if (!unit.part_of.is_valid()) return largest_before;
    const auto part = std::ranges::find(parts_, unit.part_of, &JobPart::job);
    if (part == parts_.end()) {
        parts_.push_back({unit.part_of, of_job});
    } else {
        part->taken = of_job;
    }
    return largest_before;
}

void ReclaimLedger::give_back(ProjectId from, const UnitSize& unit, MilliGpu largest_before) {
    if (unit.gpus == MilliGpu{0}) return give_back_host(from, unit);
    SiblingAccount& account = accounts_[account_of_[from.index()]];
    account.taken -= unit.gpus;
    account.largest = largest_before;
    const auto part = std::ranges::find(parts_, unit.part_of, &JobPart::job);
    if (part != parts_.end()) part->taken -= unit.gpus;
}

}  // namespace berth::scheduling
