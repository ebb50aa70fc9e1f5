// SPDX-License-Identifier: Apache-2.0
//
// The course on a model of a job: every step is seen by every process in turn, and may fail at any
// of them.
#include "vgpu/freezing/course.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::vgpu::freezing {
namespace {

constexpr std::size_t kProcesses = 8;

// Processes of a job, each with its state and whether a signal holds it.
struct Job {
    std::vector<ProcessState> states = std::vector<ProcessState>(kProcesses, ProcessState::Running);
    bool is_halted = false;
    int calls = 0;
    std::vector<Step> steps;
    bool all_were_locked = false;  // whenever one was checkpointed
    bool all_were_restored = false;  // whenever one was unlocked

    Sight sight() const { return {states, is_halted, is_halted}; }
    bool all_are(ProcessState state) const {
        return std::ranges::all_of(states, [&](ProcessState own) { return own == state; });
    }
    bool is_frozen() const { return all_are(ProcessState::Checkpointed) && is_halted; }
    bool is_running() const { return all_are(ProcessState::Running) && !is_halted; }
};

enum class Fault { Error, DriverGivesUp };

// What is to go wrong: the calls of these numbers, counted over the whole course.
struct Faults {
    std::vector<int> at;
    Fault kind = Fault::Error;
    bool hits(int call) const { return std::ranges::find(at, call) != at.end(); }
};

struct Transition {
    ProcessState from;
    ProcessState to;
};

std::optional<Transition> transition(Step step) {
    using enum ProcessState;
    switch (step) {
        case Step::Lock: return Transition{Running, Locked};
        case Step::Checkpoint: return Transition{Locked, Checkpointed};
        case Step::Restore: return Transition{Checkpointed, Locked};
        case Step::Unlock: return Transition{Locked, Running};
        default: return {};
    }
}

// Empty when the step did its work at every process.
std::string perform(Job& job, Step step, const Faults& faults) {
    job.steps.push_back(step);
    if (step == Step::Checkpoint)
        job.all_were_locked =
            std::ranges::find(job.states, ProcessState::Running) == job.states.end();
    if (step == Step::Unlock)
        job.all_were_restored =
            std::ranges::find(job.states, ProcessState::Checkpointed) == job.states.end();
    const auto change = transition(step);
    if (!change) {
        if (faults.hits(job.calls++)) return "injected";
        if (step == Step::Halt) job.is_halted = true;
        if (step == Step::Wake) job.is_halted = false;
        return {};
    }
    REQUIRE_FALSE(job.is_halted);  // the driver needs them awake
    std::string failure;
    for (ProcessState& state : job.states) {
        if (state != change->from) continue;
        if (!faults.hits(job.calls++)) {
            state = change->to;
        } else {
            failure = "injected";
            if (faults.kind == Fault::DriverGivesUp) state = ProcessState::Failed;
        }
    }
    return failure;
}

Course run(Job& job, Goal goal, const Faults& faults = {}) {
    Course course(goal);
    for (Step step = course.next(job.sight()); step != Step::End; step = course.next(job.sight())) {
        const std::string failure = perform(job, step, faults);
        if (!failure.empty()) course.fail(failure);
    }
    return course;
}

Job frozen() {
    Job job;
    run(job, Goal::Frozen);
    job.calls = 0;
    job.steps.clear();
    return job;
}

int calls_of(Goal goal) {
    Job job = goal == Goal::Frozen ? Job{} : frozen();
    run(job, goal);
    return job.calls;
}

}  // namespace

TEST_CASE("a job comes off the GPU and back in the order that processes which wait need") {
    Job job;
    CHECK(run(job, Goal::Frozen).outcome() == Outcome::Reached);
    CHECK(job.is_frozen());
    CHECK(job.steps ==
          std::vector{Step::Measure, Step::Lock, Step::Checkpoint, Step::Halt, Step::Verify});
    CHECK(job.all_were_locked);
    job.steps.clear();
    CHECK(run(job, Goal::Running).outcome() == Outcome::Reached);
    CHECK(job.is_running());
    CHECK(job.steps == std::vector{Step::Wake, Step::Restore, Step::Unlock});
    CHECK(job.all_were_restored);
}

TEST_CASE("a failure at any process in any step of freezing is undone at all of them") {
    for (int at = 0; at < calls_of(Goal::Frozen); ++at) {
        CAPTURE(at);
        Job job;
        const Course course = run(job, Goal::Frozen, {{at}});
        CHECK(course.outcome() == Outcome::Undone);
        CHECK(course.reason() == "injected");
        CHECK(job.is_running());
    }
}

TEST_CASE("a failure at any process in any step of thawing leaves the whole job frozen") {
    for (int at = 0; at < calls_of(Goal::Running); ++at) {
        CAPTURE(at);
        Job job = frozen();
        const Course course = run(job, Goal::Running, {{at}});
        CHECK(course.outcome() == Outcome::Undone);
        CHECK(job.is_frozen());
    }
}

