// SPDX-License-Identifier: Apache-2.0
//
// Starts, stops and finds again the processes of jobs. Everything is asynchronous: calls return
// at once, outcomes arrive at the LauncherListener, on the thread of the control loop.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job/gpu_profile.h"
#include "model/job/job.h"
#include "model/job/launch.h"
#include "model/job/pause_way.h"

namespace berth::ports {

struct AttemptId {
    model::JobId job;
    int attempt = 1;

    auto operator<=>(const AttemptId&) const = default;
};

// One process of the gang.
struct TaskLaunch {
    int rank = 0;
    int local_rank = 0;                 // among the tasks of this job on the same node
    std::string node;
    std::vector<int> gpu_indices;       // becomes CUDA_VISIBLE_DEVICES
    std::string group = {};             // of the gang; empty = it has none
    base::MilliGpu share{1000};         // of each of its GPUs
    base::Bytes gpu_memory{0};          // of each; 0 = as large a part as its share
    base::Bytes gpu_memory_max{0};      // of each, while others leave it; 0 = no more
    base::MilliGpu cap{0};              // most of the time of each; 0 = what others leave
    std::vector<std::string> environment = {};  // for this process alone, before the job's own
    std::string control_group = {};     // folder of a cgroup it joins first; empty = none
    std::string visible_devices = {};   // is CUDA_VISIBLE_DEVICES, where it is not empty
};

// An attempt that the event log says was begun.
struct BegunAttempt {
    AttemptId id;
    std::string log = {};  // incarnation of the event log that began it; empty = none
    std::vector<TaskLaunch> tasks = {};  // where they are; none = it is nowhere now
};

struct LaunchOrder {
    AttemptId attempt;
    std::string log = {};  // BegunAttempt
    std::string job_name;
    std::string project;
    model::JobKind kind = model::JobKind::Train;
    model::LaunchSpec spec;
    base::Duration grace{60 * 1000};    // default of a stop
    std::vector<TaskLaunch> tasks;      // the whole gang
    bool may_share = false;             // its GPU, with other such attempts, in turns
    std::optional<model::GpuProfile> profile = {};  // of jobs like it
    bool resumes = false;               // an earlier attempt was paused
    bool is_elastic = false;            // its tasks may come to be more or fewer
    std::optional<base::Duration> park_after = {};  // without a call to its GPUs it may be parked
    std::string freezer = {};  // of its node, by which a pause may keep its processes
    std::string arbiter = {};  // its socket there, which may order it off its GPUs for a while
};

enum class StopReason {
    Pause,  // it saves and stops, or its processes are kept, off their GPUs
    Restart,  // it saves and stops: its next attempt is another one, elsewhere or larger
    Cancel,
};

// How an attempt ended, once all of its processes are gone.
struct AttemptExit {
    int exit_code = 0;  // of the first task that failed, else 0; 128 + signal
    int signal = 0;  // that ended that task, or 0
    bool stop_asked = false;  // it had been asked to stop
    bool killed = false;  // it did not leave within the grace
    std::string detail;  // for people: "task 3 exited with 1"
    base::Duration ago{0};  // it ended, while no server was there
};

// The detail of on_lost() for an attempt that was ordered and of which nothing was ever run.
inline constexpr std::string_view kNeverStarted = "never started";

class LauncherListener {
  public:
    virtual ~LauncherListener() = default;
    virtual void on_running(AttemptId attempt) = 0;
    // It says that all its work so far is saved, and goes on.
    virtual void on_saved(AttemptId attempt) = 0;
    // The answer to a stop for a pause, or to park(): its processes live and are on no GPU, until
    // resume().
    virtual void on_frozen(AttemptId attempt, const model::Frozen& frozen) = 0;
    // None of its processes has made a call to its GPUs for this time; reported repeatedly.
    virtual void on_idle(AttemptId, base::Duration) {}
    // Parked, it makes one now, which waits until resume().
    virtual void on_waking(AttemptId) {}
    // What its tasks took of the GPUs that they shared, all those of one GPU together; before its
    // end, where anything was measured.
    virtual void on_measured(AttemptId, const model::GpuProfile&) {}
    // They share a GPU, and get less done than one after the other would.
    virtual void on_slow_pair(AttemptId, AttemptId) {}
    // A process of it uses a GPU beside its share, which `detail` tells people; said again and
    // again while that is so.
    virtual void on_escaped(AttemptId, const std::string& /*detail*/) {}
    virtual void on_exit(AttemptId attempt, const AttemptExit& exit) = 0;
    // It never ran, or its outcome cannot be known (the machine went down under it).
    virtual void on_lost(AttemptId attempt, const std::string& detail) = 0;
};

class Launcher {
  public:
    virtual ~Launcher() = default;
    virtual void set_listener(LauncherListener* listener) = 0;

    // Starts all tasks of an attempt. Failure to start is an exit with code 126 or 127.
    virtual void start(const LaunchOrder& order) = 0;
    // Takes an attempt off its GPUs; its processes live on and its next call to a GPU waits.
    // Answered by on_frozen, or not at all where it cannot be now.
    virtual void park(AttemptId) {}
    // Puts the processes of a frozen attempt on the GPUs of the order, of the same number and on
    // the same node. Answered by on_running, or by on_exit where they could not be put back.
    virtual void resume(const LaunchOrder& order) = 0;
    // A started attempt has these tasks from now on, whose ranks may be others than before, and
    // whose parts of their GPUs; what stands on the same node goes on. Where tasks are as they were
    // started there is none.
    virtual void resize(const BegunAttempt&) {}
    // Asked before that, where only parts of GPUs change: whether its processes can go on with
    // them. GPU memory that they lose is theirs no more from now on, whatever they ask for
    // meanwhile. Errors: Conflict, when they use it, or nothing here could hold them to that.
    virtual base::Status narrow(const BegunAttempt&) {
        return base::fail(base::ErrorCode::Conflict,
                          "shares of running jobs cannot be changed here");
    }
    // How a started attempt would be paused; unknown when it was not started by this launcher.
    virtual model::PauseWay pause_way(AttemptId attempt) const = 0;
    // Asks an attempt to save and stop, and kills what is left after `grace`. Idempotent.
    virtual void stop(AttemptId attempt, StopReason reason, base::Duration grace) = 0;
    // Says it in the attempt's own log.
    virtual void note(AttemptId, const std::string&) {}
    // The process that all of its own run below; 0 = not known.
    virtual pid_t process_above(AttemptId) const { return 0; }
    // What the machine lacks for a start that is tried again and again; empty = nothing.
    virtual std::string waits_for(AttemptId) const { return {}; }
    // After a restart of the server: takes up every attempt that the log says was starting or
    // running, or is frozen. Each is answered by on_running, on_frozen, on_exit or on_lost; what
    // had never been started is answered by on_lost with kNeverStarted. An attempt of the same name
    // that another incarnation of the log began is none of them.
    virtual void recover(std::span<const BegunAttempt> attempts) = 0;
};

}  // namespace berth::ports
