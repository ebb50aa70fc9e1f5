// SPDX-License-Identifier: Apache-2.0
#include "foresight/what_if.h"

#include <algorithm>
#include <map>
#include <set>

#include "foresight/outcome.h"
#include "foresight/what_if_sentence.h"
#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"

namespace berth::foresight {
namespace {

using base::Result;
using base::Status;
using lifecycle::State;
using model::Fate;
using model::Hypothesis;
using model::JobFate;
using model::JobId;
using model::Plan;
using model::Supposition;

// Supposes one thing after the other.
class Supposer {
  public:
    Supposer(State& state, model::TimePoint now) : state_(state), now_(now) {}

    Status suppose(const Hypothesis& hypothesis) {
        switch (hypothesis.what) {
            case Supposition::Submit: return submit(hypothesis.spec);
            case Supposition::Quota:
            case Supposition::Limit:
            case Supposition::Weight: return change_rights(hypothesis);
            case Supposition::Node: return add_nodes(hypothesis);
            case Supposition::Drain: return set_health(hypothesis.name, model::NodeHealth::Drained);
            case Supposition::Down: return lose(hypothesis.name);
            case Supposition::End: return end(hypothesis.job);
        }
        return {};
    }

  private:
    Status happen(model::EventBody body) {
        BERTH_TRY_VOID(
            lifecycle::try_apply(state_, {state_.sequence + 1, now_, "what-if", std::move(body)}));
        return {};
    }

    Status submit(const model::JobSpec& spec) {
        const JobId id{state_.last_job.value + 1};
        return happen(model::JobSubmitted{id, spec, {}, {}});
    }

    Status change_rights(const Hypothesis& hypothesis) {
        const auto id = state_.cluster.find_project(hypothesis.name);
        if (!id.is_valid() || hypothesis.name.empty()) {
            return base::fail(base::ErrorCode::NotFound,
                              "project \"" + hypothesis.name + "\" does not exist");
        }
        model::Project project = state_.cluster.projects()[id.index()].project;
        const bool is_known =
            hypothesis.pool.empty() || state_.cluster.find_pool(hypothesis.pool).is_valid();
        if (!is_known) {
            return base::fail(base::ErrorCode::NotFound,
                              "pool \"" + hypothesis.pool + "\" does not exist");
        }
        change_right(project, hypothesis);
        return happen(model::ProjectSet{project});
    }

    Status add_nodes(const Hypothesis& hypothesis) {
        model::Node like = hypothesis.node;
        if (!hypothesis.name.empty()) {
            const auto id = state_.cluster.find_node(hypothesis.name);
            if (!id.is_valid()) return no_node(hypothesis.name);
            like = state_.cluster.description(id);
            like.health = model::NodeHealth::Ready;
            like.others = {};
        }
        int number = 0;
        for (int i = 0; i < hypothesis.count; ++i) {
            model::Node node = like;
            do {
                node.name = "new" + std::to_string(++number);
            } while (state_.cluster.find_node(node.name).is_valid());
            BERTH_TRY_VOID(happen(model::NodeSet{node}));
        }
        return {};
    }

    static Status no_node(const std::string& name) {
        return base::fail(base::ErrorCode::NotFound, "node \"" + name + "\" does not exist");
    }

    Status set_health(const std::string& name, model::NodeHealth health) {
        const auto id = state_.cluster.find_node(name);
        if (!id.is_valid()) return no_node(name);
        model::Node node = state_.cluster.description(id);
        node.health = health;
        return happen(model::NodeSet{node});
    }

    Status lose(const std::string& name) {
        BERTH_TRY_VOID(set_health(name, model::NodeHealth::Down));
        const auto node = state_.cluster.find_node(name);
        std::vector<JobId> lost;
        for (const auto& [id, record] : state_.jobs) {
            const bool was_there = std::ranges::any_of(
                record.tasks, [&](const auto& task) { return task.node == node; });
            if (was_there) lost.push_back(id);
        }
        for (const JobId job : lost) BERTH_TRY_VOID(happen(model::AttemptLost{job, {}}));
        return {};
    }

