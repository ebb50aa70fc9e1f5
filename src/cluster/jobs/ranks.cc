// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/ranks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/gpu_time.h"
#include "cluster/cluster.h"
#include "cluster/gang.h"

namespace berth::cluster {
namespace {

using ordering::JobSnapshot;

constexpr TimePoint kNever = TimePoint::max();

JobSnapshot standing(const Cluster& cluster, const Job& job, TimePoint now) {
    const base::PoolId pool = cluster.pools_of(job).front();
    const MilliGpu gang =
        cluster.footprint(job.shape, pool) * job.tasks_min +
        gpus_of_companions(cluster, cluster.shape(job.shape), pool, &Cluster::footprint);
    const bool was_paused = job.last_pause != TimePoint{};
    const model::Duration restart = was_paused ? job.restart_cost : model::Duration{0};
    const bool restarts = was_paused && job.last_start > job.last_pause;
    return {.job = job.id,
            .waits = job.may_run && job.placed.empty(),
            .runs = !job.placed.empty(),
            .width = std::max<std::int64_t>(gang.value, 1),
            .in_use = job.in_use().value,
            .submitted = job.created,
            .waiting_since = job.waiting_since,
            .restart = restart,
            .restarts_until = restarts ? job.last_start + restart : TimePoint{},
            .counted = job.attained.gpu_ms,
            .since = job.attained.counted,
            .now = std::max(now, job.attained.counted)};
}

// What its jobs may hold: its quotas in all pools as far as there are GPUs, or what they do hold.
std::int64_t may_have(const Cluster& cluster, ProjectId project) {
    std::int64_t milli = 0;
    for (const PoolState& pool : cluster.pools()) {
        const Claim& claim = pool.claims[project.index()];
        milli += std::max(std::min(claim.quota, pool.capacity), claim.usage.allocated).value;
    }
    return milli;
}

// Of a project below one that goes by `rules`.
model::OrderRules rules_below(model::OrderRules rules, const model::Project& project) {
    rules.by = project.job_order.value_or(rules.by);
    rules.tail = project.job_tail.value_or(rules.tail);
    return rules;
}

class Keeper {
  public:
    explicit Keeper(Cluster& cluster) : cluster_(cluster), book_(cluster.ranks()) {}

    JobSnapshot at(JobId id, TimePoint time) const {
        return standing(cluster_, cluster_.job(id), time);
    }

    // Puts the job where it belongs at this time.
    void settle(JobId id, TimePoint time) {
        const JobSnapshot standing = at(id, time);
        TimePoint next = book_.order.next_change(standing);
        if (next < time) {
            // By what others did it should have been looked at before.
            book_.order.time_came(standing);
            next = book_.order.next_change(standing);
        }
        look_again_at(id, next);
        book_.order.note_stage(standing);
        cluster_.set_attained(id, cluster_.job(id).attained, book_.order.rank(standing));
    }

    void look_again_at(JobId id, TimePoint time) {
        const Job& job = cluster_.job(id);
        Attained attained = job.attained;
        if (attained.change == time) return;
        if (attained.change != kNever) book_.changes.erase({attained.change, id});
        if (time != kNever) book_.changes.insert({time, id});
        attained.change = time;
        cluster_.set_attained(id, attained, job.rank);
    }

    void settle_moved(TimePoint time) {
        for (std::vector<JobId> moved; !(moved = book_.order.take_moved()).empty();) {
            for (const JobId id : moved) {
                if (cluster_.find_job(id) != nullptr) settle(id, time);
            }
        }
    }

    void settle_all(TimePoint time) {
        for (const auto& [id, job] : cluster_.jobs()) settle(id, time);
        settle_moved(time);
    }

    // From now on the project goes by these rules, and those below it by what they say.
    void set_rules(ProjectId project, const model::OrderRules& rules) {
        std::vector<ordering::RulesOfProject> all;
        add_rules(project, rules, all);
        std::vector<ProjectId> changed = book_.order.set_rules(all);
        if (changed.empty()) return;
        std::ranges::sort(changed);
        for (const auto& [id, job] : cluster_.jobs()) {
            if (std::ranges::binary_search(changed, job.project)) settle(id, book_.now);
        }
        settle_moved(book_.now);
    }

  private:
    void add_rules(ProjectId project, const model::OrderRules& rules,
                   std::vector<ordering::RulesOfProject>& all) const {
        all.push_back({project, rules});
        for (const ProjectId child : cluster_.projects()[project.index()].children) {
            add_rules(child, rules_below(rules, cluster_.projects()[child.index()].project), all);
        }
    }

