// SPDX-License-Identifier: Apache-2.0
//
// Rule R8: victims one unit after the other, worst project first, until the beneficiary fits;
// then whoever can keep its place keeps it, best first.
#include <algorithm>

#include "scheduling/eviction.h"
#include "scheduling/place.h"
#include "scheduling/queue_order.h"
#include "scheduling/quota_gate.h"

namespace berth::scheduling {
namespace {

// Goes through what is left of each project's units, in victim order. The cluster's own order is
// of now: a job that lost its surplus stands among those at their minimum.
class Walk {
  public:
    explicit Walk(const Hunt& hunt) : hunt_(hunt) {
        for (const ProjectId project : hunt.projects) {
            const auto& victims = hunt.view.claim(project).victims;
            if (victims.empty()) continue;
            at_.push_back({project, victims.front(), {}});
            settle(at_.back());
        }
        std::ranges::sort(at_, {}, &At::project);
    }

    bool has_units(ProjectId project) const {
        const auto own = std::ranges::lower_bound(at_, project, {}, &At::project);
        if (own != at_.end() && own->project == project) return own->next.has_value();
        const auto& children = hunt_.view.cluster.projects()[project.index()].children;
        return std::ranges::any_of(children, [&](ProjectId child) { return has_units(child); });
    }

    // Releases it, too.
    std::size_t take_next(ProjectId project) {
        At& at = *std::ranges::lower_bound(at_, project, {}, &At::project);
        const std::size_t unit = *at.next;
        hunt_.view.cluster.release(hunt_.units[unit].job, hunt_.units[unit].ranks);
        settle(at);
        return unit;
    }

  private:
    struct At {
        ProjectId project;
        cluster::VictimKey key;  // of nobody before it is anything left
        std::optional<std::size_t> next;
    };

    void settle(At& at) const {
        at.next.reset();
        const auto& victims = hunt_.view.claim(at.project).victims;
        const Terms& terms = hunt_.terms;
        for (auto victim = victims.from(at.key); victim != victims.end(); ++victim) {
            if (terms.from_own && !(victim->precedence < terms.precedence)) return;
            at.key = *victim;
            at.next = first_left(victim->job);
            if (at.next) return;
        }
    }

    std::optional<std::size_t> first_left(JobId job) const {
        const VictimUnits::Range units = hunt_.units.of(job);
        for (std::size_t unit = units.first; unit < units.end; ++unit) {
            if (hunt_.units.allows(hunt_.terms, unit) && runs(unit)) return unit;
        }
        return {};
    }

    bool runs(std::size_t unit) const {
        const auto& placed = hunt_.view.cluster.job(hunt_.units[unit].job).placed;
        return std::ranges::any_of(placed, [&](const cluster::PlacedTask& task) {
            return !task.is_releasing && task.place.task == hunt_.units[unit].ranks.front();
        });
    }

    const Hunt& hunt_;
    base::SmallVector<At, 16> at_;  // by project
};

// The project that R2 would serve last, as things stand with the walked units gone.
ProjectId worst_project(const PoolView& view, const Walk& walk) {
    ProjectId at = cluster::kRoot;
    while (!view.cluster.is_leaf(at)) {
        ProjectId worst;
        for (const ProjectId child : view.cluster.projects()[at.index()].children) {
            if (!walk.has_units(child)) continue;
            const bool is_worse = !worst.is_valid() || !is_before(service_key(view, child, {}),
                                                                  service_key(view, worst, {}));
            if (is_worse) worst = child;
        }
        if (!worst.is_valid()) return {};
        at = worst;
    }
    return at;
}

// Of the units that were walked, those that the beneficiary needs.
std::optional<Chosen> spare(const Hunt& hunt, const Choice& walked, const Places& places,
                            EvictionTest::SetAside set_aside) {
    const EvictionTest test(hunt, set_aside);
    Choice choice = walked;
    std::ranges::sort(choice);
    // Units on nodes the beneficiary does not use come back at once, if that is legal.
    base::SmallVector<NodeId, 16> used;
    for (const model::TaskPlacement& task : places) used.push_back(task.node);
    std::ranges::sort(used);
    Choice on_used_nodes;
    for (std::size_t i = 0; i < choice.size(); ++i) {
        const std::size_t unit = choice[i];
        const bool core_is_taken = i + 1 < choice.size() && choice[i + 1] == unit + 1 &&
                                   hunt.units.is_of_same_job(unit, unit + 1);
        const bool is_used = std::ranges::any_of(hunt.units[unit].tasks, [&](const auto& task) {
            return std::ranges::binary_search(used, task.node);
        });
        if (core_is_taken || is_used) on_used_nodes.push_back(unit);
    }
    if (test.places_if_legal(on_used_nodes)) choice.swap(on_used_nodes);
    // Give back before the ledger is asked: it judges only what is taken in the end.
    Choice last_first(walked.rbegin(), walked.rend());
    if (set_aside == EvictionTest::SetAside::Ignored) {
        std::ranges::stable_partition(last_first, [&](std::size_t unit) {
            return is_set_aside(hunt.view, hunt.units[unit].project);
        });
    }
    test.prune(choice, last_first, EvictionTest::Ledger::Ignored);
    auto after = EvictionTest(hunt).places_after(choice);
    if (!after) return {};
    return Chosen{std::move(choice), std::move(*after)};
}

}  // namespace

std::optional<Chosen> choose_in_order(const Hunt& hunt) {
    const PoolView& view = hunt.view;
    const Beneficiary& beneficiary = hunt.beneficiary;
    Choice walked;
    std::optional<Places> places;
    {
        const cluster::Trial trial(view.cluster);
        Walk walk(hunt);
        for (ProjectId from = worst_project(view, walk); from.is_valid() && !places;
             from = worst_project(view, walk)) {
            const std::size_t unit = walk.take_next(from);
            walked.push_back(unit);
            if (quota_gate(view, beneficiary.job, beneficiary.amount)) continue;
            if (!hunt.holds_no_more()) continue;
            places = place(view, beneficiary.job, beneficiary.tasks, View::Coming);
        }
    }
    if (places) return spare(hunt, walked, *places, EvictionTest::SetAside::Kept);
    if (!view.cluster.pool(view.pool).has_fixed_quota) return {};
    // What fixed projects lose is set aside for them again: fewer may do where all did not.
    Choice all = walked;
    std::ranges::sort(all);
    places = EvictionTest(hunt, EvictionTest::SetAside::Ignored).places_if_legal(all);
    if (!places) return {};
    return spare(hunt, walked, *places, EvictionTest::SetAside::Ignored);
}

}  // namespace berth::scheduling
