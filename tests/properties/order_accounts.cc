// SPDX-License-Identifier: Apache-2.0
//
// Is every number true that is shown of the order of jobs (scheduling/explain/order_account.h,
// receipts of pauses, how right the predictor was)?
//   order_accounts [--first SEED] [--seeds N]
// A random log (random_log.h) is folded. At each pause, at each end and in the state that it leads
// to every number shown is recomputed from the state as data: costs by order_recomputed.h, places
// and prices from the lists of jobs. The bound of each wait is held in what-if: time passes on a
// copy in which nothing else happens. Whom a job would have preempted is held against a decision
// and against the verdict on the same cluster.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "order_recomputed.h"
#include "random_log.h"
#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"
#include "scheduling/explain/order_account.h"
#include "seeds.h"

namespace {

using namespace berth;
using cluster::Job;
using model::EvidenceOf;
using model::HeldBackBy;
using model::JobOrder;
using model::OrderAccount;
using model::Turn;

constexpr int kSteps = 60;
constexpr std::uint64_t kSeedsThatMeetAll = 500;

// What there was to recompute: a property of what never happens says nothing.
std::map<std::string, std::int64_t> met;

std::int64_t gpu_ms(std::int64_t milli, model::Duration time) {
    return milli * std::max<std::int64_t>(time.count(), 0) / 1000;
}

std::int64_t held_milli(const Job& job) {
    std::int64_t milli = 0;
    for (const auto& task : job.placed) milli += task.place.gpus().value;
    return milli;
}

// Before: greater priority, then smaller rank; a job that runs whole and only grows comes last.
std::pair<int, std::int64_t> order_in_line(const Job& job) {
    return {-job.priority, job.gang_phase() > 0 ? INT64_MAX : job.rank.value};
}
std::pair<int, std::int64_t> order_of_running(const Job& job) {
    return {-job.priority, job.rank.value};
}

const model::CrowdLedger* crowd_of(const model::OrderLedger& ledger, const std::string& project) {
    const auto found = std::ranges::find(ledger.projects, project, &model::CrowdLedger::project);
    return found == ledger.projects.end() ? nullptr : &*found;
}

// Its own ones, else those of the policy.
model::OrderRules rules_of(const model::OrderLedger& ledger, const std::string& project) {
    const model::CrowdLedger* crowd = crowd_of(ledger, project);
    return crowd == nullptr ? ledger.rules : crowd->rules.value_or(ledger.rules);
}
int last_stage_of(const model::OrderLedger& ledger, const std::string& project) {
    const model::CrowdLedger* crowd = crowd_of(ledger, project);
    return crowd == nullptr ? ledger.last_stage : crowd->last_stage.value_or(ledger.last_stage);
}

const model::ClaimLedger* claim_in(const model::GuardLedger& guard, model::JobId job) {
    const auto found = std::ranges::find(guard.claims, job, &model::ClaimLedger::job);
    return found == guard.claims.end() ? nullptr : &*found;
}

Turn turn_of(const model::OrderLedger& ledger, const std::string& project, model::JobId job) {
    const model::CrowdLedger* crowd = crowd_of(ledger, project);
    Turn turn = Turn::NotDue;
    if (crowd == nullptr) return turn;
    for (const model::GuardLedger* guard : {&crowd->waits, &crowd->fair}) {
        const model::ClaimLedger* claim = claim_in(*guard, job);
        if (claim != nullptr) turn = std::max(turn, claim->number > 0 ? Turn::Granted : Turn::Due);
    }
    return turn;
}

// Of its cost or level, from the ledger.
int stage_of(const lifecycle::State& state, const model::OrderLedger& ledger, const Job& job) {
    const model::RankLedger* rank = proof::find_rank(ledger, job.id);
    const std::string& project = state.jobs.at(job.id).spec.project;
    const JobOrder by = rules_of(ledger, project).by;
    if (rank == nullptr || by == JobOrder::Age) return 0;
    if (by == JobOrder::Learned) {
        const int stage = rank->courses.empty() ? 0 : proof::recomputed_stage(rank->cost);
        return std::min(stage, last_stage_of(ledger, project));
    }
    const auto since = state.cluster.ranks().now - job.attained.counted;
    return proof::recomputed_level(job.attained.gpu_ms + gpu_ms(held_milli(job), since));
}

// All numbers of one state.
class Audit {
  public:
    Audit(lifecycle::State& state, std::vector<std::string>& found)
        : state_(state),
          found_(found),
          ledger_(cluster::order_ledger(state.cluster)),
          policy_(proof::policy_of(state)) {}

