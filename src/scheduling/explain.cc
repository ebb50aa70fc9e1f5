// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain.h"

#include <algorithm>
#include <set>

#include "cluster/gang.h"
#include "model/companions.h"
#include "scheduling/bookings.h"
#include "scheduling/companions.h"
#include "scheduling/group_places.h"
#include "scheduling/kind_refusal.h"
#include "scheduling/minimum_run_wait.h"
#include "scheduling/most_together.h"
#include "scheduling/others_in_the_way.h"
#include "scheduling/place.h"
#include "scheduling/preemption_delay.h"
#include "scheduling/quota_gate.h"
#include "scheduling/reclaim.h"
#include "scheduling/short_resource.h"
#include "scheduling/slots.h"
#include "scheduling/standing_verdict.h"
#include "scheduling/waste_budget.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::Plan;
using model::Reason;
using model::Rule;
using model::TaskPlacement;
using model::Verdict;

// Carries the plan out on the cluster, inside the caller's Trial.
void enact(Cluster& cluster, const Plan& plan) {
    const auto pool_of = [&](JobId job, const std::vector<TaskPlacement>& tasks) {
        return cluster::pool_of(cluster, cluster.job(job), tasks);
    };
    for (const JobId job : plan.dropped) cluster.drop_hold(job);
    for (const model::Pause& pause : plan.pauses) cluster.release(pause.job, pause.tasks);
    for (const model::Move& move : plan.moves) {
        cluster.release(move.job, cluster.job(move.job).ranks());
    }
    for (const model::Start& start : plan.starts) {
        if (cluster.job(start.job).hold) cluster.drop_hold(start.job);
        cluster.place(start.job, pool_of(start.job, start.tasks), start.tasks);
    }
    for (const model::Reservation& reservation : plan.reservations) {
        const base::PoolId pool = pool_of(reservation.job, reservation.tasks);
        cluster.hold(reservation.job, pool, reservation.tasks, {}, {});
    }
    for (const model::Move& move : plan.moves) {
        cluster.hold(move.job, pool_of(move.job, move.tasks), move.tasks, {}, {});
    }
}

// Nodes of the pool that pass `accept`.
template <typename Accept>
std::vector<NodeId> nodes_where(const PoolView& view, Accept&& accept) {
    std::vector<NodeId> found;
    const auto nodes = view.cluster.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const NodeId id{static_cast<NodeId::Rep>(i)};
        if (view.has_for_good(id) && accept(nodes[i], id)) found.push_back(id);
    }
    return found;
}

MilliGpu free_on(const PoolView& view, NodeId node) {
    MilliGpu free{0};
    for (int gpu = 0; gpu < view.cluster.nodes()[node.index()].gpus; ++gpu) {
        free += view.cluster.free(View::Idle, node, gpu);
    }
    return free;
}

class Explainer {
  public:
    Explainer(const PoolView& view, const Job& job) : view_(view), job_(job) {
        const auto& pool = view.cluster.pool(view.pool);
        verdict_.job = job.id;
        verdict_.tasks_asked = job.ask();
        counted_ = ask_gpus(view, job, job.ask());
        const model::TaskRequest& request = view.cluster.shape(job.shape).request;
        verdict_.asks = pool.exchange.empty() ? counted_ : request.share * request.gpus * job.ask();
        verdict_.idle = pool.free_total[static_cast<std::size_t>(View::Idle)];
        verdict_.capacity = pool.capacity;
        verdict_.scope = view.cluster.projects()[job.project.index()].project.name;
        verdict_.position = position_in_line(view_.claim(job_.project).lanes, job_);
    }

    // Why it waits although the plan has been enacted. `before` tells whether it would have fit
    // before the plan's starts.
    Verdict run(bool fitted_before, const Plan& plan) {
        if (never_fits()) return verdict_;
        if (const auto denial = quota_gate(view_, job_, counted_)) return denied(*denial);
        const auto fitting = place_fitting(view_, job_, job_.ask(), View::Idle, home_of(job_));
        verdict_.tasks_fit = static_cast<int>(fitting.size());
        for (const NodeId node : all_nodes()) {
            verdict_.largest_free = std::max(verdict_.largest_free, free_on(view_, node));
        }
        const bool do_tasks_fit = verdict_.tasks_fit >= job_.ask();
        const bool lacks_room_beside =
            do_tasks_fit && lacks_companions(job_) && !place(view_, job_, job_.ask(), View::Idle);
        if (do_tasks_fit && !lacks_room_beside) return kept_for_others(plan);
        if (fitted_before) return priority_ahead(plan);
        if (promised_to_others()) return verdict_;
        if (lacks_room_beside) return without_companion(fitting);
        if (too_far_apart()) return verdict_;
        if (would_fit_if_healthy()) return verdict_;
        if (verdict_.tasks_fit == 0) tell_parts();
        const bool is_enough = is_by_memory()
                                   ? is_enough_apart(view_, job_.shape, job_.ask(), View::Idle)
                                   : verdict_.idle >= verdict_.asks;
        return is_enough ? enough_but_apart() : not_enough();
    }

