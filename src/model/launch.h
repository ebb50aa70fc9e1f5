// SPDX-License-Identifier: Apache-2.0
//
// What a machine must know to run a job's command. The core never looks at this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job.h"

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

}  // namespace berth::model
