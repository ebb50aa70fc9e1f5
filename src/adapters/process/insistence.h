// SPDX-License-Identifier: Apache-2.0
//
// What if the supervisor of an attempt stands still? A user who may send it signals may have
// stopped it, or its spawner, which ends what it leaves. Both keep the status file open: by that
// they are found. Its process is named there, and is not another one while that is locked.
#pragma once

#include <string>

#include "ports/launcher.h"

namespace berth::process {

// Has it go on, and its spawner, also one of a server before this one.
void wake_supervisor(const std::string& jobs_dir, ports::AttemptId id);

enum class Only { IfStopped, Anyhow };
void kill_supervisor(const std::string& jobs_dir, ports::AttemptId id, Only only);

}  // namespace berth::process