    void run() {
        cluster::Cluster copy = state_.cluster;
        const model::Plan plan = scheduling::decide(copy, policy_, copy.ranks().now);
        is_decided_ = plan.is_empty() && plan.node_moves.empty();
        for (const auto& [id, record] : state_.jobs) look_at(record);
        for (const model::CrowdLedger& crowd : ledger_.projects) look_at(crowd);
    }

  private:
    template <typename Shown, typename Wanted>
    void expect(const std::string& what, const Shown& shown, const Wanted& wanted) {
        ++met[what];
        if (shown == wanted) return;
        found_.push_back("event " + std::to_string(state_.sequence) + ", " + whose_ + ": " + what +
                         " shown " + std::to_string(shown) + ", recomputed " +
                         std::to_string(wanted));
    }
    void expect_near(const std::string& what, double shown, double wanted) {
        ++met[what];
        if (std::abs(shown - wanted) <= 0.02 * wanted + 1000) return;
        found_.push_back("event " + std::to_string(state_.sequence) + ", " + whose_ + ": " + what +
                         " shown " + std::to_string(shown) + ", recomputed " +
                         std::to_string(wanted));
    }

    void look_at(const model::JobRecord& record) {
        whose_ = "job " + std::to_string(record.id.value);
        rules_ = rules_of(ledger_, record.spec.project);
        const Job& job = state_.cluster.job(record.id);
        const model::TimePoint now = state_.cluster.ranks().now;
        const OrderAccount shown = scheduling::order_account(state_.cluster, policy_, now, record);
        expect("ranked", shown.is_ranked, job.preemptible);
        if (job.preemptible) {
            expect("order", static_cast<int>(shown.by), static_cast<int>(rules_.by));
            expect("stage", shown.stage, stage_of(state_, ledger_, job));
            expect("turn", static_cast<int>(shown.turn),
                   static_cast<int>(turn_of(ledger_, record.spec.project, job.id)));
            check_cost(shown, record);
            check_changes(shown, job.id);
        }
        if (job.placed.empty() && job.is_waiting()) check_place(shown, job);
        check_bound(shown, job, record);
    }

    void check_cost(const OrderAccount& shown, const model::JobRecord& record) {
        const bool is_learned = rules_.by == JobOrder::Learned;
        expect("cost known", shown.cost_gpu_ms.has_value(), is_learned);
        if (!shown.cost_gpu_ms) return;
        const model::RankLedger* rank = proof::find_rank(ledger_, record.id);
        const proof::RecomputedOrder own = proof::recompute(ledger_, *rank);
        expect("cost counts", shown.cost_counts, own.has_belief);
        if (own.has_belief) expect("cost kept", *shown.cost_gpu_ms, rank->cost);
        expect_near(own.has_belief ? "cost" : "cost of a new job",
                    static_cast<double>(*shown.cost_gpu_ms), own.cost);
        check_evidence(shown.evidence, own, record);
    }

    void check_evidence(const model::OrderEvidence& shown, const proof::RecomputedOrder& own,
                        const model::JobRecord& record) {
        const double most = *std::ranges::max_element(own.believed);
        const auto believed = [&](std::size_t group) { return own.believed[group] >= most - 1e-3; };
        switch (shown.from) {
            case EvidenceOf::None: return expect("no evidence", shown.jobs, own.learned_of_all);
            case EvidenceOf::All:
                expect("by all", believed(0) || own.learned_of_width == 0, true);
                return expect("jobs in all", shown.jobs, own.learned_of_all);
            case EvidenceOf::Width:
                expect("by width", believed(1), true);
                return expect("jobs of its width", shown.jobs, own.learned_of_width);
            default: break;
        }
        const auto likeness =
            static_cast<std::size_t>(shown.from) - static_cast<std::size_t>(EvidenceOf::User);
        expect("by kin", believed(2 + likeness), true);
        const auto is_within = [&](model::Duration apart) {
            return shown.reach == model::Duration{0} || apart <= shown.reach;
        };
        std::int64_t jobs = 0, unfinished = 0;
        for (std::size_t at = 0; at < own.apart[likeness].size(); ++at) {
            if (!is_within(own.apart[likeness][at])) continue;
            ++jobs;
            if (!own.has_ended[likeness][at]) ++unfinished;
        }
        expect("jobs alike", shown.jobs, jobs);
        expect("jobs alike that live", shown.unfinished, unfinished);
        if (unfinished == jobs) ++met["no job alike has ended"];
        // random_log.h names all jobs so.
        const std::string key = shown.from == EvidenceOf::User   ? record.user
                                : shown.from == EvidenceOf::Name ? record.user + " named train-#"
                                                                 : "python train.py";
        expect("key", shown.key == key, true);
    }

