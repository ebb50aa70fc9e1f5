// SPDX-License-Identifier: Apache-2.0
#include "simulation/history/rerun.h"

#include <algorithm>
#include <utility>

#include "foresight/what_if.h"
#include "simulation/history/rerun_figures.h"
#include "simulation/history/rerun_sentence.h"

namespace berth::simulation {
namespace {

using base::Status;
using lifecycle::State;
using model::Hypothesis;
using model::ReplayState;
using model::Supposition;

bool is_right(Supposition what) {
    return what == Supposition::Quota || what == Supposition::Limit || what == Supposition::Weight;
}

// What had happened to the cluster when the days began. Without the jobs that were there then, a
// node can already be where it went later.
State state_at_begin(const History& history) {
    State state;
    for (const model::EventBody& body : history.before) {
        if (!lifecycle::check(state, body)) continue;
        lifecycle::apply(state, {state.sequence + 1, history.from, "log", body});
    }
    return state;
}

// Of what is supposed, what there is already.
std::vector<Hypothesis> of_begin(std::span<const Hypothesis> suppose, const State& state) {
    std::vector<Hypothesis> there;
    std::ranges::copy_if(suppose, std::back_inserter(there), [&](const Hypothesis& one) {
        if (is_right(one.what)) return state.cluster.find_project(one.name).is_valid();
        return one.name.empty() || state.cluster.find_node(one.name).is_valid();
    });
    return there;
}

// What happened on the way, as it would have under the change.
class Changed {
  public:
    explicit Changed(const RerunQuestion& question) : question_(question) {}

    void operator()(model::ProjectSet& set) const {
        for (const Hypothesis& one : question_.suppose) {
            if (is_right(one.what) && one.name == set.project.name) {
                foresight::change_right(set.project, one);
            }
        }
    }
    void operator()(model::NodeSet& set) const {
        for (const Hypothesis& one : question_.suppose) {
            const bool is_drained = one.what == Supposition::Drain && one.name == set.node.name;
            if (is_drained) set.node.health = model::NodeHealth::Drained;
        }
    }
    void operator()(model::PolicySet& set) const {
        set.settings = model::merged(set.settings, question_.policy);
    }
    void operator()(auto&) const {}

  private:
    const RerunQuestion& question_;
};

// Nodes like one that came on the way come when it does.
std::vector<ClusterChange> with_late_nodes(std::vector<ClusterChange> changes,
                                           const RerunQuestion& question, const State& begin) {
    for (const Hypothesis& one : question.suppose) {
        const bool is_late = one.what == Supposition::Node && !one.name.empty() &&
                             !begin.cluster.find_node(one.name).is_valid();
        if (!is_late) continue;
        const auto first = std::ranges::find_if(changes, [&](const ClusterChange& change) {
            const auto* set = std::get_if<model::NodeSet>(&change.body);
            return set != nullptr && set->node.name == one.name;
        });
        if (first == changes.end()) continue;
        const ClusterChange like = *first;
        const auto at = first - changes.begin() + 1;
        for (int i = 1; i <= one.count; ++i) {
            ClusterChange added = like;
            auto& node = std::get<model::NodeSet>(added.body).node;
            node.name = "new-" + one.name + "-" + std::to_string(i);
            node.health = model::NodeHealth::Ready;
            node.others = {};
            changes.insert(changes.begin() + at, std::move(added));
        }
    }
    return changes;
}

}  // namespace

struct Rerun::Side {
    std::vector<ClusterChange> changes;
    model::Description no_cluster = {};  // the log says what there is
    CoreExperiment experiment;
    std::optional<CoreRun> run = {};
    CoreReplay result = {};