  private:
    Verdict with(Reason reason, std::string detail = {}) {
        verdict_.reason = reason;
        verdict_.detail = std::move(detail);
        return verdict_;
    }

    std::vector<NodeId> all_nodes() const {
        return nodes_where(view_, [](const auto&, NodeId) { return true; });
    }

    // Sound and complete: tasks of one job are alike, so the empty slots of all nodes decide.
    bool never_fits() {
        const auto allowed = nodes_where(view_, [&](const cluster::NodeState& node, NodeId) {
            return view_.cluster.allows(job_.shape, node.kind);
        });
        if (allowed.empty()) {
            KindRefusal refusal = kind_refusal(view_, job_.shape);
            verdict_.cause = std::move(refusal.cause);
            with(refusal.reason, std::move(refusal.detail));
            return true;
        }
        int slots = 0;
        int slots_without_host = 0;
        for (const NodeId node : allowed) {
            slots += when_empty(node, Host::Counted);
            slots_without_host += when_empty(node, Host::Ignored);
        }
        verdict_.tasks_fit = std::min(slots, job_.tasks_min);
        if (slots >= job_.tasks_min) {
            return never_fits_together(allowed) || companion_never_fits() ||
                   waits_for_others(allowed, job_.tasks_min, Moment::WhenEmpty);
        }
        if (lacks_resource(Reason::NeverFits, allowed, job_.tasks_min, Moment::WhenEmpty))
            return true;
        with(Reason::NeverFits, slots_without_host >= job_.tasks_min ? "host resources" : "gpus");
        return true;
    }

    bool companion_never_fits() {
        const auto kind = companions_too_large(view_, job_);
        if (kind) with_companion(Reason::NeverFits, *kind);
        return kind.has_value();
    }

    // Its tasks fit.
    Verdict without_companion(Places placed) {
        const auto kind = add_companions(view_, job_, View::Idle, placed);
        add_all_holders();
        with_companion(Reason::HostResources, kind.value_or(0));
        return verdict_;
    }

    void with_companion(Reason reason, std::size_t kind) {
        const auto& companions = view_.cluster.shape(job_.shape).companions[kind];
        with(reason, "companion");
        verdict_.group = companions.name;
        verdict_.tasks_asked = companions.count;
        verdict_.cause = model::format_request(view_.cluster.shape(companions.shape).request);
    }

    int when_empty(NodeId node, Host host) const {
        return slots_when_empty(view_, job_.shape, node, job_.tasks_min, host);
    }

    // Whether it waits for nothing but what others use of these nodes.
    bool waits_for_others(std::span<const NodeId> nodes, int tasks, Moment moment) {
        const auto in_the_way = others_in_the_way(view_, job_.shape, tasks, nodes, moment);
        if (!in_the_way) return false;
        with(in_the_way->gpus > 0 ? Reason::PoolFull : Reason::HostResources, "others");
        verdict_.scope = view_.cluster.node_name(in_the_way->node);
        verdict_.used = base::gpus(in_the_way->gpus);
        const bool asks_more = !view_.cluster.resources().asked(job_.shape).empty();
        if (in_the_way->gpus == 0 && asks_more) verdict_.cause = "resources";
        return true;
    }

    // Whether it waits for nothing but one of the other resources of these nodes.
    bool lacks_resource(Reason reason, std::span<const NodeId> nodes, int tasks, Moment moment) {
        auto lacking = short_resource(view_, job_.shape, tasks, nodes, moment);
        if (!lacking) return false;
        with(reason, "resource");
        verdict_.cause = std::move(*lacking);
        return true;
    }

