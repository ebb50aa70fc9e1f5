// SPDX-License-Identifier: Apache-2.0
#include "scheduling/place/group_places.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace berth::scheduling {
namespace {

constexpr std::size_t kNoCandidate = std::numeric_limits<std::size_t>::max();

int level_of(const PoolView& view, const Region& region) {
    if (region.node.is_valid()) return static_cast<int>(view.cluster.levels().size());
    return region.is_whole_pool() ? -1 : view.cluster.pool(view.pool).domains[region.domain].level;
}

}  // namespace

GroupRoom::GroupRoom(const PoolView& view, const cluster::Job& job, const Region& bound_to,
                     const std::function<int(NodeId)>& tasks_on)
    : view_(view),
      job_(job),
      shape_(view.cluster.shape(job.shape)),
      level_(level_of(view, bound_to)),
      candidates_{{bound_to, bound_to, 0, 0}} {
    for (const cluster::Group& group : shape_.groups) {
        if (group.level >= 0) levels_.push_back(group.level);
    }
    std::ranges::sort(levels_);
    levels_.erase(std::ranges::unique(levels_).begin(), levels_.end());
    by_level_.resize(levels_.size());
    cluster::visit_nodes(view.cluster, view.pool, bound_to, [&](NodeId node) {
        if (const int tasks = tasks_on(node); tasks > 0) add(node, tasks);
    });
}

// Nodes come domain by domain, so the candidate of a domain is the last of its level or a new one.
void GroupRoom::add(NodeId node, int tasks) {
    std::size_t at = 0;
    candidates_[at].left += tasks;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        const Region region = cluster::region_of(view_.cluster, node, levels_[level]);
        if (region.is_nowhere()) continue;
        at = candidate_at(region, level, at);
        candidates_[at].left += tasks;
    }
}

std::size_t GroupRoom::candidate_at(const Region& region, std::size_t level, std::size_t outer) {
    std::vector<std::size_t>& known = by_level_[level];
    if (known.empty() || !(candidates_[known.back()].region == region)) {
        known.push_back(candidates_.size());
        const bool is_wider = levels_[level] < level_;
        candidates_.push_back({region, is_wider ? candidates_.front().region : region, outer, 0});
    }
    return known.back();
}

std::int64_t GroupRoom::room_in(std::size_t candidate) const {
    std::int64_t slots = candidates_[candidate].left;
    for (; candidate != 0; candidate = candidates_[candidate].outer) {
        slots = std::min(slots, candidates_[candidates_[candidate].outer].left);
    }
    return slots;
}

void GroupRoom::take(std::size_t at, std::int64_t tasks) {
    candidates_[at].left -= tasks;
    for (; at != 0; at = candidates_[at].outer) candidates_[candidates_[at].outer].left -= tasks;
}

const std::vector<std::size_t>& GroupRoom::candidates_at(int level) const {
    const auto found = std::ranges::lower_bound(levels_, level);
    return by_level_[static_cast<std::size_t>(found - levels_.begin())];
}

std::optional<std::size_t> GroupRoom::home_of(const cluster::Group& group) const {
    if (group.level < 0) return 0;
    const Region bound_region = cluster::bound_region(view_.cluster, job_, group);
    if (bound_region.is_whole_pool()) return {};
    for (const std::size_t candidate : candidates_at(group.level)) {
        if (candidates_[candidate].region == bound_region) return candidate;
    }
    return kNoCandidate;
}

