// SPDX-License-Identifier: Apache-2.0
//
// What lies on disk of an attempt, and what does it say? Below <data>/jobs, in a directory for
// every thousand jobs:
//   12000/12345.1.status       what became of attempt 1 of job 12345 (supervision/status_file.h)
//   12000/12345.1.task-0.log   what its task 0 wrote
//   12000/12345.1.saved        made or touched by the job whenever its work is saved
//   12000/12345.checkpoint/    what the job saved, for all its attempts
// Making a file can cost a busy file system more than all else the server does to start a job, so
// there is one to make before the supervisor takes over, and no directory.
#pragma once

#include <string>

#include "base/result.h"
#include "ports/launcher.h"
#include "supervision/descriptor.h"
#include "supervision/status_file.h"

namespace berth::process {

// What the names of its files begin with.
std::string attempt_prefix(const std::string& jobs_dir, ports::AttemptId id);
std::string status_path(const std::string& jobs_dir, ports::AttemptId id);
std::string log_path(const std::string& jobs_dir, ports::AttemptId id, int task);
std::string checkpoint_directory(const std::string& jobs_dir, model::JobId job);

// Makes the status file of an attempt that this incarnation of the log begins, locked. Files of an
// attempt of the same name that another one began are moved aside, into a folder foreign-<log>.
// Errors: Exists (this attempt was begun before), Exhausted, Unavailable (the disk says no).
base::Result<supervision::Descriptor> create_status(const std::string& jobs_dir,
                                                    const ports::BegunAttempt& attempt);

struct AttemptState {
    bool exists = false;  // and says something
    bool is_supervised = false;  // the lock is held: processes of it may live
    supervision::StatusReading status;  // while it is held, so far
    base::Duration age{0};  // since it was written
};

// Also of an attempt that an earlier server began.
AttemptState look_at(const std::string& jobs_dir, ports::AttemptId id);

// Moves foreign files aside as well, and says that there are none.
AttemptState read_attempt(const std::string& jobs_dir, const ports::BegunAttempt& attempt);

}  // namespace berth::process
