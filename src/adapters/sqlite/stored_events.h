// SPDX-License-Identifier: Apache-2.0
//
// What do the rows of the log contain, as they are stored? For those who look at the file itself.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "adapters/sqlite/chain.h"
#include "adapters/sqlite/database.h"
#include "model/event.h"

namespace berth::adapters::sqlite {

// The texts are valid during the visit.
struct StoredEvent {
    std::int64_t sequence = 0;
    std::int64_t time_ms = 0;
    std::optional<std::int64_t> job;
    std::string_view type;
    std::string_view payload;
    std::optional<std::string_view> chain;   // of the last event of each commit
    std::optional<std::string_view> launch;  // of the job that it submits
};

// All of them, in order, until one is refused. Errors: Unavailable, and those of `visit`.
base::Status read_stored_events(Database& database,
                                const std::function<base::Status(const StoredEvent&)>& visit);

// The events of a statement that selects payloads, and ready for its next use. Errors: Unavailable.
base::Status visit_events(Statement& select, const std::function<void(model::Event&&)>& visit);
// What was written can be read, unless the file has changed since.
tl::unexpected<base::Error> damaged(const base::Error& error);

void add_to(CommitHash& hash, const StoredEvent& event);

}  // namespace berth::adapters::sqlite