// Those that have no choice come first.
void GroupRoom::read_needs(const cluster::Ranks& ranks) {
    needs_.clear();
    std::vector<std::size_t> position(shape_.groups.size(), kNoCandidate);
    for (const int rank : ranks) {
        const std::size_t group = cluster::group_of(shape_, rank);
        if (position[group] == kNoCandidate) {
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
    const std::vector<DomainCandidate> untouched = candidates_;
    cluster::Ranks picked;
    bool is_short = false;
    for (const int rank : ranks) {
        const std::size_t group = cluster::group_of(shape_, rank);
        const std::size_t candidate = home_of(shape_.groups[group]).value_or(kNoCandidate);
        if (candidate == kNoCandidate || room_in(candidate) < 1) {
            if (!std::exchange(is_short, true)) note_shortage(group, 1, candidate);
            continue;
        }
        take(candidate, 1);
        picked.push_back(rank);
        if (std::ssize(picked) == tasks) break;
    }
    candidates_ = untouched;
    return picked;
}

std::optional<std::vector<Stand>> GroupRoom::find(const cluster::Ranks& ranks, int tasks) {
    const cluster::Ranks picked = pick(ranks, tasks);
    if (std::ssize(picked) < tasks) return {};
    read_needs(picked);
    std::vector<DomainCandidate> untouched = candidates_;
    if (choose_greedily()) return placements();
    candidates_ = std::move(untouched);
    std::size_t first = 0;
    for (; first < needs_.size() && needs_[first].fixed; ++first) {
        Need& need = needs_[first];
        if (need.candidate == kNoCandidate || room_in(need.candidate) < need.tasks()) return {};
        need.placed = need.tasks();
        take(need.candidate, need.tasks());
    }
    if (choose(first)) return placements();
    shortage_.is_proved = looks_ <= kGroupLooks;
    return {};
}

std::vector<Stand> GroupRoom::find_some(const cluster::Ranks& ranks, int tasks) {
    read_needs(pick(ranks, tasks));
    choose_greedily();
    return placements();
}

// A group that finds no place keeps as many ranks as fit.
bool GroupRoom::choose_greedily() {
    bool is_short = false;
    for (Need& need : needs_) {
        std::size_t best = need.fixed.value_or(kNoCandidate);
        if (!need.fixed) {
            const auto key = [&](std::size_t candidate) {
                const std::int64_t slots = room_in(candidate);
                const bool fits = slots >= need.tasks();
                return std::pair(!fits, fits ? slots : -slots);
            };
            const std::vector<std::size_t>& candidates = candidates_at(need.level);
            const auto found = std::ranges::min_element(candidates, {}, key);
            if (found != candidates.end()) best = *found;
        }
        need.candidate = best;
        const auto slots = best == kNoCandidate ? 0 : std::max(room_in(best), std::int64_t{0});
        if (slots < need.tasks() && !std::exchange(is_short, true)) {
            note_shortage(need.group, need.tasks(), best);
        }
        need.placed = static_cast<int>(std::min<std::int64_t>(slots, need.tasks()));
        if (best != kNoCandidate) take(best, need.placed);
    }
    return !is_short;
}

void GroupRoom::note_shortage(std::size_t group, int tasks, std::size_t candidate) {
    shortage_ = {group, tasks, 0, {DomainId{}, {}}, true};
    if (candidate == kNoCandidate) return;
    shortage_.fitting = static_cast<int>(std::max<std::int64_t>(room_in(candidate), 0));
    shortage_.region = candidates_[candidate].region;
}

// Every way to place the needs from this one on, until one works.
bool GroupRoom::choose(std::size_t at) {
    if (at == needs_.size()) return true;
    Need& need = needs_[at];
    for (const std::size_t candidate : candidates(at)) {
        need.candidate = candidate;
        need.placed = need.tasks();
        take(candidate, need.tasks());
        if (choose(at + 1)) return true;
        take(candidate, -need.tasks());
        if (looks_ > kGroupLooks) return false;
    }
    return false;
}

// Where the need may stand, those left out that would come to the same: of alike needs the later
// ones stand in the same candidate or behind, and of candidates with the same room in the same
// outer one the first speaks for all, since no need that is left asks for a level inside them.
std::vector<std::size_t> GroupRoom::candidates(std::size_t at) {
    const Need& need = needs_[at];
    const std::vector<std::size_t>& candidates = candidates_at(need.level);
    looks_ += std::ssize(candidates);
    const bool is_next = at > 0 && needs_[at - 1].is_like(need);
    const std::size_t first = is_next ? needs_[at - 1].candidate : 0;
    std::vector<std::size_t> found;
    std::set<std::pair<std::size_t, std::int64_t>> seen;
    std::int64_t fitting = 0;  // of needs like this one
    std::int64_t missing = 0;  // more room than that makes no difference
    for (std::size_t i = at; i < needs_.size(); ++i) missing += needs_[i].tasks();
    for (const std::size_t candidate : candidates) {
        if (candidate < first) continue;
        const std::int64_t slots = room_in(candidate);
        if (slots < need.tasks()) continue;
        fitting += slots / need.tasks();
        const std::int64_t counts = std::min(candidates_[candidate].left, missing);
        if (seen.emplace(candidates_[candidate].outer, counts).second) found.push_back(candidate);
    }
    std::int64_t alike = 1;
    while (at + 1 < needs_.size() && needs_[at + 1].is_like(need)) ++at, ++alike;
    if (fitting < alike) return {};
    return found;
}

std::vector<Stand> GroupRoom::placements() const {
    std::vector<const Need*> innermost_first;
    for (const Need& need : needs_) {
        if (need.placed > 0) innermost_first.push_back(&need);
    }
    std::ranges::stable_sort(innermost_first, std::greater{}, &Need::level);
    std::vector<Stand> placements;
    for (const Need* need : innermost_first) {
        const auto end = need->ranks.begin() + need->placed;
        placements.push_back({candidates_[need->candidate].part, {need->ranks.begin(), end}});
    }
    return placements;
}

}  // namespace berth::scheduling