    // The same in one domain of the level it requires, and in one for each group.
    bool never_fits_together(const std::vector<NodeId>& allowed) {
        if (job_.active > 0 || !(requires_level() || has_groups())) return false;
        // Of those that are to join the pool the domains are not known before they have.
        if (std::ranges::any_of(allowed, [&](NodeId node) { return view_.strays(node); }))
            return false;
        const auto tasks_on = [&](NodeId node) {
            return std::ranges::binary_search(allowed, node) ? when_empty(node, Host::Counted) : 0;
        };
        if (requires_level()) {
            const Together most = most_together(view_, job_, tasks_on);
            if (most.tasks < job_.tasks_min) {
                with_domain(Reason::NeverFits, most);
                return true;
            }
        }
        const auto shortage = group_shortage(tasks_on);
        if (!shortage || !shortage->is_proved) return false;
        with_group(Reason::NeverFits, *shortage);
        return true;
    }

    bool is_by_memory() const {
        const model::TaskRequest& request = view_.cluster.shape(job_.shape).request;
        return request.gpus > 0 && request.gpu_memory > model::Bytes{0};
    }

    // What it asks of a GPU and what is left of the one where the smallest part of that is missing.
    void tell_parts() {
        if (!is_by_memory()) return;
        const Cluster& cluster = view_.cluster;
        std::optional<std::pair<MilliGpu, MilliGpu>> nearest;  // what it has of what is asked
        for (const NodeId node : all_nodes()) {
            const cluster::NodeState& state = cluster.nodes()[node.index()];
            if (!state.is_ready || !cluster.allows(job_.shape, state.kind)) continue;
            const model::GpuPart part = cluster.part_on(job_.shape, node);
            for (int gpu = 0; gpu < state.gpus; ++gpu) {
                const model::GpuPart left = cluster.room(View::Idle, node, gpu);
                const auto enough = [](std::int64_t has, std::int64_t asked) {
                    return model::part_rounded_down({std::min(has, asked)}, {asked});
                };
                const MilliGpu compute = enough(left.compute.value, part.compute.value);
                const MilliGpu memory = enough(left.memory.value, part.memory.value);
                const std::pair here{std::min(compute, memory), std::max(compute, memory)};
                if (nearest && here <= *nearest) continue;
                nearest = here;
                verdict_.compute_asked = part.compute, verdict_.memory_asked = part.memory;
                verdict_.compute_left = left.compute, verdict_.memory_left = left.memory;
            }
        }
    }

    // Whether it waits for nothing but tasks standing together.
    bool too_far_apart() {
        if (!requires_level() && !has_groups()) return false;
        const auto anywhere = fill(view_, job_, job_.ask(), View::Idle, {});
        if (std::ssize(anywhere) < job_.ask()) return false;
        Together most{{}, job_.ask()};
        if (requires_level()) most = most_together_now(view_, job_);
        if (most.tasks < job_.ask()) {
            with_domain(Reason::Topology, most);
        } else {
            const auto shortage = group_shortage([&](NodeId node) { return now_on(node); });
            if (!shortage) return false;
            with_group(Reason::Topology, *shortage);
            most.region = shortage->region;
        }
        add_holders(cluster::kRoot, false, most.region);
        return true;
    }

    int now_on(NodeId node) const {
        return slots_now(view_, job_.shape, node, View::Idle, job_.ask());
    }

    // What keeps its groups from standing where nodes take so many tasks: told of the domain of the
    // required level where least is missing.
    std::optional<GroupShortage> group_shortage(const std::function<int(NodeId)>& tasks_on) const {
        if (!has_groups()) return {};
        const auto& shape = view_.cluster.shape(job_.shape);
        const cluster::Ranks ranks = cluster::next_ranks(shape, job_, job_.ask());
        std::optional<GroupShortage> least;
        bool is_proved = true;
        for (const Region& region : regions()) {
            GroupRoom room(view_, job_, region, tasks_on);
            if (room.find(ranks, job_.ask())) return {};
            const GroupShortage& here = room.shortage();
            is_proved &= here.is_proved;
            const auto missing = [](const GroupShortage& of) { return of.tasks - of.fitting; };
            if (!least || missing(here) < missing(*least)) least = here;
        }
        if (least) least->is_proved = is_proved;
        return least;
    }

    // Where all its tasks may stand, one or the other.
    std::vector<Region> regions() const {
        return requires_level() ? required_regions(view_, job_) : std::vector{Region{}};
    }

