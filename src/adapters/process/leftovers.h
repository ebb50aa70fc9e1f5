// SPDX-License-Identifier: Apache-2.0
//
// What may still run when a supervisor was killed, and its spawner too? Its tasks die with it, but
// not what they had started. Those processes bear the mark of the attempt (supervision/mark.h), or
// carry the names of cluster, job and attempt in their environment.
#pragma once

#include <string>

#include "ports/launcher.h"

namespace berth::process {

// Kills them; answers how many there were: none is known to be gone before it answers 0. Reads all
// of /proc: only for this rare case.
int kill_leftovers(const std::string& cluster, ports::AttemptId id);

}  // namespace berth::process