    Status end(JobId job) {
        return happen(model::JobFinished{job, model::JobState::Cancelled, 0, {}});
    }

    State& state_;
    model::TimePoint now_;
};

// What one decision does to every job.
class Fates {
  public:
    Fates(State& state, const model::Policy& policy, model::TimePoint now)
        : state_(state), policy_(policy), now_(now) {
        plan_ = scheduling::decide_on(state.cluster, policy, now);
        for (const auto& [id, job] : state.cluster.jobs()) {
            fates_[id].fate = job.placed.empty() ? Fate::Waits : Fate::Runs;
        }
        for (const model::Start& start : plan_.starts) {
            const bool grows = fates_[start.job].fate == Fate::Runs;
            fates_[start.job] = {.fate = grows ? Fate::Grows : Fate::Starts, .tasks = start.tasks};
        }
        for (const model::Reservation& held : plan_.reservations) {
            JobFate& fate = fates_[held.job];
            if (fate.fate == Fate::Waits) fate = {.fate = Fate::Promised, .tasks = held.tasks};
        }
        for (const model::Pause& pause : plan_.pauses) {
            JobFate fate{.fate = pause.whole_job ? Fate::Pauses : Fate::Shrinks,
                         .beneficiary = pause.beneficiary};
            for (const auto& task : state.jobs.at(pause.job).tasks) {
                if (std::ranges::find(pause.tasks, task.task) != pause.tasks.end()) {
                    fate.tasks.push_back(task);
                }
            }
            fates_[pause.job] = std::move(fate);
        }
        for (const model::Move& move : plan_.moves) {
            fates_[move.job] = {
                .fate = Fate::Moves, .tasks = move.tasks, .beneficiary = move.beneficiary};
        }
    }

    const std::map<JobId, JobFate>& all() const { return fates_; }
    const Plan& plan() const { return plan_; }
    JobFate of(JobId job) const {
        const auto found = fates_.find(job);
        return found == fates_.end() ? JobFate{} : found->second;
    }
    int waiting() const {
        return static_cast<int>(std::ranges::count_if(
            fates_, [](const auto& fate) { return fate.second.fate == Fate::Waits; }));
    }

    // Says why those of them wait that do.
    void explain(std::span<const JobId> jobs) {
        std::vector<JobId> waiting;
        std::ranges::copy_if(jobs, std::back_inserter(waiting),
                             [&](JobId job) { return of(job).fate == Fate::Waits; });
        for (const model::Verdict& verdict :
             scheduling::explain(state_.cluster, policy_, plan_, now_, waiting)) {
            JobFate& fate = fates_[verdict.job];
            fate.reason = name(verdict.reason);
            fate.why = scheduling::explain_text(verdict);
        }
    }

