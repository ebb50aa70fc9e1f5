// SPDX-License-Identifier: Apache-2.0
//
// What if the supervisor of an attempt stands still? Whoever may send it signals may have stopped
// it, or its spawner. Its process is known from the status file, and is not another one while that
// is locked.
#pragma once

#include <string>

#include "ports/launcher.h"

namespace berth::process {

// Has it go on; where it was killed and its spawner has not noticed, that one.
void wake_supervisor(const std::string& jobs_dir, ports::AttemptId id);

enum class Only { IfStopped, Anyhow };
void kill_supervisor(const std::string& jobs_dir, ports::AttemptId id, Only only);

}  // namespace berth::process