    void check_changes(const OrderAccount& shown, model::JobId job) {
        const model::RankLedger* rank = proof::find_rank(ledger_, job);
        expect("at most five changes", shown.changes.size() <= 5, true);
        const bool has_stages = rules_.by != JobOrder::Age;
        expect("changes", shown.changes.size(), has_stages ? rank->stages.size() : 0);
        expect("stage now", shown.changes.empty() ? 0 : shown.changes.back().stage, shown.stage);
        for (std::size_t at = 1; at < shown.changes.size(); ++at) {
            const auto &before = shown.changes[at - 1], &after = shown.changes[at];
            expect("changes in order", before.time <= after.time, true);
            expect("changes differ", before.stage != after.stage, true);
        }
    }

    void check_place(const OrderAccount& shown, const Job& job) {
        const base::PoolId pool = state_.cluster.pools_of(job).front();
        int waiting = 0, ahead = 0, before = 0, higher = 0;
        std::int64_t held = 0;
        const Job* last = nullptr;
        for (const auto& [id, other] : state_.cluster.jobs()) {
            if (other.project != job.project) continue;
            const auto wanted = state_.cluster.pools_wanted(other);
            const auto named = state_.cluster.pools_of(other);
            const bool is_there = other.placed.empty() && !other.reservation
                                      ? other.is_waiting() && std::ranges::count(named, pool) > 0
                                      : other.pool == pool;
            if (other.priority > job.priority && is_there) ++higher;
            if (other.is_waiting() && std::ranges::find(wanted, pool) != wanted.end()) {
                ++waiting;
                const auto key = [](const Job& of) {
                    return std::tuple(order_in_line(of), of.gang_phase(), of.created, of.id);
                };
                if (key(other) < key(job)) ++ahead;
            }
            if (other.placed.empty() || other.pool != pool) continue;
            if (order_of_running(other) <= order_of_running(job)) {
                ++before;
                held += held_milli(other);
            }
            const auto last_key = [](const Job& of) {
                return std::tuple(order_of_running(of), of.gang_phase(), of.created, of.id);
            };
            const bool is_candidate = other.preemptible && other.active > 0;
            if (is_candidate && (last == nullptr || last_key(*last) < last_key(other)))
                last = &other;
        }
        expect("waiting", shown.waiting, waiting);
        expect("position", shown.position, ahead + 1);
        expect("higher priority", shown.jobs_of_higher_priority, higher);
        if (higher > 0) ++met["behind a higher priority"];
        expect("jobs before", shown.jobs_before, before);
        expect("GPUs before", shown.gpus_before.value, held);
        std::int64_t capacity = 0;
        for (std::size_t i = 0; i < state_.cluster.nodes().size(); ++i) {
            const auto& node = state_.cluster.nodes()[i];
            const auto said = state_.cluster.description({static_cast<base::NodeId::Rep>(i)});
            if (node.pool != pool || !node.is_ready) continue;
            capacity += 1000 * std::max(said.gpus - said.others.gpus, 0);
        }
        expect("capacity", shown.capacity.value, capacity);
        if (job.preemptible) check_price(shown, job, last);
    }