    bool has_groups() const { return !view_.cluster.shape(job_.shape).groups.empty(); }
    bool requires_level() const { return view_.cluster.shape(job_.shape).required >= 0; }

    void with_domain(Reason reason, const Together& most) {
        with(reason, view_.cluster.shape(job_.shape).topology.required);
        verdict_.tasks_fit = most.tasks;
        const bool is_named = !most.region.is_nowhere();
        verdict_.scope = is_named ? cluster::name_of(view_.cluster, most.region, view_.pool) : "";
    }

    void with_group(Reason reason, const GroupShortage& shortage) {
        with_domain(reason, {shortage.region, shortage.fitting});
        const auto& groups = view_.cluster.shape(job_.shape).topology.groups;
        verdict_.detail = groups[shortage.group].level;
        verdict_.group = groups[shortage.group].name;
        verdict_.tasks_asked = shortage.tasks;
    }

    Verdict denied(const Denial& denial) {
        verdict_.asks = counted_;
        verdict_.scope = view_.cluster.projects()[denial.at.index()].project.name;
        verdict_.used = denial.used, verdict_.bound = denial.bound;
        if (denial.gate == Gate::SetAside) {
            verdict_.idle = view_.cluster.pool(view_.pool).free_total[0];
            return with(Reason::QuotaFair, "set aside");
        }
        const bool is_fixed = view_.claim(denial.at).rights.kind == model::QuotaKind::Fixed;
        add_holders(denial.at, denial.gate == Gate::Quota);
        if (denial.gate == Gate::Quota) return with(Reason::QuotaHard, "quota");
        return with(Reason::QuotaHard, is_fixed ? "fixed quota" : "limit");
    }

    // It fits, and yet the decision did not start it.
    Verdict kept_for_others(const Plan& plan) {
        const cluster::Trial trial(view_.cluster);
        const bool is_asked_later = plan.is_empty() && plan.bookings.empty();
        NodeSeats seats;
        Bookings bookings;
        is_asked_later ? bookings.book(view_, seats) : bookings.take_over(view_, plan.bookings);
        const Bookings::Opening opening(bookings, job_);
        if (!bookings.keep_share_from(job_) && place(view_, job_, job_.ask(), View::Idle))
            return with(Reason::NotYetEvaluated);
        verdict_.bound = bookings.kept();
        for (const model::Booking& booking : bookings.still_waiting()) add_blocker(booking.job);
        return with(Reason::Reserved, "booking");
    }

    Verdict priority_ahead(const Plan& plan) {
        for (const model::Start& start : plan.starts) add_blocker(start.job);
        for (const model::Reservation& held : plan.reservations) add_blocker(held.job);
        return with(Reason::PriorityAhead);
    }

    // Whether it would fit if nothing were promised.
    bool promised_to_others() {
        if (view_.cluster.holders().empty()) return false;
        const cluster::Trial trial(view_.cluster);
        const auto holders = view_.cluster.holders();
        for (const JobId holder : holders) view_.cluster.drop_hold(holder);
        if (!place(view_, job_, job_.ask(), View::Idle)) return false;
        for (const JobId holder : holders) add_blocker(holder);
        with(Reason::Reserved);
        return true;
    }

    bool would_fit_if_healthy() {
        const auto away = nodes_where(view_, [&](const cluster::NodeState& node, NodeId) {
            return !node.is_ready && view_.cluster.allows(job_.shape, node.kind);
        });
        if (away.empty()) return false;
        return std::ranges::any_of(regions(), [&](const Region& region) {
            const auto fitting = fill(view_, job_, job_.ask(), View::Idle, region);
            int missing = job_.ask() - static_cast<int>(fitting.size());
            NodeId first;
            for (const NodeId node : away) {
                const int slots = view_.is_in(region, node) ? slots_when_back(node) : 0;
                if (slots > 0 && !first.is_valid()) first = node;
                missing -= slots;
            }
            if (!first.is_valid() || missing > 0) return false;
            if (has_groups() && !groups_would_fit(region, away)) return false;
            verdict_.scope = view_.cluster.node_name(first);
            with(Reason::Unhealthy, view_.strays(first) ? "joins" : "");
            return true;
        });
    }

