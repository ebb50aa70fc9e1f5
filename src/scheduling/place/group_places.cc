// SPDX-License-Identifier: Apache-2.0
#include "scheduling/place/group_places.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace berth::scheduling {
namespace {

constexpr std::size_t kNoSpot = std::numeric_limits<std::size_t>::max();

int level_of(const PoolView& view, const Region& region) {
    if (region.node.is_valid()) return static_cast<int>(view.cluster.levels().size());
    return region.is_whole_pool() ? -1 : view.cluster.pool(view.pool).domains[region.domain].level;
}

}  // namespace

GroupRoom::GroupRoom(const PoolView& view, const cluster::Job& job, const Region& within,
                     const std::function<int(NodeId)>& tasks_on)
    : view_(view),
      job_(job),
      shape_(view.cluster.shape(job.shape)),
      level_(level_of(view, within)),
      spots_{{within, within, 0, 0}} {
    for (const cluster::Group& group : shape_.groups) {
        if (group.level >= 0) levels_.push_back(group.level);
    }
    std::ranges::sort(levels_);
    levels_.erase(std::ranges::unique(levels_).begin(), levels_.end());
    by_level_.resize(levels_.size());
    cluster::visit_nodes(view.cluster, view.pool, within, [&](NodeId node) {
        if (const int tasks = tasks_on(node); tasks > 0) add(node, tasks);
    });
}

// Nodes come domain by domain, so the spot of a domain is the last of its level or a new one.
void GroupRoom::add(NodeId node, int tasks) {
    std::size_t at = 0;
    spots_[at].left += tasks;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        const Region region = cluster::region_of(view_.cluster, node, levels_[level]);
        if (region.is_nowhere()) continue;
        at = spot_at(region, level, at);
        spots_[at].left += tasks;
    }
}

std::size_t GroupRoom::spot_at(const Region& region, std::size_t level, std::size_t outer) {
    std::vector<std::size_t>& known = by_level_[level];
    if (known.empty() || !(spots_[known.back()].region == region)) {
        known.push_back(spots_.size());
        const bool is_wider = levels_[level] < level_;
        spots_.push_back({region, is_wider ? spots_.front().region : region, outer, 0});
    }
    return known.back();
}

std::int64_t GroupRoom::room_in(std::size_t spot) const {
    std::int64_t room = spots_[spot].left;
    for (; spot != 0; spot = spots_[spot].outer) {
        room = std::min(room, spots_[spots_[spot].outer].left);
    }
    return room;
}

void GroupRoom::take(std::size_t spot, std::int64_t tasks) {
    spots_[spot].left -= tasks;
    for (; spot != 0; spot = spots_[spot].outer) spots_[spots_[spot].outer].left -= tasks;
}

const std::vector<std::size_t>& GroupRoom::spots_at(int level) const {
    const auto found = std::ranges::lower_bound(levels_, level);
    return by_level_[static_cast<std::size_t>(found - levels_.begin())];
}

std::optional<std::size_t> GroupRoom::home_of(const cluster::Group& group) const {
    if (group.level < 0) return 0;
    const Region home = cluster::home(view_.cluster, job_, group);
    if (home.is_whole_pool()) return {};
    for (const std::size_t spot : spots_at(group.level)) {
        if (spots_[spot].region == home) return spot;
    }
    return kNoSpot;
}

// Those that have no choice come first.
void GroupRoom::read_needs(const cluster::Ranks& ranks) {
    needs_.clear();
    std::vector<std::size_t> position(shape_.groups.size(), kNoSpot);
    for (const int rank : ranks) {
        const std::size_t group = cluster::group_of(shape_, rank);
        if (position[group] == kNoSpot) {
            position[group] = needs_.size();
            const cluster::Group& asked = shape_.groups[group];
            needs_.push_back({group, asked.level, {}, home_of(asked), 0, 0});
        }
        needs_[position[group]].ranks.push_back(rank);
    }
    std::ranges::stable_sort(needs_, {}, [](const Need& need) {
        return std::tuple(!need.fixed, -need.level, -need.tasks());
    });
}

cluster::Ranks GroupRoom::pick(const cluster::Ranks& ranks, int tasks) {
    if (std::ssize(ranks) <= tasks) return ranks;
    const std::vector<Spot> untouched = spots_;
    cluster::Ranks picked;
    bool is_short = false;
    for (const int rank : ranks) {
        const std::size_t group = cluster::group_of(shape_, rank);
        const std::size_t spot = home_of(shape_.groups[group]).value_or(kNoSpot);
        if (spot == kNoSpot || room_in(spot) < 1) {
            if (!std::exchange(is_short, true)) note_shortage(group, 1, spot);
            continue;
        }
        take(spot, 1);
        picked.push_back(rank);
        if (std::ssize(picked) == tasks) break;
    }
    spots_ = untouched;
    return picked;
}