TEST_CASE("what cannot be undone either is lost, and both reasons are reported") {
    int lost = 0;
    for (const Goal goal : {Goal::Frozen, Goal::Running}) {
        for (int first = 0; first < calls_of(goal); ++first) {
            for (int second = first + 1; second < 40; ++second) {
                CAPTURE(first);
                CAPTURE(second);
                Job job = goal == Goal::Frozen ? Job{} : frozen();
                const Course course = run(job, goal, {{first, second}});
                const bool is_whole = job.is_running() || job.is_frozen();
                const bool is_lost = course.outcome() == Outcome::Lost;
                CHECK((is_whole || is_lost));
                if (!is_lost) continue;
                ++lost;
                // All alike, but still on the GPU, or not to be woken.
                const Step last = job.steps.back();
                CHECK((!is_whole || last == Step::Verify || last == Step::Wake));
                CHECK(course.reason() == "injected; and back: injected");
            }
        }
    }
    CHECK(lost > 100);
}

TEST_CASE("a process that the driver gives up is lost with its whole job") {
    for (const int at : {1, 4, 8, 9, 12, 16}) {
        CAPTURE(at);
        Job job;
        const Course course = run(job, Goal::Frozen, {{at}, Fault::DriverGivesUp});
        CHECK(course.outcome() == Outcome::Lost);
        CHECK(course.reason() == "injected; the driver gave up a process");
    }
}

TEST_CASE("a course cut short anywhere is finished, or undone, by another") {
    for (const Goal first : {Goal::Frozen, Goal::Running}) {
        for (const Goal second : {Goal::Frozen, Goal::Running}) {
            for (std::size_t steps = 0; steps < 5; ++steps) {
                CAPTURE(steps);
                Job job = first == Goal::Frozen ? Job{} : frozen();
                Course cut(first);
                for (std::size_t i = 0; i < steps; ++i) {
                    const Step step = cut.next(job.sight());
                    if (step == Step::End) break;
                    perform(job, step, {});
                }
                CHECK(run(job, second).outcome() == Outcome::Reached);
                CHECK((second == Goal::Frozen ? job.is_frozen() : job.is_running()));
            }
        }
    }
}

TEST_CASE("a process that comes while others are taken off is taken along") {
    Job job;
    Course course(Goal::Frozen);
    bool has_come = false;
    for (Step step = course.next(job.sight()); step != Step::End; step = course.next(job.sight())) {
        perform(job, step, {});
        if (step == Step::Checkpoint && !std::exchange(has_come, true))
            job.states.push_back(ProcessState::Running);
    }
    CHECK(course.outcome() == Outcome::Reached);
    CHECK(job.states.size() == kProcesses + 1);
    CHECK(job.is_frozen());
}

TEST_CASE("a job that never stops starting processes is left alone") {
    Job job;
    Course course(Goal::Frozen);
    int before = 0;
    for (Step step = course.next(job.sight()); step != Step::End; step = course.next(job.sight())) {
        perform(job, step, {});
        if (step == Step::Checkpoint) {
            job.states.push_back(ProcessState::Running);
            ++before;
        }
    }
    CHECK(before < kStepsMax);
    CHECK(course.outcome() == Outcome::Undone);
    CHECK(course.reason() == "its processes change faster than they can be held");
    CHECK(job.is_running());
}

TEST_CASE(
    "a parked job is off its GPUs and not halted, and one that fails to come back is parked") {
    Job job;
    const auto follow = [&job](Course course, const Faults& faults) {
        for (Step step = course.next(job.sight()); step != Step::End;
             step = course.next(job.sight())) {
            const std::string failure = perform(job, step, faults);
            if (!failure.empty()) course.fail(failure);
        }
        return course;
    };
    const auto is_parked = [&job] {
        return job.all_are(ProcessState::Checkpointed) && !job.is_halted;
    };
    CHECK(follow(Course(Goal::Parked), {}).outcome() == Outcome::Reached);
    CHECK(is_parked());
    CHECK(std::ranges::find(job.steps, Step::Halt) == job.steps.end());
    CHECK(job.steps.back() == Step::Verify);
    for (int at = 0; at < 16; ++at) {
        CAPTURE(at);
        job.calls = 0;
        CHECK(follow(Course(Goal::Running, Goal::Parked), {{at}}).outcome() == Outcome::Undone);
        CHECK(is_parked());
    }
    CHECK(follow(Course(Goal::Running, Goal::Parked), {}).outcome() == Outcome::Reached);
    CHECK(job.is_running());
    for (int at = 0; at < 18; ++at) {
        CAPTURE(at);
        job.calls = 0;
        CHECK(follow(Course(Goal::Parked), {{at}}).outcome() == Outcome::Undone);
        CHECK(job.is_running());
    }
}

TEST_CASE("a job without a process on a GPU is parked as it is: its next call waits") {
    Job job;
    job.states.clear();
    CHECK(run(job, Goal::Parked).outcome() == Outcome::Reached);
    CHECK_FALSE(job.is_halted);
}

TEST_CASE("a job without a process on a GPU is not frozen") {
    Job job;
    job.states.clear();
    const Course course = run(job, Goal::Frozen);
    CHECK(course.outcome() == Outcome::Undone);
    CHECK(course.reason() == "none of its processes uses a GPU");
    CHECK(job.steps.empty());
}

}  // namespace berth::vgpu::freezing
