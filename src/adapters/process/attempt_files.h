// SPDX-License-Identifier: Apache-2.0
//
// What lies on disk of an attempt, and what does it say? <data>/jobs/<job>/<attempt>/ holds
// `status` (supervision/status_file.h) and a log for each task.
#pragma once

#include <string>

#include "base/result.h"
#include "ports/launcher.h"
#include "supervision/descriptor.h"
#include "supervision/status_file.h"

namespace berth::process {

std::string job_directory(const std::string& jobs_dir, model::JobId job);
std::string attempt_directory(const std::string& jobs_dir, ports::AttemptId id);

// Makes the directory and a status file, locked. Errors: Exists (this attempt was begun before),
// Unavailable (the disk says no).
base::Result<supervision::Descriptor> create_status(const std::string& jobs_dir,
                                                    ports::AttemptId id);

struct AttemptState {
    bool exists = false;
    bool is_supervised = false;           // a living supervisor holds the lock
    supervision::StatusReading status;    // only when nobody holds it
};

AttemptState read_attempt(const std::string& jobs_dir, ports::AttemptId id);

}  // namespace berth::process