  private:
    State& state_;
    const model::Policy& policy_;
    model::TimePoint now_;
    Plan plan_;
    std::map<JobId, JobFate> fates_;
};

// Fewer on a large cluster, where one costs more.
int reasons_compared(const State& state) {
    const auto size =
        static_cast<std::int64_t>(state.jobs.size() + state.cluster.nodes().size() + 1);
    return static_cast<int>(std::clamp<std::int64_t>(1'000'000 / size, 10, kReasonsCompared));
}

// Each costs an event, each node that is added likewise.
Status check_size(std::span<const Hypothesis> hypotheses) {
    if (hypotheses.size() > kSupposedMax) {
        return base::invalid("suppose: wanted at most " + std::to_string(kSupposedMax) +
                             " changes, found " + std::to_string(hypotheses.size()));
    }
    std::int64_t nodes = 0;
    for (const Hypothesis& one : hypotheses) {
        if (one.what != Supposition::Node) continue;
        if (one.count < 1) {
            return base::invalid("count: wanted at least 1 node, found " +
                                 std::to_string(one.count));
        }
        nodes += one.count;
    }
    if (nodes <= kNodesSupposedMax) return {};
    return base::invalid("count: wanted at most " + std::to_string(kNodesSupposedMax) +
                         " nodes, found " + std::to_string(nodes));
}

bool is_same(const JobFate& left, const JobFate& right) {
    return left.fate == right.fate && left.tasks == right.tasks && left.reason == right.reason &&
           left.beneficiary == right.beneficiary;
}

}  // namespace

Status suppose(State& state, std::span<const Hypothesis> hypotheses, model::TimePoint now) {
    BERTH_TRY_VOID(check_size(hypotheses));
    Supposer supposer(state, now);
    for (const Hypothesis& hypothesis : hypotheses) BERTH_TRY_VOID(supposer.suppose(hypothesis));
    return {};
}

void change_right(model::Project& project, const Hypothesis& hypothesis) {
    const bool is_default = hypothesis.pool.empty() || hypothesis.pool == model::kDefaultPool;
    // A new entry is as in the default pool, but for what is guaranteed there.
    model::Entitlement& rights =
        is_default
            ? project.rights
            : project.pools.try_emplace(hypothesis.pool, model::without_guarantees(project.rights))
                  .first->second;
    if (hypothesis.what == Supposition::Quota) {
        const bool is_stated = hypothesis.gpus < model::kUnlimited;
        rights.quota = is_stated ? std::optional(hypothesis.gpus) : std::nullopt;
    }
    if (hypothesis.what == Supposition::Limit) rights.limit = hypothesis.gpus;
    if (hypothesis.what == Supposition::Weight) rights.weight = hypothesis.weight_thousandths;
}

Result<Comparison> what_if(const State& state, std::span<const Hypothesis> hypotheses,
                           const model::Policy& policy, model::TimePoint now) {
    State present = state;
    Comparison comparison{{}, state};
    BERTH_TRY_VOID(suppose(comparison.then, hypotheses, now));
    Fates before(present, policy, now);
    Fates after(comparison.then, policy, now);

    std::set<JobId> everybody;
    for (const auto& [id, fate] : before.all()) everybody.insert(id);
    for (const auto& [id, fate] : after.all()) everybody.insert(id);
    // Those whose fate differs in kind, and of the others the first few that wait, whose reasons
    // may differ. An explanation costs a look at the whole cluster, so their number is bounded.
    std::vector<JobId> listed;
    std::vector<JobId> explained;
    const int most = reasons_compared(comparison.then);
    int compared = 0;
    int reasons = 0;
    for (const JobId id : everybody) {
        const JobFate then = after.of(id);
        const bool waits = then.fate == Fate::Waits || before.of(id).fate == Fate::Waits;
        const bool differs = !is_same(before.of(id), then);
        const bool is_compared = !differs && waits && compared < most;
        compared += is_compared;
        if (differs || is_compared) listed.push_back(id);
        const bool is_told = is_compared || (differs && waits && reasons++ < most);
        if (is_told) explained.push_back(id);
    }
    before.explain(explained);
    after.explain(explained);
    model::WhatIf& what_if = comparison.what_if;
    for (const JobId id : listed) {
        if (is_same(before.of(id), after.of(id))) continue;
        what_if.jobs.push_back({id, before.of(id), after.of(id)});
    }
    what_if.waiting_now = before.waiting();
    what_if.waiting_then = after.waiting();
    what_if.reasons_compared = compared;
    // The state that is supposed stays as it is, for the names in it.
    State outcome = comparison.then;
    carry_out(present, before.plan(), policy, now);
    carry_out(outcome, after.plan(), policy, now);
    what_if.projects = share_changes(present, outcome, policy, now);
    what_if.sentence = sentence_of(what_if);
    return comparison;
}

}  // namespace berth::foresight
