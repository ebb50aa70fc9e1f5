// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/explain.h"

#include <algorithm>
#include <set>

#include "cluster/gang.h"
#include "model/job/companions.h"
#include "scheduling/explain/kind_refusal.h"
#include "scheduling/explain/lack.h"
#include "scheduling/explain/reserved_before.h"
#include "scheduling/explain/served_first.h"
#include "scheduling/explain/standing_verdict.h"
#include "scheduling/place/companions.h"
#include "scheduling/place/free_capacity.h"
#include "scheduling/place/group_places.h"
#include "scheduling/place/place.h"
#include "scheduling/plan_apply.h"
#include "scheduling/rights/quota_gate.h"
#include "scheduling/victims/held_back.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::Cause;
using model::Plan;
using model::Verdict;

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

void add(Verdict& verdict, const PoolView& view, const Denial& denial) {
    verdict.because(denial.cause);
    verdict.scope = view.cluster.projects()[denial.at.index()].project.name;
    verdict.used = denial.used;
    verdict.bound = denial.bound;
    verdict.host_asks = denial.host.asks;
    verdict.host_used = denial.host.used;
    verdict.host_bound = denial.host.bound;
}

bool is_of_not_preemptible(Cause cause) {
    return cause == Cause::NonPreemptibleQuotaReached ||
           cause == Cause::NonPreemptibleCpuQuotaReached ||
           cause == Cause::NonPreemptibleMemoryQuotaReached;
}

// Whether a job has no right by quotas of CPU and memory to what others hold, or not yet.
bool is_bound_by_host_quotas(const PoolView& view, const Job& job, MilliGpu counted,
                             Verdict& verdict) {
    const bool has_gpus = view.cluster.shape(job.shape).request.gpus > 0;
    if (has_gpus || !view.cluster.pool(view.pool).has_host_quota) return false;
    if (const auto wait = held_back(view, job, counted)) {
        verdict.until = wait->until;
        verdict.because(wait->cause);
        return true;
    }
    const auto denial = above_host_quota(view, job);
    if (denial) add(verdict, view, *denial);
    return denial.has_value();
}

// The GPUs that it asks, where models count differently.
MilliGpu asked_however_counted(const PoolView& view, const Job& job) {
    const model::TaskRequest& request = view.cluster.shape(job.shape).request;
    return request.share * request.gpus * job.ask() +
           cluster::gpus_of_lacking_companions(view.cluster, job, view.pool, &Cluster::footprint);
}

void name_companion(const Cluster& cluster, const cluster::Companions& kind, Verdict& verdict) {
    const cluster::Shape& shape = cluster.shape(kind.shape);
    verdict.group = kind.name;
    verdict.tasks_asked = kind.count;
    verdict.what = model::format_request(shape.request, shape.gpu_model);
}

// Why a job waits in one pool although the plan has been enacted. Each step tells its cause and
// returns true, or leaves the question to the next.
class Explainer {
  public:
    Explainer(const PoolView& view, const Job& job, const Plan& plan)
        : view_(view),
          job_(job),
          plan_(plan),
          shape_(view.cluster.shape(job.shape)),
          nodes_(nodes_where(view, [](const auto&, NodeId) { return true; })),
          counted_(ask_gpus(view, job, job.ask())) {
        const auto& pool = view.cluster.pool(view.pool);
        verdict_.job = job.id;
        verdict_.at = view.now;
        verdict_.tasks_asked = job.ask();
        verdict_.asks = pool.exchange.empty() ? counted_ : asked_however_counted(view, job);
        verdict_.idle = pool.free_total[static_cast<std::size_t>(View::Idle)];
        verdict_.capacity = pool.capacity;
        verdict_.scope = view.cluster.projects()[job.project.index()].project.name;
        verdict_.position = position_in_queue(view_.claim(job_.project).queue, job_);
    }