    bool groups_would_fit(const Region& region, const std::vector<NodeId>& away) const {
        GroupRoom room(view_, job_, region, [&](NodeId node) {
            return std::ranges::binary_search(away, node) ? slots_when_back(node) : now_on(node);
        });
        const auto& shape = view_.cluster.shape(job_.shape);
        const auto ranks = cluster::next_ranks(shape, job_, job_.ask());
        return room.find(ranks, job_.ask()).has_value();
    }

    // How many tasks the GPUs of a node that is away would take beside what still runs there.
    int slots_when_back(NodeId node) const {
        if (view_.strays(node)) return when_empty(node, Host::Counted);  // it joins then
        return most_tasks(parts_on(view_, job_.shape, node,
                                   [&](int gpu) { return view_.cluster.unused(node, gpu); }),
                          view_.cluster.shape(job_.shape).request.gpus, job_.ask());
    }

    Verdict enough_but_apart() {
        const bool lacks_host = fits_without_host();
        if (waits_for_others(all_nodes(), job_.ask(), Moment::Now)) return verdict_;
        add_all_holders();
        if (const NodeId node = job_.stay.node; node.is_valid()) {
            return with(Reason::Fragmented, view_.cluster.node_name(node));
        }
        if (lacks_resource(Reason::HostResources, all_nodes(), job_.ask(), Moment::Now)) {
            return verdict_;
        }
        if (lacks_host) return with(Reason::HostResources);
        if (is_choosy()) return with(Reason::PoolFull, "node kind");
        if (verdict_.tasks_fit > 0) return with(Reason::Gang);
        return with(Reason::Fragmented);
    }

    // Whether it is the node that matters, not its GPUs alone.
    bool is_choosy() const {
        const cluster::Shape& shape = view_.cluster.shape(job_.shape);
        if (!shape.gpu_model.empty() || !shape.labels.empty()) return true;
        return !shape.filter.any_of.empty() || std::ranges::any_of(all_nodes(), [&](NodeId node) {
            const std::uint16_t kind = view_.cluster.nodes()[node.index()].kind;
            const auto& taints = view_.cluster.kinds()[kind].example.taints;
            return model::not_tolerated(taints, shape.tolerations) != nullptr;
        });
    }

    // Whether the GPUs alone would do.
    bool fits_without_host() const {
        int slots = 0;
        const model::TaskRequest& request = view_.cluster.shape(job_.shape).request;
        for (const NodeId node : all_nodes()) {
            const cluster::NodeState& state = view_.cluster.nodes()[node.index()];
            if (!state.is_ready || !view_.cluster.allows(job_.shape, state.kind)) continue;
            const auto parts = parts_on(view_, job_.shape, node, [&](int gpu) {
                return view_.cluster.room(View::Idle, node, gpu);
            });
            slots += most_tasks(parts, request.gpus, job_.ask());
        }
        return slots >= job_.ask();
    }

    Verdict not_enough() {
        const MilliGpu fair = view_.shares.fair[job_.project.index()];
        const MilliGpu allocated = view_.allocated(job_.project);
        verdict_.used = allocated;
        verdict_.bound = fair;
        add_all_holders();
        const bool others_hold = view_.allocated(cluster::kRoot) > allocated;
        if (const auto obstacle = keeps_from_pausing(); !obstacle.empty()) {
            return with(Reason::PoolFull, obstacle);
        }
        if (const auto wait = minimum_run_wait(view_, job_, counted_)) {
            verdict_.used = wait->held;
            verdict_.cause = moment_text(wait->first, view_.now);
            return with(Reason::PoolFull, "minimum run");
        }
        if (waits_for_others(all_nodes(), job_.ask(), Moment::Now)) {
            verdict_.blockers.clear();
            return verdict_;
        }
        if (others_hold && allocated + counted_ > fair) {
            verdict_.asks = counted_;
            return with(Reason::QuotaFair, "fair share");
        }
        return with(Reason::PoolFull);
    }

    // What keeps it from having others paused although it has a right to that.
    std::string keeps_from_pausing() const {
        const Rule rule = may_reclaim(view_, job_.project, job_.preemptible, counted_)
                              ? Rule::Reclaim
                              : Rule::Preempt;
        const auto& victims = view_.claim(job_.project).victims;
        const bool may_preempt =
            !victims.empty() && victims.begin()->precedence < job_.precedence_in_line();
        if (rule == Rule::Preempt && !may_preempt) return {};
        if (delayed_until(view_, job_)) return "preemption delay";
        const Beneficiary beneficiary{job_, job_.ask(), counted_, rule, home_of(job_)};
        const bool is_held_back =
            is_waste_spent(view_, view_.wasted_gpu_ms) && is_wasteful(view_, beneficiary);
        return is_held_back ? "waste budget" : "";
    }

