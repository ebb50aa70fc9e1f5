// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/reclaim.h"

#include <algorithm>

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
    MilliGpu floor_of(ProjectId sibling) const {
        const MilliGpu floor = view_.shares.allocatable[sibling.index()];
        return is_within_quota_ ? std::min(floor, view_.quota(sibling)) : floor;
    }

    // The most that a sibling may lose: what it keeps stays more, relatively, unless the side that
    // gains stays within its fair share.
    MilliGpu most_from(ProjectId sibling) const {
        const MilliGpu allocated = view_.allocated(sibling);
        const MilliGpu sibling_fair = view_.shares.fair[sibling.index()];
        if (gained_ <= fair_ || sibling_fair == MilliGpu{0}) return allocated;
        if (fair_ == MilliGpu{0}) return {0};
        const Wide least_left = Wide{gained_.value} * sibling_fair.value / fair_.value + 1;
        const Wide most = Wide{allocated.value} - least_left;
        return {most < 0 ? 0 : static_cast<std::int64_t>(most)};
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
                    MilliGpu kept) {
    MilliGpu reachable =
        view.cluster.pool(view.pool).free_total[static_cast<std::size_t>(View::Coming)] + kept;
    const int cpu_only =
        view.cluster.pool(view.pool).cpu_only_victims - view.claim(project).cpu_only_victims;
    if (cpu_only > 0 && reachable >= amount && takes_cpu_only(view, project, amount)) return true;
    for (ProjectId at = project; at != cluster::kRoot; at = view.parent(at)) {
        const Asking asking(view, at, amount);
        for (const ProjectId sibling : view.cluster.projects()[view.parent(at).index()].children) {
            if (sibling == at) continue;
            const cluster::Usage& usage = view.claim(sibling).usage;
            if (usage.allocated <= asking.floor_of(sibling)) continue;
            const MilliGpu most = asking.most_from(sibling);
            if (most <= MilliGpu{0}) continue;
            if (counting == Counting::AtMost) return true;
            reachable += std::min(usage.allocated - usage.not_preemptible, most);
            if (reachable >= amount) return true;
        }
    }
    return false;
}

ReclaimLedger::ReclaimLedger(const PoolView& view, ProjectId beneficiary, MilliGpu amount)
    : takes_cpu_only_(takes_cpu_only(view, beneficiary, amount)),
      side_of_(view.cluster.projects().size(), kNoSide) {
    const auto mark_below = [&](auto&& self, ProjectId project, std::uint32_t side) -> void {
        side_of_[project.index()] = side;
        for (const ProjectId child : view.cluster.projects()[project.index()].children) {
            self(self, child, side);
        }
    };
    for (ProjectId at = beneficiary; at != cluster::kRoot; at = view.parent(at)) {
        const Asking asking(view, at, amount);
        for (const ProjectId sibling : view.cluster.projects()[view.parent(at).index()].children) {
            if (sibling == at) continue;
            Side side;
            side.allocated = view.allocated(sibling);
            side.floor = asking.floor_of(sibling);
            side.most = asking.most_from(sibling);
            mark_below(mark_below, sibling, static_cast<std::uint32_t>(sides_.size()));
            sides_.push_back(side);
        }
    }
}

const ReclaimLedger::Side* ReclaimLedger::find_side(ProjectId from) const {
    const std::uint32_t side = side_of_[from.index()];
    return side == kNoSide ? nullptr : &sides_[side];
}

// With the largest unit taken last, every unit before it is taken from no less.
bool ReclaimLedger::may_take(ProjectId from, MilliGpu unit) const {
    const Side* side = find_side(from);
    if (side == nullptr) return false;
    if (unit == MilliGpu{0}) return takes_cpu_only_;
    const MilliGpu largest = std::max(unit, side->largest);
    const MilliGpu before_last = side->allocated - (side->taken + unit - largest);
    return before_last > side->floor && side->taken + unit <= side->most;
}

MilliGpu ReclaimLedger::most_from(ProjectId from, MilliGpu largest) const {
    const Side* side = find_side(from);
    if (side == nullptr || side->allocated <= side->floor) return {0};
    const MilliGpu by_floor = side->allocated - side->floor + largest - MilliGpu{1};
    return std::min(by_floor, side->most);
}

std::optional<std::size_t> ReclaimLedger::side_of(ProjectId project) const {
    if (side_of_.empty() || side_of_[project.index()] == kNoSide) return {};
    return side_of_[project.index()];
}

ReclaimLedger::Headrooms ReclaimLedger::headrooms() const {
    Headrooms headrooms;
    headrooms.reserve(2 * sides_.size());
    for (const Side& side : sides_) {
        headrooms.push_back(std::max(side.allocated - side.taken - side.floor, MilliGpu{0}));
        headrooms.push_back(side.most - side.taken);
    }
    return headrooms;
}

MilliGpu ReclaimLedger::take(ProjectId from, MilliGpu unit) {
    Side& side = sides_[side_of_[from.index()]];
    const MilliGpu largest_before = side.largest;
    side.taken += unit;
    side.largest = std::max(side.largest, unit);
    return largest_before;
}

void ReclaimLedger::give_back(ProjectId from, MilliGpu unit, MilliGpu largest_before) {
    Side& side = sides_[side_of_[from.index()]];
    side.taken -= unit;
    side.largest = largest_before;
}

}  // namespace berth::scheduling
