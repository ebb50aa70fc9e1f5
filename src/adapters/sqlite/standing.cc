// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/standing.h"

#include <algorithm>

namespace berth::adapters::sqlite {
namespace {

std::string end_of(std::int64_t sequence, base::JobId last_job) {
    return "event " + std::to_string(sequence) + " and job " + std::to_string(last_job.value);
}

// Why the log is not the newest one; empty = it is.
std::string contradiction(const LogEnd& log, const std::optional<HighMark>& high,
                          base::JobId highest_used) {
    const std::string its_end = "it ends at " + end_of(log.sequence, log.last_job);
    if (high) {
        const std::string wanted =
            its_end + ", and this directory has come to " + end_of(high->sequence, high->last_job);
        const auto known = std::ranges::find(log.incarnations, high->incarnation);
        const bool is_newest =
            high->incarnation == (log.incarnations.empty() ? "" : log.incarnations.back());
        if (is_newest && log.sequence < high->sequence) return wanted;
        // A log that began anew after that, and stopped before it had said so here.
        const bool is_older = known != log.incarnations.end() || high->incarnation.empty();
        if (!is_newest && (!is_older || log.last_job < high->last_job)) {
            return wanted + " with another log";
        }
    } else if (!log.incarnations.empty()) {
        return its_end +
               ", and the file \"high\" that tells how far this directory has come is "
               "not there, as beside a copy";
    }
    if (log.last_job < highest_used) {
        return its_end + ", and this directory has files of job " +
               std::to_string(highest_used.value);
    }
    return {};
}

}  // namespace

base::Status check_standing(const LogEnd& log, const std::optional<HighMark>& high,
                            base::JobId highest_used, const std::string& path) {
    const std::string why = contradiction(log, high, highest_used);
    if (why.empty()) return {};
    return base::fail(
        base::ErrorCode::Conflict,
        "the log \"" + path + "\" is " + (log.sequence == 0 ? "empty" : "not the newest") + ": " +
            why +
            "; restore the newest backup (berth restore FILE), or go on from this log (berth "
            "up --accept-older-log)");
}

}  // namespace berth::adapters::sqlite
