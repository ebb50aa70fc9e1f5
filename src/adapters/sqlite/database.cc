// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace berth::adapters::sqlite {
namespace {

// Of SQLite on Unix, with what it adds for its side files.
constexpr std::size_t kPathMax = 504;
constexpr int kBusyMs = 5000;  // an administrator's shell may hold the file for a moment

// For want of room, and for nothing else. A sync that failed is not among them, whatever it says:
// some of what was written before it may be lost.
bool is_full(sqlite3* database) {
    const int code = sqlite3_extended_errcode(database);
    if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC) return false;
    const int primary = code & 0xff;
    if (primary == SQLITE_FULL) return true;
    // The index of the write-ahead log finds no room; the system's reason is not kept.
    if (code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_SHMOPEN) return true;
    if (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN) return false;
    const int system = sqlite3_system_errno(database);
    return system == ENOSPC || system == EDQUOT;
}

base::ErrorCode code_of(sqlite3* database) {
    if ((sqlite3_errcode(database) & 0xff) == SQLITE_CONSTRAINT) return base::ErrorCode::Internal;
    return is_full(database) ? base::ErrorCode::Exhausted : base::ErrorCode::Unavailable;
}

tl::unexpected<base::Error> error_of(sqlite3* database) {
    const int code = sqlite3_errcode(database) & 0xff;
    std::string text = std::string("store: ") + sqlite3_errmsg(database);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
        text += kWhatToDo;
    }
    return base::fail(code_of(database), std::move(text));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int parameter, std::int64_t value) {
    sqlite3_bind_int64(statement_.get(), parameter, value);
    return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
    sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind_bytes(int parameter, std::string_view bytes) {
    sqlite3_bind_blob64(statement_.get(), parameter, bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
}

Statement& Statement::bind_null(int parameter) {
    sqlite3_bind_null(statement_.get(), parameter);
    return *this;
}

base::Result<bool> Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    auto error = error_of(sqlite3_db_handle(statement_.get()));
    reset();
    return error;
}

base::Status Statement::run() {
    BERTH_TRY_VOID(step());
    reset();
    return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
    const void* bytes = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

base::Result<Database> Database::open(const std::string& path) {
    // SQLite would make the file readable for everybody; its side files follow the main one.
    const int file =
        path.size() > kPathMax ? -1 : ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) ::close(file);
    return open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

base::Result<Database> Database::open(const std::string& path, int flags) {
    if (path.size() > kPathMax)
        return base::invalid("\"" + path + "\" has " + std::to_string(path.size()) +
                             " bytes, of which SQLite takes " + std::to_string(kPathMax) +
                             "; choose a folder with a shorter path (--data, BERTH_DATA)");
    Database made;
    sqlite3* database = nullptr;
    // A connection is used from one thread, so that it needs no locks of its own.
    const int code = sqlite3_open_v2(path.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    made.database_.reset(database);
    if (code != SQLITE_OK) {
        return base::fail(code_of(database),
                          "cannot open \"" + path + "\": " + sqlite3_errstr(code));
    }
    sqlite3_busy_timeout(database, kBusyMs);
    return made;
}

base::Result<Database> Database::open_to_read(const std::string& path) {
    return open(path, SQLITE_OPEN_READONLY);
}

bool Database::is_any(const std::string& path) {
    sqlite3_vfs* files = sqlite3_vfs_find(nullptr);
    int is_there = 0;
    // As SQLite looks for a write-ahead log: an empty file is none.
    files->xAccess(files, path.c_str(), SQLITE_ACCESS_EXISTS, &is_there);
    return is_there != 0;
}

base::Status Database::copy_to(const std::string& path) {
    BERTH_TRY(target, open(path));
    // Within one transaction it reads one state, and need not begin again when another process
    // writes.
    BERTH_TRY_VOID(execute("BEGIN; SELECT count(*) FROM sqlite_master"));
    sqlite3_backup* copy =
        sqlite3_backup_init(target.database_.get(), "main", database_.get(), "main");
    if (copy != nullptr) {
        sqlite3_backup_step(copy, -1);
        sqlite3_backup_finish(copy);
    }
    const bool is_done = sqlite3_errcode(target.database_.get()) == SQLITE_OK;
    base::Status status;
    if (!is_done) status = error_of(target.database_.get());
    (void)execute("COMMIT");
    // A file by itself, also for those who may only read it.
    if (status) status = target.execute("PRAGMA journal_mode = DELETE");
    return status;
}

base::Status Database::execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        return error_of(database_.get());
    }
    return {};
}

base::Result<Statement> Database::prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                           nullptr) != SQLITE_OK) {
        return error_of(database_.get());
    }
    Statement made;
    made.statement_.reset(statement);
    return made;
}

base::Result<std::int64_t> Database::integer(const char* sql) {
    BERTH_TRY(statement, prepare(sql));
    BERTH_TRY(has_row, statement.step());
    return has_row ? statement.integer(0) : 0;
}

}  // namespace berth::adapters::sqlite
