// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/stored_events.h"

#include "codec/log/event_log.h"

namespace berth::adapters::sqlite {
namespace {

constexpr const char* kAll =
    "SELECT e.sequence, e.time, e.job, e.type, e.payload, e.chain, l.payload FROM events e "
    "LEFT JOIN launches l ON e.type = 'job_submitted' AND l.job = e.job ORDER BY e.sequence";

}  // namespace

base::Status read_stored_events(Database& database,
                                const std::function<base::Status(const StoredEvent&)>& visit) {
    BERTH_TRY(select, database.prepare(kAll));
    const auto text = [&](int column) {
        return select.is_null(column) ? std::nullopt : std::optional(select.text(column));
    };
    while (true) {
        BERTH_TRY(has_row, select.step());
        if (!has_row) return {};
        StoredEvent event;
        event.sequence = select.integer(0);
        event.time_ms = select.integer(1);
        if (!select.is_null(2)) event.job = select.integer(2);
        event.type = select.text(3);
        event.payload = select.text(4);
        event.chain = text(5);
        event.launch = text(6);
        BERTH_TRY_VOID(visit(event));
    }
}

base::Status visit_events(Statement& select, const std::function<void(model::Event&&)>& visit) {
    while (true) {
        BERTH_TRY(has_row, select.step());
        if (!has_row) break;
        auto event = codec::parse_event(select.text(0));
        if (!event) {
            select.reset();
            return damaged(event.error());
        }
        visit(std::move(*event));
    }
    select.reset();
    return {};
}

tl::unexpected<base::Error> damaged(const base::Error& error) {
    return base::fail(base::ErrorCode::Unavailable,
                      "store: what was stored has changed: " + error.message + kWhatToDo);
}

void add_to(CommitHash& hash, const StoredEvent& event) {
    hash.add_event(event.payload);
    if (event.launch && event.job) hash.add_launch({*event.job}, *event.launch);
}

}  // namespace berth::adapters::sqlite
