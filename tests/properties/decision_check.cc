// SPDX-License-Identifier: Apache-2.0
#include "decision_check.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>

#include "base/rng.h"
#include "group_rule.h"
#include "judge.h"
#include "node_moves_check.h"
#include "scheduling/shares/fair_share.h"
#include "state_check.h"

namespace berth::proof {
namespace {

using cluster::Job;
using cluster::View;
using model::Plan;
using model::Rule;

// Sets of victims are tried exhaustively up to this many pieces, by samples beyond.
constexpr std::size_t kPiecesAll = 10;
constexpr int kSamples = 40;
constexpr int kOrders = 1000;  // of starts and promises

// A plan says in which order jobs start and are promised GPUs, but not how many had started when
// a promise was made; limits and what may be taken depend on it.
enum class Step { Start, Reserve };
using Order = std::vector<Step>;

enum class Drops { First, WithPause };  // who is paused lost its promise before, or by it

std::string name(JobId job) { return "job " + std::to_string(job.value); }

bool is_from_idle(const model::Start& start) { return start.rule != Rule::Hold; }

class Replay {
  public:
    Replay(const lifecycle::State& before, const model::Policy& policy, model::TimePoint now,
           const Plan& plan, DecisionStats& stats)
        : cluster_(before.cluster), policy_(policy), now_(now), plan_(plan), stats_(stats) {
        cluster::keep_ranks(cluster_, policy.order, now);
    }

    std::vector<std::string> run(const Order& order, Drops drops) {
        ++stats_.decisions;
        stats_.starts += std::ssize(plan_.starts);
        start_from_holds(drops);
        for (std::size_t i = 0; i < cluster_.pools().size(); ++i) {
            const base::PoolId pool{static_cast<base::PoolId::Rep>(i)};
            shares_.push_back(rule_shares(cluster_, pool, policy_, now_));
            check_shares(pool);
            before_.push_back(judge(pool).room(View::Coming));
        }
        follow(order);
        for (const auto& pause : plan_.pauses) {
            if (pause.rule == Rule::Stale) {
                release(pause);
            } else if (!paused_.contains({pause.beneficiary, pause.job})) {
                report("I6: " + name(pause.job) + " is paused for " + name(pause.beneficiary) +
                       ", which is promised nothing");
            }
        }
        for (std::size_t i = 0; i < cluster_.pools().size(); ++i) {
            const base::PoolId pool{static_cast<base::PoolId::Rep>(i)};
            check_bounds(pool);
            if (plan_.pauses.empty() && plan_.moves.empty() && plan_.reservations.empty())
                check_refusals(pool);
        }
        return std::move(found_);
    }

  private:
    void report(const std::string& what) { found_.push_back(what); }

    Judge judge(base::PoolId pool) const {
        return {cluster_,
                policy_,
                now_,
                pool,
                shares_.size() > pool.index() ? shares_[pool.index()] : RuleShares{},
                fresh_,
                started_reserved_};
    }

    base::PoolId pool_of(const std::vector<model::TaskPlacement>& tasks) const {
        return cluster_.nodes()[tasks.front().node.index()].pool;
    }

    // Promises that ran out are void, ripe ones are kept: all before shares are looked at.
    void start_from_holds(Drops drops) {
        // A job that is paused loses an older promise at that very moment or before anything else;
        // the plan does not say which, so how few are paused is not asked then.
        for (const auto& pause : plan_.pauses) {
            is_sequence_known_ &= !cluster_.job(pause.job).reservation.has_value();
        }
        // While a gang books, the plan does not say what was kept from whom at which moment.
        is_sequence_known_ &= std::ranges::none_of(cluster_.jobs(), [&](const auto& entry) {
            const Job& job = entry.second;
            return policy_.backfill_max > 0 && job.active == 0 && job.is_waiting() &&
                   job.waiting_since + policy_.backfill_after <= now_ &&
                   cluster_.shape(job.shape).request.gpus * job.ask() > 1;
        });
        for (const JobId job : plan_.dropped) {
            if (drops == Drops::WithPause && is_paused(job)) continue;
            if (!cluster_.job(job).reservation) {
                report("a hold is dropped that " + name(job) + " does not have");
            } else {
                cluster_.drop_reservation(job);
            }
        }
        for (const auto& start : plan_.starts) {
            if (start.rule != Rule::Hold) continue;
            if (!cluster_.job(start.job).reservation ||
                cluster_.job(start.job).reservation->tasks != start.tasks) {
                report("I6: " + name(start.job) + " starts on a promise it does not have");
                continue;
            }
            if (cluster_.job(start.job).active == 0) started_reserved_.insert(start.job);
            cluster_.drop_reservation(start.job);
            cluster_.place(start.job, pool_of(start.tasks), start.tasks);
            winners_.insert(start.job);
        }
    }