    void check_price(const OrderAccount& shown, const Job& job, const Job* last) {
        const bool has_price =
            rules_.by != JobOrder::Age && last != nullptr && last->priority <= job.priority;
        expect("price", shown.price.has_value(), has_price);
        if (!shown.price) return;
        check_held_back(shown, job, *last);
        check_spent_budget(shown, job);
        // Whom the search for victims takes need not be the last one.
        const bool is_found = shown.price->held_back_by == HeldBackBy::Nothing ||
                              shown.price->held_back_by == HeldBackBy::MinimumRun;
        if (!is_found) expect("candidate", shown.price->candidate.value, last->id.value);
        last = &state_.cluster.job(shown.price->candidate);
        const bool may_be_candidate =
            last->project == job.project && last->preemptible && last->active > 0;
        expect("candidate runs", may_be_candidate, true);
        const model::TimePoint now = state_.cluster.ranks().now;
        const model::Duration unsaved =
            last->saves_when_asked ? model::Duration{0} : now - last->last_saved;
        expect("loss", shown.price->loses_gpu_ms,
               gpu_ms(held_milli(*last), unsaved) + gpu_ms(held_milli(*last), last->restart_cost));
        expect("stage of the candidate", shown.price->stage, stage_of(state_, ledger_, *last));
        expect("behind", shown.price->is_behind, order_of_running(job) < order_of_running(*last));
        expect("lower priority", shown.price->is_of_lower_priority, last->priority < job.priority);
        // A running job counts as some stages before its own, on stage 1 at the least.
        const int own = shown.turn == Turn::Granted ? 0 : shown.stage;
        const int ahead = rules_.by == JobOrder::Learned ? rules_.hysteresis : 0;
        int from = 1;
        while (std::max(from - ahead, 1) <= own) ++from;
        expect("preempted from", shown.price->preempted_from, from);
    }

    // The line "preempts" and the sentence of the verdict speak of one cluster.
    void check_held_back(const OrderAccount& shown, const Job& job, const Job& last) {
        const model::OrderPrice& price = *shown.price;
        const model::TimePoint now = state_.cluster.ranks().now;
        const bool is_behind = order_of_running(job) < order_of_running(last);
        expect("held back by order", price.held_back_by == HeldBackBy::Order, !is_behind);
        const bool is_for_a_time = price.held_back_by == HeldBackBy::Delay ||
                                   price.held_back_by == HeldBackBy::WasteBudget ||
                                   price.held_back_by == HeldBackBy::MinimumRun;
        expect("held back for a time", price.until.has_value(), is_for_a_time);
        if (price.until) expect("held back from now on", *price.until > now, true);
        ++met["held back by " + std::to_string(static_cast<int>(price.held_back_by))];
        if (price.held_back_by == HeldBackBy::Nothing) {
            // Else the next decision would have been made already.
            return expect("nothing holds back, and nothing was decided", is_decided_, false);
        }
        if (!is_decided_) return;
        const model::Verdict verdict =
            scheduling::explain(state_.cluster, policy_, {}, now, job.id);
        if (verdict.reason != model::Reason::PoolFull) return;
        expect("no job may be paused", price.held_back_by != HeldBackBy::Nothing, true);
        // The verdict may be about another of several pools.
        const bool is_of_one_pool = state_.cluster.pools_of(job).size() == 1;
        if (is_behind && is_of_one_pool && verdict.cause == model::Cause::WasteBudgetSpent) {
            expect("by the budget", price.held_back_by == HeldBackBy::WasteBudget, true);
        }
    }

    // With nothing left of the budget it says so of all that the order would let preempt.
    void check_spent_budget(const OrderAccount& shown, const Job& job) {
        model::Policy spent = policy_;
        spent.waste_budget = 0;
        const OrderAccount then = scheduling::order_account(
            state_.cluster, spent, state_.cluster.ranks().now, state_.jobs.at(job.id));
        const bool is_by_order = shown.price->held_back_by == HeldBackBy::Order;
        const HeldBackBy wanted = is_by_order ? HeldBackBy::Order : HeldBackBy::WasteBudget;
        expect("spent budget", then.price->held_back_by == wanted, true);
    }