    Cluster& cluster_;
    RankBook& book_;
};

std::vector<std::string> project_names(const Cluster& cluster) {
    std::vector<std::string> names;
    for (const ProjectState& state : cluster.projects()) names.push_back(state.project.name);
    return names;
}

}  // namespace

void keep_ranks(Cluster& cluster, const model::OrderRules& rules, TimePoint now) {
    keep_ranks(cluster, now);
    if (rules == order_rules(cluster, kRoot)) return;
    Keeper(cluster).set_rules(kRoot, rules);
    keep_ranks(cluster, now);
}

const model::OrderRules& order_rules(const Cluster& cluster, ProjectId project) {
    return cluster.ranks().order.rules(project);
}

void keep_ranks(Cluster& cluster, TimePoint now) {
    RankBook& book = cluster.ranks();
    Keeper keeper(cluster);
    while (!book.changes.empty() && book.changes.begin()->first <= now) {
        // Under new rules it may have been due for long: who was due first comes first.
        const auto [time, job] = *book.changes.begin();
        book.now = std::max(book.now, time);
        book.order.time_came(keeper.at(job, book.now));
        keeper.settle(job, book.now);
        keeper.settle_moved(book.now);
    }
    book.now = std::max(book.now, now);
}

void note_attained(Cluster& cluster, JobId id, std::int64_t gpu_ms, TimePoint counted) {
    Attained attained = cluster.job(id).attained;
    if (attained.gpu_ms == gpu_ms && attained.counted == counted) return;
    attained.gpu_ms = gpu_ms;
    attained.counted = counted;
    cluster.set_attained(id, attained, cluster.job(id).rank);
    settle_rank(cluster, id);
}

void enter_ranks(Cluster& cluster, JobId id, const ordering::Likenesses& alike) {
    const Job& job = cluster.job(id);
    count_held(cluster, job.project);
    if (!job.preemptible) return;
    RankBook& book = cluster.ranks();
    book.order.submitted(standing(cluster, job, book.now), job.project, alike);
    Keeper(cluster).settle(id, book.now);
    Keeper(cluster).settle_moved(book.now);
}

void count_attained(Cluster& cluster, JobId id) {
    const TimePoint now = cluster.ranks().now;
    const Job& job = cluster.job(id);
    if (job.attained.counted >= now) return;
    Attained attained = job.attained;
    attained.gpu_ms = standing(cluster, job, now).used();
    attained.counted = now;
    cluster.set_attained(id, attained, job.rank);
}

void settle_order(Cluster& cluster, ProjectId project) {
    const ProjectState& state = cluster.projects()[project.index()];
    const model::OrderRules& above = order_rules(cluster, state.parent);
    Keeper(cluster).set_rules(project, rules_below(above, state.project));
    keep_ranks(cluster, cluster.ranks().now);
}

void count_held(Cluster& cluster, ProjectId project) {
    RankBook& book = cluster.ranks();
    book.order.may_have(project, may_have(cluster, project), book.now);
}

void settle_rank(Cluster& cluster, JobId id) {
    RankBook& book = cluster.ranks();
    Keeper keeper(cluster);
    count_held(cluster, cluster.job(id).project);
    book.order.changed(keeper.at(id, book.now));
    keeper.settle(id, book.now);
    keeper.settle_moved(book.now);
}

void leave_ranks(Cluster& cluster, JobId id) {
    RankBook& book = cluster.ranks();
    Keeper keeper(cluster);
    book.order.ended(keeper.at(id, book.now));
    keeper.settle(id, book.now);  // it is in no table any more
    keeper.settle_moved(book.now);
}

std::optional<TimePoint> next_rank_change(const Cluster& cluster) {
    const auto& changes = cluster.ranks().changes;
    if (changes.empty()) return {};
    return changes.begin()->first;
}

std::optional<TimePoint> rank_change_once_given(const Cluster& cluster, JobId id, MilliGpu given,
                                                TimePoint now) {
    const Job& job = cluster.job(id);
    JobSnapshot standing = cluster::standing(cluster, job, now);
    standing.in_use -= given.value;
    standing.counted = standing.used();
    standing.since = now;
    standing.in_use += given.value;
    const TimePoint change = cluster.ranks().order.next_change(standing);
    if (change == kNever) return {};
    return change;
}

bool is_ranked_right(const Cluster& cluster, JobId id) {
    const RankBook& book = cluster.ranks();
    const Job& job = cluster.job(id);
    const bool has_change = job.attained.change != kNever;
    return job.rank == book.order.rank(standing(cluster, job, book.now)) &&
           has_change == book.changes.contains({job.attained.change, id}) &&
           job.attained.change >= book.now;
}

ordering::Account account_of_order(const Cluster& cluster, JobId id) {
    const RankBook& book = cluster.ranks();
    return book.order.account(standing(cluster, cluster.job(id), book.now));
}

model::OrderReceipt order_receipt(const Cluster& cluster, JobId id, JobId beneficiary) {
    const RankBook& book = cluster.ranks();
    const auto account_of = [&](JobId job) {
        return book.order.brief_account(standing(cluster, cluster.job(job), book.now));
    };
    const ordering::Account account = account_of(id), other = account_of(beneficiary);
    return {account.by, account.stage, account.cost, other.stage, other.cost, other.turn};
}

std::optional<model::Accuracy> order_accuracy(const Cluster& cluster, ProjectId project) {
    return cluster.ranks().order.accuracy(project);
}

model::OrderLedger order_ledger(const Cluster& cluster) {
    model::OrderLedger ledger = cluster.ranks().order.save(project_names(cluster));
    ledger.ranked_at = cluster.ranks().now;
    for (model::RankLedger& entry : ledger.jobs)
        entry.change = cluster.job(entry.job).attained.change;
    return ledger;
}

bool restore_order(Cluster& cluster, const model::OrderLedger& ledger) {
    RankBook& book = cluster.ranks();
    if (!book.order.restore(ledger, project_names(cluster))) return false;
    book.now = std::max(book.now, ledger.ranked_at);
    Keeper keeper(cluster);
    keeper.settle_all(book.now);
    for (const model::RankLedger& entry : ledger.jobs)
        keeper.look_again_at(entry.job, entry.change);
    // Unless the file was written by hand these are the rules that were restored.
    keeper.set_rules(kRoot, ledger.rules);
    return true;
}

}  // namespace berth::cluster
