// SPDX-License-Identifier: Apache-2.0
//
// Is the log sound? Looks at the file itself, beside a running server or without one, and changes
// nothing: SQLite's own check, every event readable and in its place, the chain of checksums, and
// what was written down beside the events (the snapshot, the jobs that ended) equal to what follows
// from them. Cost: reads all of it once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "adapters/sqlite/standing.h"
#include "lifecycle/apply.h"

namespace berth::adapters::sqlite {

// One thing that is wrong, and what to do.
struct Finding {
    std::string what;
    std::string next;
};

// What the log says of a job that ended.
struct EndedJob {
    model::JobState state = model::JobState::Succeeded;
    int exit_code = 0;
    int attempts = 0;
    int incarnation = 0;
};

struct LogCheck {
    std::vector<Finding> findings;
    LogEnd end;
    std::int64_t commits = 0;
    bool is_restored = false;  // put there on purpose, and no server has gone on from it yet
    // As the events say; up to the first that is damaged.
    lifecycle::State state;
    std::map<model::JobId, EndedJob> ended;
};

// Of a database file. Errors: Unavailable; Conflict: nothing of it can be read, or it is of another
// version.
base::Result<LogCheck> check_log(const std::string& path);

// Of the log of a directory, which also goes with what else lies there (standing.h). Errors: the
// same, and NotFound.
base::Result<LogCheck> check_directory(const std::string& directory, base::JobId highest_used);

// What anybody can do about a damaged log.
inline constexpr const char* kRestore =
    "restore the newest backup that is sound: berth down; berth restore FILE";

}  // namespace berth::adapters::sqlite