    // `fitted_before`: whether it would have fit before the plan's starts.
    Verdict run(bool fitted_before) {
        if (never_fits() || is_denied()) return verdict_;
        const auto fitting = place_fitting(view_, job_, job_.ask(), View::Idle, home_of(job_));
        verdict_.tasks_fit = static_cast<int>(fitting.size());
        for (const NodeId node : nodes_)
            verdict_.largest_free = std::max(verdict_.largest_free, free_on(view_, node));
        const bool do_tasks_fit = verdict_.tasks_fit >= job_.ask();
        const bool lacks_room_beside =
            do_tasks_fit && lacks_companions(job_) && !place(view_, job_, job_.ask(), View::Idle);
        const bool fits = do_tasks_fit && !lacks_room_beside;
        const bool is_told = (fits && (tells_share_is_kept() || is_kept_for_others())) ||
                             (fitted_before && is_behind_others()) || is_promised_to_others() ||
                             (lacks_room_beside && lacks_companion(fitting)) ||
                             is_too_far_apart() || would_fit_if_healthy();
        if (is_told) return verdict_;
        if (verdict_.tasks_fit == 0) tell_parts();
        const bool is_enough =
            is_by_memory() ? enough_on_separate_nodes(view_, job_.shape, job_.ask(), View::Idle)
                           : verdict_.idle >= verdict_.asks;
        is_enough ? tell_what_lacks() : tell_who_holds();
        return verdict_;
    }

  private:
    bool with(Cause cause, std::string what = {}) {
        verdict_.because(cause);
        verdict_.what = std::move(what);
        return true;
    }

    bool with_node(Cause cause, NodeId node, std::string what = {}) {
        verdict_.scope = view_.cluster.node_name(node);
        return with(cause, std::move(what));
    }

    // Sound and complete: tasks of one job are alike, so the empty slots of all nodes decide.
    bool never_fits() {
        const auto allowed = nodes_where(view_, [&](const cluster::NodeState& node, NodeId) {
            return view_.cluster.allows(job_.shape, node.kind);
        });
        if (allowed.empty()) {
            KindRefusal refusal = kind_refusal(view_, job_.shape);
            return with(refusal.cause, std::move(refusal.what));
        }
        int slots = 0;
        for (const NodeId node : allowed) slots += when_empty(node);
        verdict_.tasks_fit = std::min(slots, job_.tasks_min);
        const bool is_enough = slots >= job_.tasks_min;
        if (is_enough && (never_fits_together(allowed) || companion_never_fits())) return true;
        if (is_enough) return are_others_in_the_way(allowed, job_.tasks_min, Moment::WhenEmpty);
        const auto lack =
            lack_beside(view_, job_.shape, job_.tasks_min, allowed, Moment::WhenEmpty);
        if (!lack) return with(Cause::NeverFitsPool);
        const bool is_host = lack->cause == Cause::HostTaken;
        return with(is_host ? Cause::NeverFitsHost : Cause::NeverFitsResource, lack->what);
    }

    // Whether it waits for nothing but what others use of these nodes.
    bool are_others_in_the_way(std::span<const NodeId> nodes, int tasks, Moment moment) {
        const auto lack = lack_by_others(view_, job_.shape, tasks, nodes, moment);
        if (!lack) return false;
        verdict_.used = lack->gpus;
        return with_node(lack->cause, lack->node, lack->what);
    }

    bool companion_never_fits() {
        const auto large = companions_too_large(view_, job_);
        if (!large) return false;
        with(Cause::NeverFitsCompanion);
        name_companion(view_.cluster, shape_.companions[large->kind], verdict_);
        if (large->is_beside_its_tasks) verdict_.what += ", beside its tasks";
        return true;
    }

    // Its tasks fit, and enough GPUs are idle for all.
    bool lacks_companion(Places placed) {
        const bool has_two = cluster::has_two_gpu_requests(view_.cluster, shape_);
        if (has_two && verdict_.idle < verdict_.asks) return false;
        const auto kind = add_companions(view_, job_, View::Idle, placed);
        add_all_holders();
        with(Cause::CompanionHasNoRoom);
        name_companion(view_.cluster, shape_.companions[kind.value_or(0)], verdict_);
        return true;
    }

    int when_empty(NodeId node) const {
        return supposed_slots(view_, job_.shape, node, Moment::WhenEmpty, job_.tasks_min,
                              kWithoutOthers);
    }

    int now_on(NodeId node) const {
        return slots_now(view_, job_.shape, node, View::Idle, job_.ask());
    }