    bool is_paused(JobId job) const {
        return std::ranges::find(plan_.pauses, job, &model::Pause::job) != plan_.pauses.end() ||
               std::ranges::find(plan_.moves, job, &model::Move::job) != plan_.moves.end();
    }

    void release(const model::Pause& pause) {
        if (cluster_.job(pause.job).reservation) cluster_.drop_reservation(pause.job);
        cluster_.release(pause.job, pause.tasks);
    }

    void follow(const Order& order) {
        auto start = plan_.starts.begin();
        auto reservation = plan_.reservations.begin();
        if (reservation == plan_.reservations.end()) check_moves_are_promised();
        for (const Step step : order) {
            if (step == Step::Start) {
                start = std::find_if(start, plan_.starts.end(), is_from_idle);
                start_from_idle(*start++);
                continue;
            }
            reserve(*reservation++);
            if (reservation == plan_.reservations.end()) check_moves_are_promised();
        }
    }

    void check_moves_are_promised() {
        for (const auto& move : plan_.moves) {
            if (move.rule != Rule::Consolidate) arrive(move);
            if (paused_.contains({move.beneficiary, move.job})) continue;
            report("I6: " + name(move.job) + " moves for " + name(move.beneficiary) +
                   ", which is promised nothing");
        }
    }

    void start_from_idle(const model::Start& start) {
        const Job& job = cluster_.job(start.job);
        if (!job.may_run) report(name(job.id) + " starts although it may not run");
        check_places(job, start.tasks);
        if (job.active == 0) fresh_.insert(start.job);
        cluster_.place(start.job, pool_of(start.tasks), start.tasks);
        winners_.insert(start.job);
        gained_.insert(job.project);
    }

    void check_places(const Job& job, const std::vector<model::TaskPlacement>& tasks) {
        check_together(job, tasks);
        for (const auto& task : tasks) {
            const auto& node = cluster_.nodes()[task.node.index()];
            const auto pools = cluster_.pools_of(job);
            const bool in_pool = std::ranges::find(pools, node.pool) != pools.end();
            const auto& request = cluster_.shape(job.shape).request;
            const model::Node description = cluster_.description(task.node);
            const Part part{task.share.value, task.gpu_memory.value};
            const bool counts_as_ruled = std::max(task.share, task.memory_share).value ==
                                         least_share(part, given_memory(description));
            const bool as_asked = std::popcount(task.gpu_mask) == request.gpus &&
                                  part == rule_part(request, description) && counts_as_ruled;
            if (!node.is_ready || !in_pool || !as_asked || !cluster_.allows(job.shape, node.kind)) {
                report("I1: " + name(job.id) + " is placed where it cannot run");
            }
        }
    }

    // R13: what is required is kept, what is preferred is left only where there is no room.
    void check_together(const Job& job, const std::vector<model::TaskPlacement>& tasks) {
        // Who is frozen goes on where its processes are, whatever domain its node is in now.
        if (job.pinned.node.is_valid()) return;
        const model::TopologyRequest& topology = cluster_.shape(job.shape).topology;
        std::set<base::NodeId> nodes;
        for (const auto& task : tasks) nodes.insert(task.node);
        for (const auto& task : job.placed) {
            if (!task.is_releasing) nodes.insert(task.place.node);
        }
        const base::PoolId pool = pool_of(tasks);
        const Judge judge = this->judge(pool);
        const auto together = [&](const auto& level, const auto& here) {
            return judge.are_together(level, here);
        };
        for (const std::string& broken : broken_groups(cluster_, job, tasks, together)) {
            report(name(job.id) + ", " + broken);
        }
        if (!judge.are_together(topology.required, nodes)) {
            report("R13: " + name(job.id) + " does not stand in one " + topology.required);
        }
        // A start that also grows says more places than were looked for at once.
        const bool is_one_step = job.active == 0 && std::ssize(tasks) == job.tasks_min;
        const std::string level = judge.preferred_by(job);
        if (!is_one_step || !is_sequence_known_ || judge.are_together(level, nodes)) return;
        const Want want = judge.want(job, Rule::Allocate);
        if (judge.fits_at(level, judge.room(View::Idle), want)) {
            report("R13: " + name(job.id) + " could stand in one " + level);
        }
    }

