// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/log_end.h"

#include <algorithm>

#include "codec/log/event_log.h"
#include "runtime/random_name.h"

namespace berth::adapters::sqlite {

void note(LogEnd& end, const model::Event& event) {
    end.sequence = event.sequence;
    if (const auto* begun = std::get_if<model::LogBegun>(&event.body)) {
        end.incarnations.push_back(begun->incarnation);
        end.last_job = std::max(end.last_job, begun->last_job);
    } else if (const auto* submitted = std::get_if<model::JobSubmitted>(&event.body)) {
        end.last_job = std::max(end.last_job, submitted->job);
    }
}

base::Result<LogEnd> read_log_end(Database& database) {
    LogEnd end;
    // In two steps: the index by job tells the highest at once.
    BERTH_TRY(last_job,
              database.integer("SELECT coalesce(max(job), 0) FROM events WHERE job IS NOT NULL"));
    end.last_job = {std::max<std::int64_t>(last_job, 0)};
    BERTH_TRY(select, database.prepare("SELECT payload FROM events WHERE type = 'log_begun' "
                                       "ORDER BY sequence"));
    while (true) {
        BERTH_TRY(has_row, select.step());
        if (!has_row) break;
        BERTH_TRY(event, codec::parse_event(select.text(0)));
        note(end, event);
    }
    BERTH_TRY(sequence, database.integer("SELECT coalesce(max(sequence), 0) FROM events"));
    end.sequence = sequence;
    return end;
}

base::Result<Hash> last_hash(Database& database) {
    BERTH_TRY(select, database.prepare("SELECT chain FROM events ORDER BY sequence DESC LIMIT 1"));
    BERTH_TRY(has_row, select.step());
    Hash hash{};
    if (!has_row) return hash;
    const std::string_view bytes = select.text(0);
    if (bytes.size() != hash.size()) {
        return base::fail(base::ErrorCode::Internal,
                          "store: the last event has no checksum; the log is damaged (berth "
                          "check)");
    }
    std::ranges::copy(bytes, hash.begin());
    return hash;
}

base::Result<std::optional<model::LogBegun>> next_incarnation(const LogEnd& end,
                                                              const std::optional<HighMark>& high,
                                                              const Expected& expected,
                                                              const std::string& path) {
    const base::Status standing = check_standing(end, high, expected.highest_used, path);
    const bool is_restored = high && high->is_restored && end.sequence > 0;
    if (!standing && !expected.accept_older && !is_restored) {
        return tl::unexpected(standing.error());
    }
    const bool is_anew = !standing || is_restored;
    if (!is_anew && !end.incarnations.empty()) return std::optional<model::LogBegun>{};
    BERTH_TRY(incarnation, runtime::random_name(16));
    model::LogBegun begun{incarnation, {0}};
    if (is_anew) {
        begun.last_job = std::max(end.last_job, expected.highest_used);
        if (high) begun.last_job = std::max(begun.last_job, high->last_job);
    }
    return std::optional(std::move(begun));
}

}  // namespace berth::adapters::sqlite
