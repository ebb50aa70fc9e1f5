// SPDX-License-Identifier: Apache-2.0
//
// How is a log copied while its server runs, and how does a copy come back? A backup is one file
// that check_log() has found sound. It is made by reading, so that the server never waits for it;
// the write-ahead log grows meanwhile.
#pragma once

#include <string>

#include "adapters/sqlite/sqlite_store.h"
#include "adapters/sqlite/standing.h"

namespace berth::adapters::sqlite {

// What is in a copy.
struct Copied {
    LogEnd end;
    std::string aside = {};  // where the log went that was there before
};

// The log of the directory into a new file, durably. Errors: Exists; Conflict, when the log is not
// sound; NotFound; Unavailable.
base::Result<Copied> back_up(const std::string& directory, const std::string& file);

// The log of the directory becomes that of the file, a backup or any copy of berth.db. The one
// before stays beside it. The next server begins a new incarnation. Errors: Conflict (a server
// runs, the file is not sound or of another version), NotFound, Unavailable; nothing has changed
// then.
base::Result<Copied> restore(const std::string& directory, const std::string& file,
                             base::JobId highest_used);

}  // namespace berth::adapters::sqlite
