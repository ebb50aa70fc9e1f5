// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/idle/idle_rule.h"

#include <doctest/doctest.h>

using namespace berth;
using lifecycle::IdleRule;
using lifecycle::IdleStep;
using model::Duration;
using model::IdleAct;

namespace {

constexpr base::JobId kIdler{1};
constexpr Duration kMinute{60'000};
const model::TimePoint kThen = base::at_ms(100 * kMinute.count());

model::JobRecord idling() {
    model::JobRecord job;
    job.id = kIdler;
    job.state = model::JobState::Running;
    job.spec.request.gpus = 1;
    job.pause_way = {model::PauseRung::Checkpoint, "", "", true};
    return job;
}

// A job of "a", which lies in "lab".
struct IdleTree {
    IdleTree() {
        set("lab");
        set("a", "lab");
        model::JobSpec spec;
        spec.project = "a";
        happen(model::JobSubmitted{kIdler, spec, "ann", "train"});
    }
    void set(const std::string& name, const std::string& parent = "",
             std::optional<Duration> after = {}, std::optional<IdleAct> act = {}) {
        model::Project project;
        project.name = name;
        project.parent = parent;
        project.idle_after = after;
        project.idle_act = act;
        happen(model::ProjectSet{project});
    }
    void happen(model::EventBody body) {
        lifecycle::apply(state, {state.sequence + 1, kThen, "test", std::move(body)});
    }
    std::optional<IdleRule> rule() const {
        return lifecycle::idle_rule(state.cluster, policy, kIdler);
    }

    lifecycle::State state;
    model::Policy policy;
};

}  // namespace

TEST_CASE("the nearest project that says something rules, the policy at the top") {
    IdleTree tree;
    CHECK_FALSE(tree.rule());
    CHECK_FALSE(lifecycle::shortest_idle_time(tree.state.cluster, tree.policy));
    tree.policy.idle_after = 30 * kMinute;
    CHECK(tree.rule()->after == 30 * kMinute);
    CHECK(tree.rule()->act == IdleAct::Warn);
    tree.set("lab", "", 20 * kMinute, IdleAct::Park);
    CHECK(tree.rule()->after == 20 * kMinute);
    CHECK(tree.rule()->act == IdleAct::Park);
    tree.set("a", "lab", {}, IdleAct::End);
    CHECK(tree.rule()->after == 20 * kMinute);
    CHECK(tree.rule()->act == IdleAct::End);
    tree.set("a", "lab", Duration{0});
    CHECK_FALSE(tree.rule());
    CHECK(lifecycle::shortest_idle_time(tree.state.cluster, tree.policy) == 10 * kMinute);
    tree.policy.idle_warning = 60 * kMinute;
    CHECK(lifecycle::shortest_idle_time(tree.state.cluster, tree.policy) == 20 * kMinute);
}

TEST_CASE("it is warned after its time, and what follows comes after the warning's") {
    const IdleRule rule{30 * kMinute, 10 * kMinute, IdleAct::End};
    model::JobRecord job = idling();
    const auto step = [&](Duration idle, model::TimePoint now) {
        return lifecycle::idle_step(job, rule, idle, now);
    };
    CHECK(step(29 * kMinute, kThen) == IdleStep::None);
    CHECK(step(30 * kMinute, kThen) == IdleStep::Warn);
    job.idle = lifecycle::idle_warning(job, rule, 30 * kMinute, kThen);
    CHECK(job.idle->since == kThen - 30 * kMinute);
    CHECK(job.idle->acts_at == kThen + 10 * kMinute);
    CHECK(step(39 * kMinute, kThen + 9 * kMinute) == IdleStep::None);
    CHECK(step(40 * kMinute, kThen + 10 * kMinute) == IdleStep::Act);
    CHECK(step(Duration{0}, kThen + 9 * kMinute) == IdleStep::Over);
    CHECK(lifecycle::idle_step(job, {}, 40 * kMinute, kThen) == IdleStep::Over);
    job.state = model::JobState::Pausing;
    CHECK(step(40 * kMinute, kThen + 10 * kMinute) == IdleStep::Over);
}

TEST_CASE("the rule as it is now counts, and what was seen of it since") {
    IdleRule rule{30 * kMinute, 10 * kMinute, IdleAct::End};
    model::JobRecord job = idling();
    job.idle = lifecycle::idle_warning(job, rule, 30 * kMinute, kThen);
    const model::TimePoint later = kThen + 60 * kMinute;
    // By a server that has just begun.
    CHECK(lifecycle::idle_step(job, rule, kMinute, later) == IdleStep::Over);
    CHECK(lifecycle::idle_step(job, rule, 90 * kMinute, later) == IdleStep::Act);
    rule.after = 120 * kMinute;
    CHECK(lifecycle::idle_step(job, rule, 90 * kMinute, later) == IdleStep::Over);
}

TEST_CASE("who is kept is not warned until then") {
    const IdleRule rule{30 * kMinute, 10 * kMinute, IdleAct::Park};
    model::JobRecord job = idling();
    job.kept_until = kThen + kMinute;
    CHECK(lifecycle::idle_step(job, rule, 60 * kMinute, kThen) == IdleStep::None);
    CHECK(lifecycle::idle_step(job, rule, 60 * kMinute, kThen + kMinute) == IdleStep::Warn);
}

TEST_CASE("who cannot be parked is warned, with the reason, and stays") {
    const IdleRule rule{30 * kMinute, 10 * kMinute, IdleAct::Park};
    model::JobRecord job = idling();
    const auto why_not = [&] {
        const auto warning = lifecycle::idle_warning(job, rule, 30 * kMinute, kThen);
        CHECK((warning.act == IdleAct::Park) == warning.why_not.empty());
        CHECK(warning.acts_at.has_value() == warning.why_not.empty());
        return warning.why_not;
    };
    CHECK(why_not().empty());
    job.pause_way.may_park = false;
    CHECK(why_not() == "its calls to GPUs were not watched when it was started");
    job.pause_way = {model::PauseRung::Signal, "no driver"};
    CHECK(why_not() == "no checkpoint: no driver");
    job.spec.tasks_max = 2;
    CHECK(why_not() == "only jobs of one task are parked");
}