    void add_blocker(JobId job) {
        auto& blockers = verdict_.blockers;
        if (job == job_.id || blockers.size() >= kBlockersMax) return;
        if (std::ranges::find(blockers, job) == blockers.end()) blockers.push_back(job);
    }

    // Running jobs below this tree node, largest first; all or those that cannot be paused.
    void add_holders(ProjectId top, bool not_preemptible_only = false, const Region& where = {}) {
        std::vector<std::pair<std::int64_t, JobId>> holders;
        for (const auto& [id, job] : view_.cluster.jobs()) {
            if (job.placed.empty() || job.pool != view_.pool) continue;
            if (not_preemptible_only && job.preemptible) continue;
            bool is_below = false;
            for (ProjectId at = job.project; at.is_valid(); at = view_.parent(at)) {
                is_below |= at == top;
            }
            if (!is_below) continue;
            std::int64_t held = 0;
            for (const auto& task : job.placed) {
                if (!cluster::is_in(view_.cluster, where, task.place.node)) continue;
                held += task.place.gpus().value;
            }
            if (held > 0 || where.is_whole_pool()) holders.emplace_back(-held, id);
        }
        std::ranges::sort(holders);
        for (const auto& [held, id] : holders) add_blocker(id);
    }
    void add_all_holders() { add_holders(cluster::kRoot); }

    const PoolView& view_;
    const Job& job_;
    Verdict verdict_;
    MilliGpu counted_{0};  // what it asks, as GPUs count in quotas and shares
};

}  // namespace

std::vector<Verdict> explain(Cluster& cluster, const model::Policy& policy, const Plan& plan,
                             TimePoint now, std::span<const JobId> jobs) {
    std::vector<PoolView> before;
    for (std::size_t i = 0; i < cluster.pools().size(); ++i) {
        before.push_back(view_pool(cluster, policy, now, {static_cast<base::PoolId::Rep>(i)}));
    }
    std::vector<bool> fitted_before;
    for (const JobId id : jobs) {
        const Job& job = cluster.job(id);
        const PoolView& view = before[cluster.pools_of(job).front().index()];
        fitted_before.push_back(job.is_waiting() &&
                                !quota_gate(view, job, ask_gpus(view, job, job.ask())) &&
                                place(view, job, job.ask(), View::Idle).has_value());
    }
    std::vector<std::optional<Verdict>> own;
    for (const JobId id : jobs) own.push_back(standing_verdict(cluster, plan, cluster.job(id)));
    for (const model::Pause& pause : plan.pauses) {
        if (!pause.is_wasteful) continue;
        before[cluster.job(pause.job).pool.index()].wasted_gpu_ms += pause.cost.unsaved_gpu_ms;
    }
    const cluster::Trial trial(cluster);
    enact(cluster, plan);
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        // Told of the first pool it names that could ever take it, else of the first.
        const Job& job = cluster.job(jobs[i]);
        std::optional<Verdict> told = own[i];
        const auto pools = own[i] ? std::span<const base::PoolId>() : cluster.pools_of(job);
        for (const base::PoolId pool : pools) {
            // Fair shares are the same before and after (pool_view.h).
            Verdict here = Explainer(before[pool.index()], job).run(fitted_before[i], plan);
            const bool is_possible =
                here.reason != Reason::NeverFits && here.reason != Reason::ModelMismatch;
            if (!told || is_possible) told = std::move(here);
            if (is_possible) break;
        }
        verdicts.push_back(*told);
    }
    return verdicts;
}

Verdict explain(Cluster& cluster, const model::Policy& policy, const Plan& plan, TimePoint now,
                JobId job) {
    return explain(cluster, policy, plan, now, std::span(&job, 1)).front();
}

std::vector<Verdict> explain_all(Cluster& cluster, const model::Policy& policy, const Plan& plan,
                                 TimePoint now) {
    std::vector<JobId> waiting;
    for (const auto& [id, job] : cluster.jobs()) {
        if (job.placed.empty()) waiting.push_back(id);
    }
    return explain(cluster, policy, plan, now, waiting);
}

}  // namespace berth::scheduling
