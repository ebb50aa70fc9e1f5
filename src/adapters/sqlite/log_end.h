// SPDX-License-Identifier: Apache-2.0
//
// Where does the log in this file end, and does it go on or begin anew (standing.h)?
#pragma once

#include <optional>
#include <string>

#include "adapters/sqlite/chain.h"
#include "adapters/sqlite/database.h"
#include "adapters/sqlite/sqlite_store.h"
#include "adapters/sqlite/standing.h"
#include "model/event.h"

namespace berth::adapters::sqlite {

base::Result<LogEnd> read_log_end(Database& database);
// The same for one more event at its end.
void note(LogEnd& end, const model::Event& event);
// Of the last commit; all zeros before the first.
base::Result<Hash> last_hash(Database& database);

// What a log is to begin with that is new, or older than its directory and taken all the same; none
// for one that goes on. Errors: those of check_standing().
base::Result<std::optional<model::LogBegun>> next_incarnation(const LogEnd& end,
                                                              const std::optional<HighMark>& high,
                                                              const Expected& expected,
                                                              const std::string& path);

}  // namespace berth::adapters::sqlite