    void reserve(const model::Reservation& reservation) {
        const Job& job = cluster_.job(reservation.job);
        const base::PoolId pool = pool_of(reservation.tasks);
        if (!job.may_run) report(name(job.id) + " is promised GPUs although it may not run");
        check_places(job, reservation.tasks);
        const std::vector<model::Pause> pauses = leaving_for(job.id);
        if (reservation.rule == Rule::Consolidate) {
            check_moves(reservation, pool, pauses);
        } else if (reservation.rule != Rule::Allocate) {
            check_eviction(reservation, pool, pauses);
        }
        for (const model::Pause& pause : pauses) {
            paused_.insert({pause.beneficiary, pause.job});
            if (winners_.contains(pause.job)) {
                report(name(pause.job) + " gains and loses in one plan");
            }
            release(pause);
        }
        winners_.insert(job.id);
        gained_.insert(job.project);
        cluster_.reserve(job.id, pool, reservation.tasks, {}, reservation.rule);
        for (const auto& move : plan_.moves) {
            if (move.rule == Rule::Consolidate && move.beneficiary == job.id) arrive(move);
        }
    }

    // Who leaves for the job, for good or for another place.
    std::vector<model::Pause> leaving_for(JobId beneficiary) const {
        std::vector<model::Pause> leaving;
        for (const auto& pause : plan_.pauses) {
            if (pause.beneficiary == beneficiary) leaving.push_back(pause);
        }
        for (const auto& move : plan_.moves) {
            if (move.beneficiary != beneficiary) continue;
            model::Pause pause{move.job,        {}, true, move.rule, beneficiary, move.cost,
                               move.is_wasteful};
            for (const auto& task : cluster_.job(move.job).placed) {
                if (!task.is_releasing) pause.tasks.push_back(task.place.task);
            }
            leaving.push_back(std::move(pause));
        }
        return leaving;
    }

    // The job that moved is promised its new place; that it fits there is checked by the cluster.
    void arrive(const model::Move& move) {
        const Job& job = cluster_.job(move.job);
        ++stats_.moves;
        check_places(job, move.tasks);
        if (job.active > 0) report("I2: " + name(job.id) + " moves only in part");
        if (!job.may_run) report(name(job.id) + " moves although it may not run there");
        cluster_.reserve(job.id, pool_of(move.tasks), move.tasks, {}, move.rule);
    }

    // R5: who moves, at which price, and only jobs that are in the way.
    void check_moves(const model::Reservation& reservation, base::PoolId pool,
                     const std::vector<model::Pause>& leaving) {
        const Judge judge = this->judge(pool);
        const Room room = judge.room(View::Coming);
        const Job& job = cluster_.job(reservation.job);
        const Want want = judge.want(job, Rule::Consolidate);
        const std::string who = name(job.id);
        if (!job.preemptible || job.active > 0) report("R5: others move for " + who);
        if (std::ssize(leaving) > policy_.moves_max) report("R5: too many move for " + who);
        if (!judge.passes_gates(room, want)) report("R5: " + who + " may not have so much");
        if (judge.is_out_of_budget(room, want, planned_waste_[pool])) {
            report("waste: others move for " + who + " although the budget is spent");
        }
        std::vector<JudgedPiece> taken;
        std::int64_t expected = 0;
        for (const model::Pause& pause : leaving) {
            const Job& migration = cluster_.job(pause.job);
            if (!migration.preemptible) report("R5: " + name(migration.id) + " cannot be moved");
            JudgedPiece piece{.job = migration.id,
                              .project = migration.project,
                              .priority_key = migration.priority_key(),
                              .tasks = {},
                              .is_core = true};
            for (const auto& task : migration.placed) piece.tasks.push_back(task.place);
            taken.push_back(std::move(piece));
            expected += pause.cost.restart_gpu_ms;
            if (!migration.saves_when_asked) expected += pause.cost.unsaved_gpu_ms;
            planned_waste_[pool] += pause.cost.unsaved_gpu_ms;
            if (!pause.is_wasteful) report("waste: a move for " + who + " is marked");
        }
        if (!judge.helps(room, want, taken)) report("R5: " + who + " does not fit");
        for (std::size_t i = 0; i < taken.size(); ++i) {
            std::vector<JudgedPiece> fewer = taken;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (judge.helps(without_kept(room, plan_, job.id), want, fewer)) {
                report("R5: " + name(taken[i].job) + " moves for nothing");
            }
        }
        const std::int64_t gpus = cluster_.footprint(job.shape, pool).value * want.tasks;
        const std::int64_t lost = gpus * (now_ - job.waiting_since).count() / 1000;
        if (policy_.priced_moves && expected > lost) {
            report("R5: moves for " + who + " cost " + std::to_string(expected) + ", it lost " +
                   std::to_string(lost));
        }
    }

