// SPDX-License-Identifier: Apache-2.0
//
// Where does the event log of one server live? In one SQLite file, DIRECTORY/berth.db, in WAL
// mode with a full sync of every commit: what commit() has returned for is on the disk.
//
// Guarantees (tests/contract): a batch is written whole or not at all; sequences have no gap;
// one server per directory; a file of a newer program is refused and left as it is. Cost: one sync
// of the disk per commit(), so callers gather events into batches.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ports/store.h"

namespace berth::adapters::sqlite {

inline constexpr int kSchemaVersion = 2;

// Makes the directory and the file when they are missing.
// Errors: Conflict (another server has the directory; written by a newer program), Unavailable.
base::Result<std::unique_ptr<ports::Store>> open_store(const std::string& directory);

}  // namespace berth::adapters::sqlite
