// SPDX-License-Identifier: Apache-2.0
//
// Is this log the newest one of its directory? One that was set back would give numbers of jobs a
// second time, and take what became of other jobs for its own. Known are the log's end, the file
// `high` (high_mark.h), and the highest number of a job of which something lies in the directory.
// Pure. What is missing without doubt (a new directory, a log of before `high`) is fine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/sqlite/high_mark.h"

namespace berth::adapters::sqlite {

struct LogEnd {
    std::vector<std::string> incarnations;  // in order
    std::int64_t sequence = 0;
    base::JobId last_job{0};  // the highest number it has given

    HighMark mark() const {
        return {incarnations.empty() ? "" : incarnations.back(), sequence, last_job};
    }
};

// `path` is for the message. Errors: Conflict, with both numbers and the ways out.
base::Status check_standing(const LogEnd& log, const std::optional<HighMark>& high,
                            base::JobId highest_used, const std::string& path);

}  // namespace berth::adapters::sqlite
