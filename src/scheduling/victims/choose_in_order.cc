// SPDX-License-Identifier: Apache-2.0
//
// Rule R8: victims one unit after the other, worst project first, until the beneficiary fits;
// then each job that can keep its place keeps it, best first.
#include <algorithm>

#include "scheduling/order/queue_order.h"
#include "scheduling/place/place.h"
#include "scheduling/rights/quota_gate.h"
#include "scheduling/victims/victim_query.h"

namespace berth::scheduling {
namespace {

// Goes through what is left of each project's units, in victim order. The cluster's own order is
// of now: a job that lost its surplus stands among those at their minimum.
class Walk {
  public:
    explicit Walk(const VictimQuery& query) : query_(query) {
        if (query.nodes) near_ = victims_on(*query.nodes);
        start();
    }

    // Room can be found on some nodes only: at first it goes through those that have work there.
    bool is_narrow() const { return near_.has_value(); }
    void widen() {
        near_.reset();
        start();
    }

    bool has_units(ProjectId project) const {
        const auto known = std::ranges::lower_bound(at_, project, {}, &At::project);
        if (known != at_.end() && known->project == project) return known->next.has_value();
        const auto& children = query_.view.cluster.projects()[project.index()].children;
        return std::ranges::any_of(children, [&](ProjectId child) { return has_units(child); });
    }

    // Releases it, too.
    std::size_t take_next(ProjectId project) {
        At& at = *std::ranges::lower_bound(at_, project, {}, &At::project);
        const std::size_t unit = *at.next;
        const cluster::Job& job = query_.view.cluster.job(query_.units[unit].job);
        query_.view.cluster.release(job.id, query_.units[unit].ranks);
        if (near_) {
            near_->erase({project, at.key});
            if (job.is_victim()) near_->insert({project, victim_key(job)});
        }
        settle(at);
        return unit;
    }

  private:
    struct At {
        ProjectId project;
        cluster::VictimKey key;  // empty until a victim is left
        std::optional<std::size_t> next;
    };
    struct Victim {
        ProjectId project;
        cluster::VictimKey key;

        bool operator<(const Victim& other) const {
            return project != other.project ? project < other.project : key < other.key;
        }
    };

    void start() {
        at_.clear();
        for (const ProjectId project : query_.projects) {
            const auto& victims = query_.view.claim(project).victims;
            if (victims.empty()) continue;
            at_.push_back({project, victims.front(), {}});
            settle(at_.back());
        }
        std::ranges::sort(at_, {}, &At::project);
    }

    void settle(At& at) const {
        at.next.reset();
        if (near_) {
            for (auto victim = near_->from({at.project, at.key});
                 victim != near_->end() && victim->project == at.project; ++victim) {
                if (!goes_on_after(at, victim->key)) return;
            }
            return;
        }
        const auto& victims = query_.view.claim(at.project).victims;
        for (auto victim = victims.from(at.key); victim != victims.end(); ++victim) {
            if (!goes_on_after(at, *victim)) return;
        }
    }

    // Whether the next victim is to be looked at, too.
    bool goes_on_after(At& at, const cluster::VictimKey& victim) const {
        if (!query_.terms.reaches(victim.priority_key)) return false;
        at.key = victim;
        at.next = first_left(victim.job);
        return !at.next;
    }

    base::SortedRuns<Victim> victims_on(std::span<const NodeId> nodes) const {
        base::SortedRuns<Victim> victims;
        for (const NodeId node : nodes) {
            visit_victims(query_.view, node, [&](const cluster::Job& job, int) {
                if (!std::ranges::binary_search(query_.projects, job.project)) return;
                const Victim victim{job.project, victim_key(job)};
                if (!victims.contains(victim)) victims.insert(victim);
            });
        }
        return victims;
    }

    std::optional<std::size_t> first_left(JobId job) const {
        const VictimUnits::Range units = query_.units.units_of(job);
        for (std::size_t unit = units.first; unit < units.end; ++unit) {
            if (query_.units.allows(query_.terms, unit) && runs(unit)) return unit;
        }
        return {};
    }

    bool runs(std::size_t unit) const {
        const auto& placed = query_.view.cluster.job(query_.units[unit].job).placed;
        return std::ranges::any_of(placed, [&](const cluster::PlacedTask& task) {
            return !task.is_releasing && task.place.task == query_.units[unit].ranks.front();
        });
    }

    const VictimQuery& query_;
    std::optional<base::SortedRuns<Victim>> near_;  // on the nodes that alone may have a slot
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
std::optional<Chosen> keep_places(const VictimQuery& query, const Choice& walked,
                                  const Places& places, StartTest::SetAside set_aside) {
    const StartTest test(query, set_aside);
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
                                   query.units.is_of_same_job(unit, unit + 1);
        const bool is_used = std::ranges::any_of(query.units[unit].tasks, [&](const auto& task) {
            return std::ranges::binary_search(used, task.node);
        });
        if (core_is_taken || is_used) on_used_nodes.push_back(unit);
    }
    if (test.places_if_legal(on_used_nodes)) choice.swap(on_used_nodes);
    // Give back before the ledger is asked: it judges only what is taken in the end.
    Choice last_first(walked.rbegin(), walked.rend());
    if (set_aside == StartTest::SetAside::Ignored) {
        std::ranges::stable_partition(last_first, [&](std::size_t unit) {
            return is_set_aside(query.view, query.units[unit].project);
        });
    }
    test.minimise(choice, last_first, StartTest::Ledger::Ignored);
    auto after = StartTest(query).fits_without(choice);
    if (!after) return {};
    return Chosen{std::move(choice), std::move(*after)};
}

}  // namespace

std::optional<Chosen> choose_in_order(const VictimQuery& query) {
    const PoolView& view = query.view;
    const Beneficiary& beneficiary = query.beneficiary;
    Choice walked;
    std::optional<Places> places;
    {
        const cluster::Trial trial(view.cluster);
        Walk walk(query);
        while (!places) {
            const ProjectId from = worst_project(view, walk);
            if (!from.is_valid()) break;
            walked.push_back(walk.take_next(from));
            const bool may_start =
                !quota_gate(view, beneficiary.job, beneficiary.amount) && query.holds_no_more();
            if (!may_start && !walk.is_narrow()) continue;
            places = place(view, beneficiary.job, beneficiary.tasks, View::Coming);
            if (may_start || !places) continue;
            places.reset();
            walk.widen();  // work on any node brings its project below what it may hold
        }
    }
    if (places) return keep_places(query, walked, *places, StartTest::SetAside::Kept);
    if (!view.cluster.pool(view.pool).has_fixed_quota) return {};
    // What fixed projects lose is set aside for them again: fewer may do where all did not.
    Choice all = walked;
    std::ranges::sort(all);
    places = StartTest(query, StartTest::SetAside::Ignored).places_if_legal(all);
    if (!places) return {};
    return keep_places(query, walked, *places, StartTest::SetAside::Ignored);
}

}  // namespace berth::scheduling
