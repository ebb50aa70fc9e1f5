// SPDX-License-Identifier: Apache-2.0
//
// A small cluster around a Controller: a disk that outlives it, a clock moved by hand, a launcher
// that runs nothing. Two nodes with four GPUs each; projects a and b own four of them each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/controller.h"
#include "doubles/hand_clock.h"
#include "doubles/memory_store.h"
#include "doubles/recording_launcher.h"

namespace berth::tests {

class World {
  public:
    explicit World(model::Policy policy = model::berth_policy());

    // The controller dies as in a crash, and the next one recovers from what is on the disk.
    void restart();
    // The same with another policy than before.
    void restart(model::Policy policy) { policy_ = policy, restart(); }

    // The same to a job that is off its GPUs, from the log or from a snapshot: the next one has the
    // same state, takes its attempt up and hears from its supervisor where it is.
    void restart_frozen(model::JobId job, const model::Frozen& memory, bool has_snapshot);

    // Queues a job of whole GPUs; the answer comes with the next step.
    struct Answer {
        bool is_told = false;
        model::JobId job;
        std::optional<control::Refusal> refusal;
    };
    std::shared_ptr<Answer> submit(const model::Submission& submission);
    static model::Submission job_of(const std::string& project, int gpus);
    // Submits, steps, and says that it runs.
    model::JobId run(const std::string& project, int gpus);

    // What a command answers, after a step.
    base::Status pause(model::JobId job);
    base::Status resume(model::JobId job);
    base::Status cancel(model::JobId job, std::optional<base::Duration> grace = {});
    base::Status set_project(const std::string& name, int quota, const std::string& parent = "");
    base::Status remove_project(const std::string& name);
    base::Status set_policy(const model::PolicyChanges& changes);

    // Reports of the launcher about the job's newest attempt, and a step.
    void running(model::JobId job);
    void saved(model::JobId job);
    void frozen(model::JobId job, const model::Frozen& frozen);
    void exits(model::JobId job, const ports::AttemptExit& exit);
    void lost(model::JobId job, std::string_view detail);

    void step() { controller->step(); }
    const model::JobRecord& job(model::JobId id) const;
    model::JobState state(model::JobId id) const;  // of an ended job as well
    ports::AttemptId attempt(model::JobId id) const { return {id, job(id).attempts}; }
    std::size_t count(std::string_view event_type) const;
    std::string dump() const;

    HandClock clock;
    MemoryStore::Disk disk;
    MemoryStore store{disk};
    std::unique_ptr<RecordingLauncher> launcher;
    std::unique_ptr<control::Controller> controller;
    bool may_be_unlike = false;  // from the next restart on: gangs may have companions

  private:
    void start();
    base::Status after_step(const std::function<void(control::Done)>& command);

    model::Policy policy_;
};

// Asked to stop, saved, and left with code 0.
inline constexpr auto saved_and_left = [] {
    return ports::AttemptExit{.exit_code = 0, .stop_asked = true, .detail = {}};
};

}  // namespace berth::tests
