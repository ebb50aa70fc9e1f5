// SPDX-License-Identifier: Apache-2.0
//
// Where does the event log of one server live? In one SQLite file, DIRECTORY/berth.db, in WAL
// mode with a full sync of every commit: what commit() has returned for is on the disk.
//
// Guarantees (tests/contract): a batch is written whole or not at all; sequences have no gap;
// one server per directory; a file of a newer program is refused and left as it is; so is a log
// that is older than what its directory has seen; once the store is gone, berth.db alone is the
// whole log. Cost: one sync of the disk per commit(), so callers gather events into batches.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ports/store.h"

namespace berth::adapters::sqlite {

// What the caller knows of the directory.
struct Expected {
    base::JobId highest_used{0};  // of the jobs of which something lies there
    bool accept_older = false;  // go on from a log that is not the newest, under a new incarnation
};

// Makes the directory and the file when they are missing.
// Errors: Conflict (another server has the directory; the file was written by a newer program, or
// its log is not the newest of the directory: standing.h), Exhausted, Unavailable.
base::Result<std::unique_ptr<ports::Store>> open_store(const std::string& directory,
                                                       const Expected& expected = {});

}  // namespace berth::adapters::sqlite