std::optional<std::vector<Stand>> GroupRoom::find(const cluster::Ranks& ranks, int tasks) {
    const cluster::Ranks picked = pick(ranks, tasks);
    if (std::ssize(picked) < tasks) return {};
    read_needs(picked);
    std::vector<Spot> untouched = spots_;
    if (choose_greedily()) return stands();
    spots_ = std::move(untouched);
    std::size_t first = 0;
    for (; first < needs_.size() && needs_[first].fixed; ++first) {
        Need& need = needs_[first];
        if (need.spot == kNoSpot || room_in(need.spot) < need.tasks()) return {};
        need.placed = need.tasks();
        take(need.spot, need.tasks());
    }
    if (choose(first)) return stands();
    shortage_.is_proved = looks_ <= kGroupLooks;
    return {};
}

std::vector<Stand> GroupRoom::find_some(const cluster::Ranks& ranks, int tasks) {
    read_needs(pick(ranks, tasks));
    choose_greedily();
    return stands();
}

// Whoever finds no room is left with as many ranks as there is room for.
bool GroupRoom::choose_greedily() {
    bool is_short = false;
    for (Need& need : needs_) {
        std::size_t best = need.fixed.value_or(kNoSpot);
        if (!need.fixed) {
            const auto key = [&](std::size_t spot) {
                const std::int64_t room = room_in(spot);
                const bool fits = room >= need.tasks();
                return std::pair(!fits, fits ? room : -room);
            };
            const std::vector<std::size_t>& spots = spots_at(need.level);
            const auto found = std::ranges::min_element(spots, {}, key);
            if (found != spots.end()) best = *found;
        }
        need.spot = best;
        const std::int64_t room = best == kNoSpot ? 0 : std::max<std::int64_t>(room_in(best), 0);
        if (room < need.tasks() && !std::exchange(is_short, true)) {
            note_shortage(need.group, need.tasks(), best);
        }
        need.placed = static_cast<int>(std::min<std::int64_t>(room, need.tasks()));
        if (best != kNoSpot) take(best, need.placed);
    }
    return !is_short;
}

void GroupRoom::note_shortage(std::size_t group, int tasks, std::size_t spot) {
    shortage_ = {group, tasks, 0, {DomainId{}, {}}, true};
    if (spot == kNoSpot) return;
    shortage_.fitting = static_cast<int>(std::max<std::int64_t>(room_in(spot), 0));
    shortage_.region = spots_[spot].region;
}

// Every way to place the needs from this one on, until one works.
bool GroupRoom::choose(std::size_t at) {
    if (at == needs_.size()) return true;
    Need& need = needs_[at];
    for (const std::size_t spot : candidates(at)) {
        need.spot = spot;
        need.placed = need.tasks();
        take(spot, need.tasks());
        if (choose(at + 1)) return true;
        take(spot, -need.tasks());
        if (looks_ > kGroupLooks) return false;
    }
    return false;
}

// Where the need may stand, those left out that would come to the same: of alike needs the later
// ones stand in the same spot or behind, and of spots with the same room in the same outer one the
// first speaks for all, since no need that is left asks for a level inside them.
std::vector<std::size_t> GroupRoom::candidates(std::size_t at) {
    const Need& need = needs_[at];
    const std::vector<std::size_t>& spots = spots_at(need.level);
    looks_ += std::ssize(spots);
    const bool is_next = at > 0 && needs_[at - 1].is_like(need);
    const std::size_t first = is_next ? needs_[at - 1].spot : 0;
    std::vector<std::size_t> found;
    std::set<std::pair<std::size_t, std::int64_t>> seen;
    std::int64_t fitting = 0;  // of needs like this one
    std::int64_t missing = 0;  // more room than that makes no difference
    for (std::size_t i = at; i < needs_.size(); ++i) missing += needs_[i].tasks();
    for (const std::size_t spot : spots) {
        if (spot < first) continue;
        const std::int64_t room = room_in(spot);
        if (room < need.tasks()) continue;
        fitting += room / need.tasks();
        const std::int64_t counts = std::min(spots_[spot].left, missing);
        if (seen.emplace(spots_[spot].outer, counts).second) found.push_back(spot);
    }
    std::int64_t alike = 1;
    while (at + 1 < needs_.size() && needs_[at + 1].is_like(need)) ++at, ++alike;
    if (fitting < alike) return {};
    return found;
}

std::vector<Stand> GroupRoom::stands() const {
    std::vector<const Need*> innermost_first;
    for (const Need& need : needs_) {
        if (need.placed > 0) innermost_first.push_back(&need);
    }
    std::ranges::stable_sort(innermost_first, std::greater{}, &Need::level);
    std::vector<Stand> stands;
    for (const Need* need : innermost_first) {
        const auto end = need->ranks.begin() + need->placed;
        stands.push_back({spots_[need->spot].here, {need->ranks.begin(), end}});
    }
    return stands;
}

}  // namespace berth::scheduling
