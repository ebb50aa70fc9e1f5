// SPDX-License-Identifier: Apache-2.0
//
// What a machine must know to run a job's command. The core never looks at this.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/job/job.h"
#include "model/policy/policy.h"

namespace berth::model {

// How a job is asked to save and stop.
struct PauseManner {
    std::string signal = "auto";  // auto | TERM | INT | USR1 | USR2 | none (kill at once)
    std::optional<Duration> grace;  // killed when it still runs then; none = the policy's
};

struct LaunchSpec {
    std::vector<std::string> command;      // argv of every task
    std::string workdir;                   // absolute
    std::vector<std::string> environment;  // NAME=value, the whole environment
    std::string checkpoint_dir;            // absolute; empty = one made by the server per job
    PauseManner pause;
    bool terminal = false;                 // run task 0 on a pseudo terminal
    bool attached = false;                 // do not exec before a client has attached
    std::string user;                      // who submitted
};

// How long the job may take to save when it is asked to stop; none = as the policy says.
inline std::optional<Duration> own_grace(const LaunchSpec& launch) {
    if (launch.pause.signal == "none") return Duration{0};
    if (!launch.pause.grace) return {};
    // The log may hold a job of a version that took more.
    return std::clamp(*launch.pause.grace, Duration{0}, kPauseGraceMax);
}

}  // namespace berth::model