    void check_eviction(const model::Reservation& reservation, base::PoolId pool,
                        const std::vector<model::Pause>& pauses) {
        ++stats_.preemptions;
        const Judge judge = this->judge(pool);
        const Room room = judge.room(View::Coming);
        const Want want = judge.want(cluster_.job(reservation.job), reservation.rule);
        const std::string who = name(reservation.job);
        if (want.tasks != std::ssize(reservation.tasks))
            report("I2: " + who + " is promised a part");
        if (!judge.may_ask(room, want)) report("R6: " + who + " has no right to take back");
        if (judge.is_delayed(want)) report("R12: a job is paused for " + who + " too early");
        if (judge.is_out_of_budget(room, want, planned_waste_[pool])) {
            report("waste: a job is paused for " + who + " although the budget is spent");
        }
        const bool is_owner = want.rule == Rule::Reclaim && judge.is_owner(room, want);
        for (const model::Pause& pause : pauses) {
            if (pause.is_wasteful == is_owner) report("waste: a pause for " + who + " is marked");
            if (!is_owner) planned_waste_[pool] += pause.cost.unsaved_gpu_ms;
        }
        const std::vector<JudgedPiece> all = judge.pieces(want);
        std::vector<JudgedPiece> taken;
        for (const model::Pause& pause : pauses) take(all, pause, taken);
        if (const auto objection = judge.objection(room, want, taken)) {
            report(*objection + " for " + who);
        }
        if (!judge.helps(room, want, taken)) report("I6: " + who + " does not fit after all");
        if (!is_sequence_known_) return;
        // Whether the job might use what is kept for others is left to scenarios.
        const Room left = without_kept(room, plan_, want.job->id);
        check_minimal(judge, left, want, taken);
        const bool is_cheapest = policy_.cheapest_victims && !judge.goes_by_rank(want);
        if (!is_cheapest || all.size() > kPiecesAll) return;
        ++stats_.sets_tried;
        // No project both gains and loses in one plan.
        const auto best = judge.cheapest(left, want, winners_);
        if (best && *best < judge.price(taken, all, judge.comebacks(left, want))) {
            report("I7: " + who + " could start at a cost of " + text_of(*best));
        }
    }

    // The pieces of one pause: the first ones of its job, as many as it has tasks.
    void take(const std::vector<JudgedPiece>& all, const model::Pause& pause,
              std::vector<JudgedPiece>& taken) {
        std::set<int> ranks(pause.tasks.begin(), pause.tasks.end());
        std::int64_t cost = 0;
        for (const JudgedPiece& piece : all) {
            if (piece.job != pause.job || ranks.empty()) continue;
            for (const auto& task : piece.tasks) {
                if (ranks.erase(task.task) == 0) {
                    report("R8: " + name(pause.job) + " loses tasks out of order");
                }
            }
            taken.push_back(piece);
            cost += piece.cost;
        }
        if (!ranks.empty()) report("R8: " + name(pause.job) + " may not lose these tasks");
        const bool is_all = std::ssize(pause.tasks) == cluster_.job(pause.job).active;
        if (is_all != pause.whole_job) report("R8: " + name(pause.job) + " is it paused or not?");
        if (cost != pause.cost.unsaved_gpu_ms + pause.cost.restart_gpu_ms) {
            report("the cost of pausing " + name(pause.job) + " is " + std::to_string(cost));
        }
    }

    void check_minimal(const Judge& judge, const Room& room, const Want& want,
                       const std::vector<JudgedPiece>& taken) {
        for (std::size_t i = 0; i < taken.size(); ++i) {
            const bool is_last_of_job = i + 1 == taken.size() || taken[i + 1].job != taken[i].job;
            if (!is_last_of_job) continue;
            std::vector<JudgedPiece> fewer = taken;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (!judge.objection(room, want, fewer) && judge.helps(room, want, fewer)) {
                report("I7: " + name(taken[i].job) + " is paused for " + name(want.job->id) +
                       " for nothing");
            }
        }
    }