    // The same in one domain of the level it requires, and in one for each group.
    bool never_fits_together(const std::vector<NodeId>& allowed) {
        if (job_.active > 0 || !(requires_level() || has_groups())) return false;
        // Of those that are to join the pool the domains are not known before they have.
        if (std::ranges::any_of(allowed, [&](NodeId node) { return view_.misplaced(node); }))
            return false;
        const auto tasks_on = [&](NodeId node) {
            return std::ranges::binary_search(allowed, node) ? when_empty(node) : 0;
        };
        const Together together = most_together(job_.tasks_min, tasks_on);
        if (together.tasks < job_.tasks_min) return with_domain(Cause::NeverFitsDomain, together);
        const auto shortage = group_shortage(tasks_on);
        return shortage && shortage->is_proved && with_group(Cause::NeverFitsGroup, *shortage);
    }

    // Whether it waits for nothing but tasks standing together.
    bool is_too_far_apart() {
        if (!requires_level() && !has_groups()) return false;
        const auto anywhere = fill(view_, job_, job_.ask(), View::Idle, {});
        if (std::ssize(anywhere) < job_.ask()) return false;
        const auto tasks_on = [&](NodeId node) { return now_on(node); };
        Together together = most_together(job_.ask(), tasks_on);
        if (together.tasks < job_.ask()) {
            with_domain(Cause::NotTogetherInDomain, together);
        } else {
            const auto shortage = group_shortage(tasks_on);
            if (!shortage) return false;
            with_group(Cause::GroupNotTogether, *shortage);
            together.region = shortage->region;
        }
        add_holders(cluster::kRoot, false, together.region);
        return true;
    }

    // In which domain of the required level would most of these tasks fit? Of equal ones the
    // first.
    struct Together {
        Region region = {};
        int tasks = 0;
    };
    Together most_together(int tasks, const std::function<int(NodeId)>& tasks_on) const {
        Together together{cluster::Region{DomainId{}, {}}, 0};
        for (const Region& region : regions()) {
            std::int64_t current = 0;
            const auto add = [&](NodeId node) { current += tasks_on(node); };
            if (region.is_whole_pool()) {  // with those that are to join it
                std::ranges::for_each(nodes_, add);
            } else {
                cluster::visit_nodes(view_.cluster, view_.pool, region, add);
            }
            const int fit = static_cast<int>(std::min<std::int64_t>(current, tasks));
            if (together.region.is_nowhere() || fit > together.tasks) together = {region, fit};
        }
        return together;
    }

    // What keeps its groups from a place where nodes take this many tasks: reported of the domain
    // of the required level where least is missing.
    std::optional<GroupShortage> group_shortage(const std::function<int(NodeId)>& tasks_on) const {
        if (!has_groups()) return {};
        const cluster::Ranks ranks = cluster::next_ranks(shape_, job_, job_.ask());
        std::optional<GroupShortage> least;
        bool is_proved = true;
        for (const Region& region : regions()) {
            GroupRoom groups(view_, job_, region, tasks_on);
            if (groups.find(ranks, job_.ask())) return {};
            const GroupShortage& current = groups.shortage();
            is_proved &= current.is_proved;
            if (!least || current.missing() < least->missing()) least = current;
        }
        if (least) least->is_proved = is_proved;
        return least;
    }

    // Where all its tasks may stand, one or the other.
    std::vector<Region> regions() const {
        return requires_level() ? required_regions(view_, job_) : std::vector{Region{}};
    }

    bool has_groups() const { return !shape_.groups.empty(); }
    bool requires_level() const { return shape_.required >= 0; }

    bool with_domain(Cause cause, const Together& together) {
        verdict_.tasks_fit = together.tasks;
        const Region& where = together.region;
        verdict_.scope = where.is_nowhere() ? "" : name_of(view_.cluster, where, view_.pool);
        return with(cause, shape_.topology.required);
    }

    bool with_group(Cause cause, const GroupShortage& shortage) {
        const auto& group = shape_.topology.groups[shortage.group];
        with_domain(cause, {shortage.region, shortage.fitting});
        verdict_.group = group.name;
        verdict_.tasks_asked = shortage.tasks;
        return with(cause, group.level);
    }

    bool is_denied() {
        const auto denial = quota_gate(view_, job_, counted_);
        if (!denial) return false;
        verdict_.asks = counted_;
        add(verdict_, view_, *denial);
        if (denial->cause != Cause::SetAsideForFixedQuotas)
            add_holders(denial->at, is_of_not_preemptible(denial->cause));
        return true;
    }

