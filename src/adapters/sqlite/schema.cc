// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/schema.h"

#include "adapters/sqlite/stored_events.h"

namespace berth::adapters::sqlite {
namespace {

// "Brth": tells our files from those of other programs.
constexpr std::int64_t kApplicationId = 0x42727468;

constexpr const char* kSchema = R"sql(
PRAGMA application_id = 1114797160;
PRAGMA user_version = 3;
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  job INTEGER,
  type TEXT NOT NULL,
  payload TEXT NOT NULL,
  chain BLOB) STRICT;
CREATE INDEX events_by_job ON events (job, sequence) WHERE job IS NOT NULL;
CREATE INDEX incarnations ON events (sequence) WHERE type = 'log_begun';
CREATE TABLE launches (job INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT;
CREATE TABLE finished (
  job INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  payload TEXT NOT NULL) STRICT;
CREATE INDEX finished_by_project ON finished (project);
CREATE TABLE snapshots (
  sequence INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  payload TEXT NOT NULL) STRICT;
CREATE TABLE keys (
  key TEXT PRIMARY KEY,
  job INTEGER NOT NULL,
  time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
)sql";
static_assert(kApplicationId == 1114797160 && kSchemaVersion == 3);

// Version 1 had no index by job, and its keys had no time: they are as old as their jobs.
constexpr const char* kFromVersion1 = R"sql(
CREATE INDEX events_by_job ON events (job, sequence) WHERE job IS NOT NULL;
ALTER TABLE keys ADD COLUMN time INTEGER NOT NULL DEFAULT 0;
UPDATE keys SET time = coalesce((SELECT min(time) FROM events WHERE events.job = keys.job), 0);
)sql";

constexpr const char* kFromVersion2 = R"sql(
ALTER TABLE events ADD COLUMN chain BLOB;
CREATE INDEX incarnations ON events (sequence) WHERE type = 'log_begun';
PRAGMA user_version = 3;
)sql";

// All events of before count as one commit.
base::Status begin_chain(Database& database) {
    CommitHash hash;
    std::int64_t last = 0;
    BERTH_TRY_VOID(read_stored_events(database, [&](const StoredEvent& event) {
        add_to(hash, event);
        last = event.sequence;
        return base::Status{};
    }));
    BERTH_TRY(update, database.prepare("UPDATE events SET chain = ? WHERE sequence = ?"));
    const Hash first = hash.after({});
    return update.bind_bytes(1, bytes_of(first)).bind(2, last).run();
}

base::Status write_tables(Database& database, const Version& version) {
    if (version.is_empty) return database.execute(kSchema);
    if (version.number < 2) BERTH_TRY_VOID(database.execute(kFromVersion1));
    if (version.number >= 3) return {};
    BERTH_TRY_VOID(database.execute(kFromVersion2));
    return begin_chain(database);
}

}  // namespace

base::Result<Version> version_of(Database& database, const std::string& path) {
    BERTH_TRY(application, database.integer("PRAGMA application_id"));
    BERTH_TRY(version, database.integer("PRAGMA user_version"));
    BERTH_TRY(tables, database.integer("SELECT count(*) FROM sqlite_master"));
    if (tables > 0 && application != kApplicationId) {
        return base::fail(base::ErrorCode::Conflict,
                          "\"" + path + "\" is a database of another program");
    }
    if (version <= kSchemaVersion) return Version{version, tables == 0};
    return base::fail(base::ErrorCode::Conflict,
                      "\"" + path + "\" was written by a newer version of Berth (schema " +
                          std::to_string(version) + ", this program knows up to " +
                          std::to_string(kSchemaVersion) + "); start that version");
}

base::Status bring_up_to_date(Database& database, const std::string& path) {
    BERTH_TRY(version, version_of(database, path));
    if (version.is_this()) return {};
    BERTH_TRY_VOID(database.execute("BEGIN IMMEDIATE"));
    base::Status done = write_tables(database, version);
    if (done) done = database.execute("COMMIT");
    if (!done) (void)database.execute("ROLLBACK");
    return done;
}

base::Status check_version(Database& database, const std::string& path) {
    BERTH_TRY(version, version_of(database, path));
    if (version.is_this()) return {};
    return base::fail(base::ErrorCode::Conflict,
                      "\"" + path + "\" is " +
                          (version.is_empty ? std::string("empty")
                                            : "of schema " + std::to_string(version.number) +
                                                  "; start this version on it once (berth up)"));
}

}  // namespace berth::adapters::sqlite