    Side(const Rerun& rerun, std::vector<ClusterChange> on_the_way, State state)
        : changes(std::move(on_the_way)),
          experiment{.trace = rerun.history_.jobs,
                     .cluster = no_cluster,
                     .policy = rerun.question_.started_policy,
                     .restart_cost = rerun.history_.restart_cost,
                     .save_time = rerun.history_.save_time,
                     .changes = changes,
                     .ledger_until = rerun.history_.to} {
        run.emplace(experiment, std::move(state));
    }
};

Rerun::Rerun(RerunQuestion question, ports::OpenLog open_log)
    : question_(std::move(question)),
      open_log_(std::move(open_log)),
      reader_({question_.from, question_.to}) {
    answer_.from = question_.from;
    answer_.to = question_.to;
}

Rerun::~Rerun() = default;

void Rerun::turn() {
    if (model::is_final(answer_.state)) return;
    if (const Status status = go_on(); !status) {
        answer_.state = ReplayState::Failed;
        answer_.problem = status.error().message;
    }
}

Status Rerun::go_on() {
    switch (answer_.state) {
        case ReplayState::Reads: return read();
        case ReplayState::PlaysAsSet: return play(*as_set_);
        case ReplayState::PlaysChanged: return play(*changed_);
        default: return {};
    }
}

Status Rerun::read() {
    constexpr std::int64_t kPercent = 10;
    if (!log_) {
        BERTH_TRY(opened, open_log_());
        log_ = std::move(opened);
    }
    std::int64_t count = 0;
    BERTH_TRY_VOID(log_->read_events(read_to_, kEventsAPart, [&](model::Event&& event) {
        read_to_ = event.sequence;
        ++count;
        reader_.read(std::move(event));
    }));
    if (reader_.jobs() > kJobsReplayedMax) {
        return base::fail(base::ErrorCode::Exhausted,
                          "more than " + std::to_string(kJobsReplayedMax) +
                              " jobs were there in these days; ask for fewer days");
    }
    const std::int64_t last = std::max<std::int64_t>(question_.last, 1);
    answer_.percent = static_cast<int>(kPercent * std::min(read_to_, last) / last);
    if (count == kEventsAPart && read_to_ < question_.last) return {};
    log_.reset();
    return prepare();
}

Status Rerun::prepare() {
    history_ = reader_.take();
    answer_.from = history_.from;
    answer_.never_ran = history_.never_ran;
    if (history_.jobs.empty()) {
        return base::fail(base::ErrorCode::NotFound,
                          "no job ran in these days; there is nothing to replay");
    }
    State state = state_at_begin(history_);
    BERTH_TRY(policy, model::changed_policy(question_.started_policy, state.policy));
    history_.save_time = std::min(history_.save_time, policy.pause_grace);
    for (const Hypothesis& one : question_.suppose) {
        if (!is_right(one.what) || one.pool.empty()) continue;
        if (state.cluster.find_pool(one.pool).is_valid()) continue;
        return base::fail(
            base::ErrorCode::NotFound,
            "pool \"" + one.pool + "\" was not there when these days began; ask for fewer days");
    }
    State changed = state;
    BERTH_TRY_VOID(foresight::suppose(changed, of_begin(question_.suppose, state), history_.from));
    changed.policy = model::merged(changed.policy, question_.policy);
    BERTH_TRY_VOID(model::changed_policy(question_.started_policy, changed.policy));
    std::vector<ClusterChange> changes = with_late_nodes(history_.changes, question_, state);
    for (ClusterChange& change : changes) std::visit(Changed(question_), change.body);
    as_set_ = std::make_unique<Side>(*this, history_.changes, std::move(state));
    changed_ = std::make_unique<Side>(*this, std::move(changes), std::move(changed));
    answer_.state = ReplayState::PlaysAsSet;
    return {};
}

Status Rerun::play(Side& side) {
    constexpr std::size_t kPercent = 45;
    const bool is_first = &side == as_set_.get();
    BERTH_TRY(is_done, side.run->go_on(kDecisionsAPart));
    const std::size_t done = kPercent * side.run->finished() / history_.jobs.size();
    answer_.percent = static_cast<int>((is_first ? 10 : 55) + done);
    if (!is_done) return {};
    side.result = side.run->take();
    side.run.reset();
    answer_.state = ReplayState::PlaysChanged;
    if (!is_first) judge();
    return {};
}

void Rerun::judge() {
    add_figures(history_, {as_set_->result, changed_->result}, answer_);
    answer_.changes_passed_over =
        std::max(as_set_->result.changes_passed_over, changed_->result.changes_passed_over);
    answer_.sentence = rerun_sentence(answer_);
    answer_.trust = trust_sentence(answer_);
    answer_.percent = 100;
    answer_.state = ReplayState::Done;
    as_set_.reset();
    changed_.reset();
    history_ = {};
}

}  // namespace berth::simulation
