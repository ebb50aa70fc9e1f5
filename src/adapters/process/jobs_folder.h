// SPDX-License-Identifier: Apache-2.0
//
// What lies in the folder of the jobs (attempt_files.h), whatever the log knows of it? For the
// start of a server, and for those who look at the folder beside the log.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "adapters/process/attempt_files.h"
#include "runtime/folder.h"

namespace berth::process {

// Makes the folder `jobs` of a data folder, or hides that of an earlier version from other users,
// with the folders in it. Answers whether others could look into it before.
// Errors: Forbidden, when another user could have written there; Unavailable.
base::Result<bool> take_jobs_folder(const runtime::Folder& data);

// The highest number of a job of which anything lies there; 0 = of none. Looks at names alone.
model::JobId highest_job(const std::string& jobs_dir);

// Those that have a status file.
std::vector<ports::AttemptId> attempts_in(const std::string& jobs_dir);

// Ends the attempts that live and are none of `known`, and returns when their supervisors are gone:
// a log that was set back knows nothing of them, and would give their GPUs to others. Answers which
// they were. Errors: Unavailable, when one cannot be ended.
base::Result<std::vector<ports::AttemptId>> end_strangers(
    const std::string& jobs_dir, const std::string& cluster,
    std::span<const ports::BegunAttempt> known);

}  // namespace berth::process