    void check_shares(base::PoolId pool) {
        const auto shares = scheduling::fair_shares(cluster_, pool, policy_, now_);
        for (std::size_t i = 0; i < cluster_.projects().size(); ++i) {
            if (shares.fair[i].value == shares_[pool.index()].fair[i]) continue;
            report("R1: project " + cluster_.projects()[i].project.name + " has a share of " +
                   std::to_string(shares.fair[i].value) + ", by the rule " +
                   std::to_string(shares_[pool.index()].fair[i]));
        }
    }

    // I3 where the plan gave something.
    void check_bounds(base::PoolId pool) {
        const Room now = judge(pool).room(View::Coming);
        const Room& then = before_[pool.index()];
        for (std::size_t i = 1; i < cluster_.projects().size(); ++i) {
            const cluster::Claim& claim = cluster_.pool(pool).claims[i];
            const std::string& project = cluster_.projects()[i].project.name;
            if (now.allocated[i] > then.allocated[i] && now.allocated[i] > claim.limit.value) {
                report("I3: " + project + " goes above its limit");
            }
            if (now.not_preemptible[i] > then.not_preemptible[i] &&
                now.not_preemptible[i] > claim.quota.value) {
                report("I3: " + project + " goes above its quota with work that stays");
            }
        }
        if (const auto broken = judge(pool).broken_host_bound(then, now)) report(*broken);
        // What a fixed project moves from a drained node to another is not lent by anybody.
        const bool all_ready =
            std::ranges::all_of(cluster_.nodes(), [](const auto& node) { return node.is_ready; });
        if (all_ready) check_set_aside(pool, now);
    }

    // What fixed quotas do not use is still there for them when another has gained.
    void check_set_aside(base::PoolId pool, const Room& now) {
        const auto is_fixed = [&](ProjectId project) {
            return project != cluster::kRoot &&
                   cluster_.claim(pool, project).rights.kind == model::QuotaKind::Fixed;
        };
        for (const ProjectId winner : gained_) {
            ProjectId roof = winner;
            while (roof != cluster::kRoot && !is_fixed(roof)) {
                roof = cluster_.projects()[roof.index()].parent;
            }
            if (roof == winner) continue;
            std::int64_t unused = 0;
            const auto sum = [&](auto&& self, ProjectId at) -> void {
                for (const ProjectId child : cluster_.projects()[at.index()].children) {
                    if (!is_fixed(child)) {
                        self(self, child);
                        continue;
                    }
                    unused += std::max<std::int64_t>(
                        shares_[pool.index()].quota[child.index()] - now.allocated[child.index()],
                        0);
                }
            };
            sum(sum, roof);
            std::int64_t there = judge(pool).room_of_pool(now);
            if (roof != cluster::kRoot) {
                there = cluster_.claim(pool, roof).limit.value - now.allocated[roof.index()];
            }
            const bool gained_here =
                now.allocated[winner.index()] > before_[pool.index()].allocated[winner.index()];
            // Parts of compute and parts of memory may sum to more than the pool has.
            if (gained_here && unused > std::max<std::int64_t>(there, 0)) {
                report("I3: " + cluster_.projects()[winner.index()].project.name +
                       " is lent what is set aside");
            }
        }
    }

    // When no job is paused, no waiting job may have a legal set of victims. Projects that gain by
    // this plan are left out: a side can come to hold more than its due by that, and then lose
    // more. The next decision is asked about it.
    void check_refusals(base::PoolId pool) {
        const Judge judge = this->judge(pool);
        for (const auto& [id, job] : cluster_.jobs()) {
            if (!job.is_waiting() ||
                (job.grows_by_restart() && judge.is_young(job, Rule::Preempt, job.project)))
                continue;
            const auto pools = cluster_.pools_wanted(job);
            if (std::ranges::find(pools, pool) == pools.end()) continue;
            const Room room = without_kept(judge.room(View::Coming), plan_, id);
            for (const Rule rule : {Rule::Reclaim, Rule::Preempt}) {
                const Want want = judge.want(job, rule);
                if (!judge.may_ask(room, want) || judge.is_delayed(want)) continue;
                if (judge.is_out_of_budget(room, want, 0)) continue;
                // It needs no job to leave: what keeps it is a backfill reservation, or I10 finds
                // it.
                if (judge.fits(room, want)) continue;
                ++stats_.refusals_proved;
                if (!has_legal_set(judge, room, want)) continue;
                report((judge.is_owner(room, want) ? "I9: " : "R6/R7: ") + name(id) +
                       " waits although a job may be paused for it by " +
                       (rule == Rule::Reclaim ? "reclaim" : "preempt"));
            }
        }
    }

