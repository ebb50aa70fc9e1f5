// SPDX-License-Identifier: Apache-2.0
#include "vgpu/freezing/course.h"

#include <algorithm>
#include <utility>

namespace berth::vgpu::freezing {
namespace {

bool is_any(const Sight& sight, ProcessState state) {
    return std::ranges::find(sight.on_gpu, state) != sight.on_gpu.end();
}

}  // namespace

Step Course::next(const Sight& sight) {
    if (is_any(sight, ProcessState::Failed) && !is_lost_) {
        reason_ += (reason_.empty() ? "" : "; ");
        reason_ += "the driver gave up a process";
        is_lost_ = true;
    }
    if (++steps_ > kStepsMax) {
        steps_ = 0;
        fail("its processes change faster than they can be held");
    }
    if (goal_ == Goal::Frozen && wanted_ == goal_ && sight.on_gpu.empty()) {
        fail("none of its processes uses a GPU");
    }
    if (is_lost_) return Step::End;
    return goal_ == Goal::Running ? toward_running(sight) : off_gpus(sight);
}

Step Course::off_gpus(const Sight& sight) {
    if (is_any(sight, ProcessState::Running)) {
        if (sight.is_any_halted) return Step::Wake;  // a halted process cannot be locked
        if (std::exchange(is_measured_, true)) return Step::Lock;
        return Step::Measure;
    }
    if (is_any(sight, ProcessState::Locked)) {
        return sight.is_any_halted ? Step::Wake : Step::Checkpoint;
    }
    if (goal_ == Goal::Frozen && !sight.are_all_halted) return Step::Halt;
    if (std::exchange(is_verified_, true)) return Step::End;
    return Step::Verify;
}

Step Course::toward_running(const Sight& sight) const {
    if (sight.is_any_halted) return Step::Wake;
    if (is_any(sight, ProcessState::Checkpointed)) return Step::Restore;
    if (is_any(sight, ProcessState::Locked)) return Step::Unlock;
    return Step::End;
}

void Course::fail(const std::string& reason) {
    if (goal_ != wanted_) {
        reason_ += "; and back: " + reason;
        is_lost_ = true;
        return;
    }
    reason_ = reason;
    goal_ = before_;
    is_measured_ = true;  // undoing needs no more room than there was
    is_verified_ = false;
}

Outcome Course::outcome() const {
    if (is_lost_) return Outcome::Lost;
    return goal_ == wanted_ ? Outcome::Reached : Outcome::Undone;
}

}  // namespace berth::vgpu::freezing
