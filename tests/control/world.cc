// SPDX-License-Identifier: Apache-2.0
#include "control/world.h"

#include <doctest/doctest.h>

#include "codec/log/event_log.h"
#include "lifecycle/invariants.h"

namespace berth::tests {

World::World(model::Policy policy) : policy_(policy) {
    store.begin({"begun", {}});
    start();
    for (const char* name : {"n1", "n2"}) {
        model::Node node;
        node.name = name;
        node.gpus = 4;
        controller->set_node(node, "admin", [](const base::Status& status) { REQUIRE(status); });
    }
    REQUIRE(set_project("a", 4));
    REQUIRE(set_project("b", 4));
}

void World::start() {
    launcher = std::make_unique<RecordingLauncher>();
    control::Settings settings;
    settings.policy = policy_;
    settings.may_be_unlike = may_be_unlike;
    controller = std::make_unique<control::Controller>(std::move(settings),
                                                       control::Ports{clock, store, *launcher});
    REQUIRE(controller->recover());
}

void World::restart() {
    controller.reset();
    start();
}

void World::restart_frozen(model::JobId job, const model::Frozen& memory, bool has_snapshot) {
    const std::string before = dump();
    if (has_snapshot) REQUIRE(controller->write_snapshot());
    restart();
    CHECK(dump() == before);
    CHECK(launcher->recovered == std::vector{attempt(job)});
    frozen(job, memory);
}

model::Submission World::job_of(const std::string& project, int gpus) {
    model::Submission submission;
    submission.spec.project = project;
    submission.spec.request.gpus = gpus;
    submission.launch.command = {"train"};
    submission.launch.workdir = "/";
    submission.launch.user = "susan";
    return submission;
}

std::shared_ptr<World::Answer> World::submit(const model::Submission& submission) {
    auto answer = std::make_shared<Answer>();
    controller->submit(submission, [answer](const auto& outcome) {
        REQUIRE_FALSE(answer->is_told);
        answer->is_told = true;
        if (outcome) {
            answer->job = *outcome;
        } else {
            answer->refusal = outcome.error();
        }
    });
    return answer;
}

model::JobId World::run(const std::string& project, int gpus) {
    const auto answer = submit(job_of(project, gpus));
    step();
    REQUIRE(answer->job.is_valid());
    REQUIRE(state(answer->job) == model::JobState::Starting);
    running(answer->job);
    return answer->job;
}

base::Status World::after_step(const std::function<void(control::Done)>& command) {
    std::optional<base::Status> answer;
    command([&](const base::Status& status) { answer = status; });
    CHECK_FALSE(answer.has_value());
    step();
    REQUIRE(answer.has_value());
    return *answer;
}

base::Status World::pause(model::JobId id) {
    return after_step([&](auto done) { controller->pause(id, "susan", {}, done); });
}
base::Status World::resume(model::JobId id) {
    return after_step([&](auto done) { controller->resume(id, "susan", done); });
}
base::Status World::cancel(model::JobId id, std::optional<base::Duration> grace) {
    return after_step([&](auto done) { controller->cancel(id, "susan", grace, done); });
}
base::Status World::remove_project(const std::string& name) {
    return after_step(
        [&](auto done) { controller->record(model::ProjectRemoved{name}, "admin", done); });
}

base::Status World::set_project(const std::string& name, int quota, const std::string& parent) {
    model::Project project;
    project.name = name;
    project.parent = parent;
    project.rights.quota = base::gpus(quota);
    return after_step([&](auto done) { controller->set_project(project, "admin", done); });
}

base::Status World::set_policy(const model::PolicyChanges& changes) {
    return after_step([&](auto done) { controller->set_policy(changes, "admin", done); });
}

void World::running(model::JobId id) {
    launcher->listener().on_running(attempt(id));
    step();
}
void World::saved(model::JobId id) {
    launcher->listener().on_saved(attempt(id));
    step();
}
void World::frozen(model::JobId id, const model::Frozen& frozen) {
    launcher->listener().on_frozen(attempt(id), frozen);
    step();
}
void World::exits(model::JobId id, const ports::AttemptExit& exit) {
    launcher->listener().on_exit(attempt(id), exit);
    step();
}
void World::lost(model::JobId id, std::string_view detail) {
    launcher->listener().on_lost(attempt(id), std::string(detail));
    step();
}

const model::JobRecord& World::job(model::JobId id) const {
    return controller->state().jobs.at(id);
}

model::JobState World::state(model::JobId id) const {
    const auto& live = controller->state().jobs;
    if (const auto found = live.find(id); found != live.end()) return found->second.state;
    return disk.finished.at(id).state;
}

std::size_t World::count(std::string_view event_type) const {
    return static_cast<std::size_t>(std::ranges::count_if(disk.events, [&](const auto& event) {
        return codec::event_type(event.body) == event_type;
    }));
}

// Tiers are as of the last event or decision; both sides of a comparison are brought up to now.
std::string World::dump() const {
    cluster::Cluster copy = controller->state().cluster;
    cluster::keep_ranks(copy, clock.now());
    return lifecycle::dump(copy);
}

}  // namespace berth::tests
