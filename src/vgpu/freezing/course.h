// SPDX-License-Identifier: Apache-2.0
//
// How does a job come off its GPUs with its processes alive, and back, as a whole or not at all?
//
//   freeze: measure -> lock all -> checkpoint all -> halt all -> verify that the memory is free
//   park:   the same without halting, and also where none uses a GPU: their next call waits
//   thaw:   wake all -> restore all -> unlock all
//
// The next step follows from what is seen of the processes, never from what was done before: so a
// course that was cut short anywhere, by a kill too, is taken up by simply asking again, and a
// process that came meanwhile is taken along. All are locked before any is checkpointed and all
// restored before any is unlocked: they may wait for each other.
// What fails turns the course round once, back to where it came from. Guarantees: it ends with all
// of them as wanted, or all as they were before, or lost; then the job can only be killed.
// Pure; at most kStepsMax steps each way.
#pragma once

#include <string>
#include <vector>

namespace berth::vgpu::freezing {

enum class ProcessState { Running, Locked, Checkpointed, Failed };  // as the driver says

// What is seen of the processes of a job.
struct Sight {
    std::vector<ProcessState> on_gpu;  // of those that use a GPU
    bool is_any_halted = false;  // by a stop signal, of all
    bool are_all_halted = false;
};

enum class Goal { Frozen, Parked, Running };

enum class Step {
    Measure,     // is there host memory for what is on the GPUs?
    Lock,        // those that run
    Checkpoint,  // those that are locked
    Halt,        // all, so that none uses the processor or comes to use a GPU
    Verify,      // nothing of theirs is on a GPU
    Wake,        // all
    Restore,     // those that are checkpointed
    Unlock,      // those that are locked
    End,
};

enum class Outcome {
    Reached,  // what was wanted
    Undone,   // all is as it was before
    Lost,     // some process can do neither: kill them all
};

inline constexpr int kStepsMax = 64;

class Course {
  public:
    explicit Course(Goal wanted)
        : Course(wanted, wanted == Goal::Running ? Goal::Frozen : Goal::Running) {}
    // `before`: where it goes back to when that fails.
    Course(Goal wanted, Goal before) : wanted_(wanted), before_(before), goal_(wanted) {}

    // What is to be done now, by what is seen now.
    Step next(const Sight& sight);
    // The last step did not do its work.
    void fail(const std::string& reason);

    // Of a course that has ended.
    Outcome outcome() const;
    // Why it is not Reached: the first failure, and the one that hindered undoing it.
    const std::string& reason() const { return reason_; }

  private:
    Step off_gpus(const Sight& sight);
    Step toward_running(const Sight& sight) const;

    Goal wanted_;
    Goal before_;
    Goal goal_;
    bool is_lost_ = false;
    bool is_measured_ = false;
    bool is_verified_ = false;
    int steps_ = 0;
    std::string reason_;
};

}  // namespace berth::vgpu::freezing