    void check_bound(const OrderAccount& shown, const Job& job, const model::JobRecord& record) {
        const int patience = rules_.patience;
        const bool waits = job.placed.empty() && job.is_waiting();
        const bool has_bound = waits && job.preemptible && shown.turn == Turn::NotDue &&
                               rules_.by != JobOrder::Age && patience > 0 &&
                               shown.jobs_of_higher_priority == 0;
        expect("bound", shown.due.has_value(), has_bound);
        if (!shown.due) return;
        const model::RankLedger* rank = proof::find_rank(ledger_, job.id);
        const base::PoolId pool = state_.cluster.pools_of(job).front();
        std::int64_t width = state_.cluster.footprint(job.shape, pool).value * job.tasks_min;
        for (const cluster::Companions& kind : state_.cluster.shape(job.shape).companions) {
            width += state_.cluster.footprint(kind.shape, pool).value * kind.count;
        }
        width = std::max<std::int64_t>(width, 1);
        const auto restarts =
            record.last_pause ? job.restart_cost * rank->restarts : model::Duration{0};
        const model::Duration ran = model::Duration{job.attained.gpu_ms * 1000 / width} - restarts;
        const model::Duration least = std::chrono::minutes(10);
        const model::TimePoint due = job.waiting_since + std::max(ran, least) * patience;
        expect("due", base::to_ms(*shown.due), base::to_ms(due));
        hold_bound(job.id, record.spec.project, *shown.due);
    }

    // In a copy in which nothing else happens.
    void hold_bound(model::JobId id, const std::string& project, model::TimePoint due) {
        expect("bound checked", scheduling::is_due_by(state_.cluster, id, due), true);
        cluster::Cluster copy = state_.cluster;
        cluster::keep_ranks(copy, due - model::Duration{1});
        const bool by_wait_before = claim_of_wait(copy, id, project) != nullptr;
        expect("not due by its wait before", by_wait_before, false);
        const Turn before = turn_of(cluster::order_ledger(copy), project, id);
        cluster::keep_ranks(copy, due);
        const Turn turn = turn_of(cluster::order_ledger(copy), project, id);
        expect("due when shown", turn != Turn::NotDue, true);
        if (before == Turn::NotDue && turn != Turn::NotDue) ++met["due by its wait"];
        if (turn != Turn::Granted) return;
        // It goes before all of its priority but those that have hardly run, or whose turn it is.
        const Job& job = copy.job(id);
        for (const auto& [other, one] : copy.jobs()) {
            const bool is_rival = one.project == job.project && one.priority == job.priority &&
                                  one.preemptible && one.rank.stage() > 0;
            if (is_rival) expect("granted goes first", job.rank < one.rank, true);
        }
    }

    const model::ClaimLedger* claim_of_wait(const cluster::Cluster& cluster, model::JobId id,
                                            const std::string& project) {
        kept_ = cluster::order_ledger(cluster);
        const model::CrowdLedger* crowd = crowd_of(kept_, project);
        return crowd == nullptr ? nullptr : claim_in(crowd->waits, id);
    }

    void look_at(const model::CrowdLedger& crowd) {
        whose_ = "project " + crowd.project;
        const auto shown =
            cluster::order_accuracy(state_.cluster, state_.cluster.find_project(crowd.project));
        expect("accuracy", shown.has_value(), !crowd.estimate.empty());
        if (!shown) return;
        std::vector<double> parts;
        for (std::size_t at = 0; at < crowd.estimate.size(); ++at) {
            parts.push_back(1000 * static_cast<double>(crowd.estimate[at]) /
                            static_cast<double>(crowd.taken[at]));
        }
        std::ranges::sort(parts);
        // The least that at least this many percent do not exceed.
        const auto least = [&](double part) {
            std::size_t at = 0;
            while (static_cast<double>(at + 1) < part * static_cast<double>(parts.size()) - 1e-9)
                ++at;
            return static_cast<std::int64_t>(std::floor(parts[at] + 1e-6));
        };
        expect("jobs shown of", shown->jobs, static_cast<int>(parts.size()));
        expect("median", shown->median_thousandths, least(0.5));
        expect("p90", shown->p90_thousandths, least(0.9));
    }

    lifecycle::State& state_;
    std::vector<std::string>& found_;
    model::OrderLedger ledger_;
    model::Policy policy_;
    bool is_decided_ = false;  // a decision would change nothing
    model::OrderLedger kept_;
    model::OrderRules rules_;  // of the project of the job looked at
    std::string whose_;
};

// Folds the log, and looks at what is noted on the way.
class Reader {
  public:
    void read(const model::Event& event) {
        cluster::keep_ranks(state.cluster, event.time);
        if (const auto* pause = std::get_if<model::PauseRequested>(&event.body)) {
            return read_pause(event, *pause);
        }
        if (const auto* finished = std::get_if<model::JobFinished>(&event.body)) {
            return read_end(event, *finished);
        }
        lifecycle::apply(state, event);
    }