    // It fits, and yet the decision did not start it.
    bool is_kept_for_others() {
        const ReservedBefore reserved = reserved_before(view_, plan_, job_);
        if (reserved.fits_beside) return with(Cause::NotEvaluated);
        verdict_.bound = reserved.gpus;
        for (const JobId gang : reserved.gangs) add_blocker(gang);
        return with(Cause::KeptForBackfill);
    }

    bool tells_share_is_kept() {
        const std::vector<JobId> gangs = gangs_with_the_share(view_, plan_, job_);
        for (const JobId gang : gangs) add_blocker(gang);
        return !gangs.empty() && with(Cause::ShareKeptForBackfill);
    }

    bool is_behind_others() {
        const std::vector<Served> served = served_in(view_, plan_);
        if (!tell_who_was_first(verdict_, view_, job_, served)) return false;
        for (const auto& [job, grows] : served) add_blocker(job);
        return true;
    }

    // Whether it would fit if nothing were promised.
    bool is_promised_to_others() {
        if (view_.cluster.reserved_jobs().empty()) return false;
        const cluster::Trial trial(view_.cluster);
        const auto holders = view_.cluster.reserved_jobs();
        for (const JobId holder : holders) view_.cluster.drop_reservation(holder);
        if (!place(view_, job_, job_.ask(), View::Idle)) return false;
        for (const JobId holder : holders) add_blocker(holder);
        return with(Cause::ReservedForOther);
    }

    bool would_fit_if_healthy() {
        const auto down = nodes_where(view_, [&](const cluster::NodeState& node, NodeId) {
            return !node.is_ready && view_.cluster.allows(job_.shape, node.kind);
        });
        if (down.empty()) return false;
        const auto tasks_on = [&](NodeId node) {
            return std::ranges::binary_search(down, node) ? slots_when_back(node) : now_on(node);
        };
        const Together together = most_together(job_.ask(), tasks_on);
        if (together.tasks < job_.ask() || group_shortage(tasks_on)) return false;
        const auto first = std::ranges::find_if(down, [&](NodeId node) {
            return view_.is_in(together.region, node) && slots_when_back(node) > 0;
        });
        if (first == down.end()) return false;
        return with_node(view_.misplaced(*first) ? Cause::NodesJoin : Cause::NodesAway, *first);
    }

    int slots_when_back(NodeId node) const {
        if (view_.misplaced(node)) return when_empty(node);  // it joins then
        return scheduling::slots_when_back(view_, job_.shape, node, job_.ask());
    }

    bool is_by_memory() const {
        return shape_.request.gpus > 0 && shape_.request.gpu_memory > model::Bytes{0};
    }

    // What it asks of a GPU and what is left of the one where the smallest part of that is missing.
    void tell_parts() {
        if (!is_by_memory()) return;
        const Cluster& cluster = view_.cluster;
        std::optional<std::pair<MilliGpu, MilliGpu>> nearest;  // what it has of what is asked
        for (const NodeId node : nodes_) {
            const cluster::NodeState& state = cluster.nodes()[node.index()];
            if (!state.is_ready || !cluster.allows(job_.shape, state.kind)) continue;
            const model::GpuPart part = cluster.part_on(job_.shape, node);
            for (int gpu = 0; gpu < state.gpus; ++gpu) {
                const model::GpuPart left = cluster.free_part(View::Idle, node, gpu);
                const auto enough = [](std::int64_t has, std::int64_t asked) {
                    return model::part_rounded_down({std::min(has, asked)}, {asked});
                };
                const MilliGpu compute = enough(left.compute.value, part.compute.value);
                const MilliGpu memory = enough(left.memory.value, part.memory.value);
                const std::pair current{std::min(compute, memory), std::max(compute, memory)};
                if (nearest && current <= *nearest) continue;
                nearest = current;
                verdict_.compute_asked = part.compute, verdict_.memory_asked = part.memory;
                verdict_.compute_left = left.compute, verdict_.memory_left = left.memory;
            }
        }
    }

