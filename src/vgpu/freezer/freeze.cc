// SPDX-License-Identifier: Apache-2.0
#include "vgpu/freezer/freeze.h"

#include <algorithm>

namespace berth::vgpu::freezer {
namespace {

using freezing::Course;
using freezing::Goal;
using freezing::Outcome;
using freezing::Step;
using supervision::FreezerAnswer;
using supervision::FreezerOutcome;
using Clock = Processes::Clock;

FreezerOutcome outcome_of(const Course& course) {
    switch (course.outcome()) {
        case Outcome::Reached: return FreezerOutcome::Done;
        case Outcome::Undone: return FreezerOutcome::Undone;
        case Outcome::Lost: return FreezerOutcome::Lost;
    }
    return FreezerOutcome::Lost;
}

FreezerAnswer follow(Course course, Processes& processes) {
    FreezerAnswer answer;
    const auto began = Clock::now();
    for (Step step = course.next(processes.look()); step != Step::End;
         step = course.next(processes.look())) {
        // What they hold before they leave, or have when they are back.
        if (step == Step::Measure || step == Step::Unlock) answer.bytes = processes.bytes();
        const std::string failure = processes.perform(step);
        if (!failure.empty()) course.fail(failure);
    }
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    answer.ms = time.count();
    answer.outcome = outcome_of(course);
    if (answer.outcome != FreezerOutcome::Done) answer.reason = course.reason();
    return answer;
}

Clock::time_point after(std::int64_t ms) {
    return Clock::now() + std::chrono::milliseconds(std::max<std::int64_t>(0, ms));
}

}  // namespace

FreezerAnswer freeze(const Node& node, pid_t root, const supervision::FreezeRequest& request) {
    Processes processes(node, root, after(request.timeout_ms));
    return follow(Course(request.runs_on ? Goal::Parked : Goal::Frozen), processes);
}

FreezerAnswer thaw(const Node& node, pid_t root, const supervision::ThawRequest& request) {
    const bool moves = std::ranges::any_of(
        request.moves, [](const supervision::GpuMove& move) { return move.from != move.to; });
    if (moves && !node.driver.can_move())
        return {FreezerOutcome::Undone,
                "this driver puts a process back on the same GPUs only; CUDA 13.0 can move it", -1,
                0};
    Processes processes(node, root, after(request.timeout_ms),
                        moves ? request.moves : std::vector<supervision::GpuMove>{});
    return follow(Course(Goal::Running, request.ran_on ? Goal::Parked : Goal::Frozen), processes);
}

}  // namespace berth::vgpu::freezer