    bool has_legal_set(const Judge& judge, const Room& room, const Want& want) const {
        std::vector<JudgedPiece> all = judge.pieces(want);
        std::erase_if(all,
                      [&](const JudgedPiece& piece) { return gained_.contains(piece.project); });
        if (all.size() <= kPiecesAll) {
            return any_set(all, [&](const std::vector<JudgedPiece>& taken) {
                return !judge.objection(room, want, taken) && judge.helps(room, want, taken);
            });
        }
        base::Rng rng(static_cast<std::uint64_t>(want.job->id.value));
        for (int sample = 0; sample < kSamples; ++sample) {
            if (sample_helps(judge, room, want, all, rng)) return true;
        }
        return false;
    }

    // Takes jobs piece by piece in a random order for as long as that is legal.
    bool sample_helps(const Judge& judge, const Room& room, const Want& want,
                      const std::vector<JudgedPiece>& all, base::Rng& rng) const {
        std::vector<std::size_t> next;  // first piece of each job, then the one after it
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i == 0 || all[i - 1].job != all[i].job) next.push_back(i);
        }
        std::vector<JudgedPiece> taken;
        while (!next.empty()) {
            const std::size_t which = rng.index(next.size());
            const std::size_t piece = next[which];
            taken.push_back(all[piece]);
            const bool more = piece + 1 < all.size() && all[piece + 1].job == all[piece].job;
            if (judge.objection(room, want, taken)) {
                taken.pop_back();
                next.erase(next.begin() + static_cast<std::ptrdiff_t>(which));
                continue;
            }
            if (judge.helps(room, want, taken)) return true;
            if (more) {
                next[which] = piece + 1;
            } else {
                next.erase(next.begin() + static_cast<std::ptrdiff_t>(which));
            }
        }
        return false;
    }

    cluster::Cluster cluster_;
    const model::Policy& policy_;
    model::TimePoint now_;
    const Plan& plan_;
    DecisionStats& stats_;
    std::vector<RuleShares> shares_;  // by pool
    std::map<base::PoolId, std::int64_t> planned_waste_;
    std::vector<Room> before_;  // by pool, ripe promises kept
    std::set<JobId> fresh_, started_reserved_;
    std::set<JobId> winners_;
    std::set<ProjectId> gained_;
    std::set<std::pair<JobId, JobId>> paused_;  // beneficiary, victim
    std::vector<std::string> found_;
    bool is_sequence_known_ = true;
};

// Nothing where some order explains the plan, otherwise what is wrong when all starts come first.
std::vector<std::string> check_orders(const lifecycle::State& before, const model::Policy& policy,
                                      model::TimePoint now, const Plan& plan,
                                      DecisionStats& stats) {
    Order order(static_cast<std::size_t>(std::ranges::count_if(plan.starts, is_from_idle)),
                Step::Start);
    order.resize(order.size() + plan.reservations.size(), Step::Reserve);
    const auto found = Replay(before, policy, now, plan, stats).run(order, Drops::First);
    std::ranges::reverse(order);  // what explains most of the others: all starts come last
    for (int tried = 0; !found.empty() && tried < kOrders; ++tried) {
        for (const Drops drops : {Drops::First, Drops::WithPause}) {
            DecisionStats again;
            if (Replay(before, policy, now, plan, again).run(order, drops).empty()) return {};
        }
        if (!std::ranges::prev_permutation(order).found) break;
    }
    return found;
}

}  // namespace

std::vector<std::string> check_decision(const lifecycle::State& before, const model::Policy& policy,
                                        model::TimePoint now, const Plan& plan,
                                        const lifecycle::State& after, DecisionStats& stats) {
    stats.node_moves += std::ssize(plan.node_moves);
    std::vector<std::string> found = check_node_moves(before.cluster, plan, now);
    if (plan.node_moves.empty()) {
        std::ranges::move(check_orders(before, policy, now, plan, stats),
                          std::back_inserter(found));
    }
    std::ranges::move(check_state(after), std::back_inserter(found));
    for (const auto& [id, record] : before.jobs) {
        const model::JobRecord* later = after.jobs.get(id);
        if (later != nullptr && later->attained_gpu_ms < record.attained_gpu_ms)
            found.push_back("I12: " + name(id) + " lost service");
    }
    return found;
}

}  // namespace berth::proof
