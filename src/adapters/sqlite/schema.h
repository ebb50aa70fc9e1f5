// SPDX-License-Identifier: Apache-2.0
//
// Which tables does the file have, and how does one of an earlier version get them?
#pragma once

#include <string>

#include "adapters/sqlite/database.h"

namespace berth::adapters::sqlite {

// Version 3: the chain over commits (chain.h), and incarnations of the log.
inline constexpr int kSchemaVersion = 3;

struct Version {
    std::int64_t number = 0;
    bool is_empty = false;  // nothing was written yet

    bool is_this() const { return !is_empty && number == kSchemaVersion; }
};
// Errors: Conflict (of another program, or of a newer version of this one), Unavailable.
base::Result<Version> version_of(Database& database, const std::string& path);

// A new file gets its tables, an older one what it lacks, each in one transaction. Errors: Conflict
// (of another program, or of a newer version of this one: it is left as it is), Unavailable.
base::Status bring_up_to_date(Database& database, const std::string& path);
// The same refusals, and another for an older file; changes nothing.
base::Status check_version(Database& database, const std::string& path);

}  // namespace berth::adapters::sqlite
