// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace berth::adapters::sqlite {
namespace {

constexpr int kBusyMs = 5000;  // an administrator's shell may hold the file for a moment

tl::unexpected<base::Error> error_of(sqlite3* database) {
    const bool is_constraint = (sqlite3_errcode(database) & 0xff) == SQLITE_CONSTRAINT;
    return base::fail(is_constraint ? base::ErrorCode::Internal : base::ErrorCode::Unavailable,
                      std::string("store: ") + sqlite3_errmsg(database));
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

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

base::Result<Database> Database::open(const std::string& path) {
    // SQLite would make the file readable for everybody; its side files follow the main one.
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) ::close(file);
    Database made;
    sqlite3* database = nullptr;
    // A connection is used from one thread, so that it needs no locks of its own.
    const int code =
        sqlite3_open_v2(path.c_str(), &database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    made.database_.reset(database);
    if (code != SQLITE_OK) {
        return base::fail(base::ErrorCode::Unavailable,
                          "cannot open \"" + path + "\": " + sqlite3_errstr(code));
    }
    sqlite3_busy_timeout(database, kBusyMs);
    return made;
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