    lifecycle::State state;
    std::vector<std::string> found;

  private:
    void check(bool holds, const std::string& what, const model::Event& event) {
        ++met[what];
        if (!holds) found.push_back("event " + std::to_string(event.sequence) + ": " + what);
    }

    void read_pause(const model::Event& event, const model::PauseRequested& pause) {
        const model::OrderLedger ledger = cluster::order_ledger(state.cluster);
        const Job job = state.cluster.job(pause.job);
        const Job* other = state.cluster.find_job(pause.beneficiary);
        const JobOrder by = rules_of(ledger, state.jobs.at(pause.job).spec.project).by;
        const bool is_told = pause.rule == model::Rule::Preempt && other != nullptr &&
                             other->project == job.project && other->priority == job.priority &&
                             other->preemptible && job.preemptible && by != JobOrder::Age;
        model::OrderReceipt wanted;
        if (is_told) {
            const bool is_learned = by == JobOrder::Learned;
            const auto cost = [&](const Job& of) {
                const model::RankLedger* rank = proof::find_rank(ledger, of.id);
                return is_learned && !rank->courses.empty() ? rank->cost : 0;
            };
            const std::string& project = state.jobs.at(other->id).spec.project;
            wanted = {by,           stage_of(state, ledger, job),
                      cost(job),    stage_of(state, ledger, *other),
                      cost(*other), turn_of(ledger, project, other->id)};
        }
        lifecycle::apply(state, event);
        const auto& receipt = state.jobs.at(pause.job).last_pause->order;
        check(receipt.has_value() == is_told, "receipts tell of the order where it decided", event);
        if (is_told) check(*receipt == wanted, "numbers of a receipt", event);
    }

    void read_end(const model::Event& event, const model::JobFinished& finished) {
        const model::OrderLedger before = cluster::order_ledger(state.cluster);
        const model::RankLedger* rank = proof::find_rank(before, finished.job);
        const std::int64_t estimate = rank == nullptr ? 0 : rank->estimate;
        const std::string project = state.jobs.at(finished.job).spec.project;
        const auto ended = lifecycle::apply(state, event);
        if (estimate == 0) return;
        const model::OrderLedger after = cluster::order_ledger(state.cluster);
        const model::CrowdLedger* crowd = crowd_of(after, project);
        const bool is_noted =
            crowd != nullptr && !crowd->estimate.empty() && crowd->estimate.back() == estimate;
        check(is_noted, "shown is noted at the end", event);
        if (is_noted && !finished.ended)
            check(crowd->taken.back() == ended->attained_gpu_ms, "taken is noted at the end",
                  event);
    }
};

std::vector<std::string> live(std::uint64_t seed) {
    Reader reader;
    proof::RandomLog log(seed, [&](const model::Event& event) { reader.read(event); });
    for (int step = 0; step < kSteps; ++step) log.go_on();
    // The writer may have looked since.
    cluster::keep_ranks(reader.state.cluster, log.state().cluster.ranks().now);
    Audit(reader.state, reader.found).run();
    return reader.found;
}

bool all_met() {
    bool holds = true;
    for (const char* what : {"due by its wait",
                             "granted goes first",
                             "by all",
                             "by width",
                             "by kin",
                             "jobs alike",
                             "no job alike has ended",
                             "behind a higher priority",
                             "cost",
                             "cost of a new job",
                             "changes differ",
                             "loss",
                             "numbers of a receipt",
                             "median",
                             "taken is noted at the end",
                             "GPUs before",
                             "no evidence",
                             "no job may be paused",
                             "spent budget",
                             "held back by 0",
                             "held back by 1",
                             "held back by 3",
                             "held back by 4",
                             "held back by 5"}) {
        if (met[what] > 0) continue;
        std::cout << "never met: " << what << '\n';
        holds = false;
    }
    return holds;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seeds = 0;
    const bool holds = proof::holds_for_seeds(argc, argv, [&](std::uint64_t seed) {
        ++seeds;
        return live(seed);
    });
    const char* before = "recomputed: ";
    for (const auto& [what, count] : met) {
        std::cerr << std::exchange(before, ", ") << what << ' ' << count;
    }
    std::cerr << '\n';
    const bool is_complete = seeds < kSeedsThatMeetAll || all_met();
    return holds && is_complete ? 0 : 1;
}