    // Enough GPUs are idle, and do not do.
    void tell_what_lacks() {
        if (are_others_in_the_way(nodes_, job_.ask(), Moment::Now)) return;
        add_all_holders();
        if (is_bound_by_host_quotas(view_, job_, counted_, verdict_)) return;
        if (const NodeId node = job_.pinned.node; node.is_valid()) {
            with_node(Cause::NotOnPinnedNode, node);
        } else if (const auto lack =
                       lack_beside(view_, job_.shape, job_.ask(), nodes_, Moment::Now)) {
            with(lack->cause, lack->what);
        } else if (is_choosy()) {
            with(Cause::NodeKindTaken);
        } else {
            with(verdict_.tasks_fit > 0 ? Cause::GangDoesNotFit : Cause::NotTogetherOnNode);
        }
    }

    // Whether it is the node that matters, not its GPUs alone.
    bool is_choosy() const {
        if (!shape_.gpu_model.empty() || !shape_.labels.empty()) return true;
        return !shape_.filter.any_of.empty() || std::ranges::any_of(nodes_, [&](NodeId node) {
            const std::uint16_t kind = view_.cluster.nodes()[node.index()].kind;
            const auto& taints = view_.cluster.kinds()[kind].example.taints;
            return model::not_tolerated(taints, shape_.tolerations) != nullptr;
        });
    }

    // Too few GPUs are idle, and none is made free.
    void tell_who_holds() {
        const MilliGpu fair = view_.shares.fair[job_.project.index()];
        const MilliGpu allocated = view_.allocated(job_.project);
        const bool others_hold = view_.allocated(cluster::kRoot) > allocated;
        if (may_reclaim(view_, job_, counted_) && tells_share_is_kept()) return;
        if (const auto wait = held_back(view_, job_, counted_)) {
            verdict_.used = wait->in_use;
            verdict_.until = wait->until;
            with(wait->cause);
        } else if (are_others_in_the_way(nodes_, job_.ask(), Moment::Now)) {
            return;
        } else if (others_hold && allocated + counted_ > fair) {
            verdict_.used = allocated, verdict_.bound = fair, verdict_.asks = counted_;
            with(Cause::AboveFairShare);
        } else {
            with(Cause::NotEnoughFree);
        }
        add_all_holders();
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
            for (ProjectId at = job.project; at.is_valid(); at = view_.parent(at))
                is_below |= at == top;
            if (!is_below) continue;
            std::int64_t in_use = 0;
            for (const auto& task : job.placed) {
                if (!cluster::is_in(view_.cluster, where, task.place.node)) continue;
                in_use += task.place.gpus().value;
            }
            if (in_use > 0 || where.is_whole_pool()) holders.emplace_back(-in_use, id);
        }
        std::ranges::sort(holders);
        for (const auto& [in_use, id] : holders) add_blocker(id);
    }
    void add_all_holders() { add_holders(cluster::kRoot); }

    const PoolView& view_;
    const Job& job_;
    const Plan& plan_;
    const cluster::Shape& shape_;
    const std::vector<NodeId> nodes_;  // of the pool
    const MilliGpu counted_;  // what it asks, as GPUs count in quotas and shares
    Verdict verdict_;
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
    std::vector<std::optional<Verdict>> standing;
    for (const JobId id : jobs) {
        standing.push_back(standing_verdict(cluster, plan, cluster.job(id)));
        if (standing.back()) standing.back()->at = now;
    }
    for (const model::Pause& pause : plan.pauses) {
        if (!pause.is_wasteful) continue;
        before[cluster.job(pause.job).pool.index()].wasted_gpu_ms += pause.cost.unsaved_gpu_ms;
    }
    const cluster::Trial trial(cluster);
    carry_out(cluster, plan);
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        // Reported of the first pool it names that could ever take it, else of the first.
        const Job& job = cluster.job(jobs[i]);
        std::optional<Verdict> shown = standing[i];
        const auto pools = standing[i] ? std::span<const base::PoolId>() : cluster.pools_of(job);
        for (const base::PoolId pool : pools) {
            // Fair shares are the same before and after (pool_view.h).
            Verdict current = Explainer(before[pool.index()], job, plan).run(fitted_before[i]);
            const bool is_possible = current.reason != model::Reason::NeverFits &&
                                     current.reason != model::Reason::ModelMismatch;
            if (!shown || is_possible) shown = std::move(current);
            if (is_possible) break;
        }
        verdicts.push_back(*shown);
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
