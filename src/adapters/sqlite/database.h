// SPDX-License-Identifier: Apache-2.0
//
// How is SQLite spoken to? A connection and prepared statements that clean up after themselves
// and answer with Result. database.cc is the only file that includes sqlite3.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace berth::adapters::sqlite {

// Ends the message of what comes of a damaged file.
inline constexpr const char* kWhatToDo =
    "; berth check says what is damaged, berth restore FILE puts a backup in its place";

// Bound values must live until the step after them.
class Statement {
  public:
    Statement() = default;

    // Parameters count from 1.
    Statement& bind(int parameter, std::int64_t value);
    Statement& bind(int parameter, std::string_view text);
    Statement& bind_bytes(int parameter, std::string_view bytes);
    Statement& bind_null(int parameter);

    // True while there is a row. Errors: Exhausted, Unavailable (disk), Internal (constraint).
    base::Result<bool> step();
    // One step that gives no row, and ready for the next use.
    base::Status run();
    void reset();

    // Of the present row, from 0; text is valid until the next step or reset.
    std::int64_t integer(int column) const;
    std::string_view text(int column) const;
    bool is_null(int column) const;

  private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Used from one thread, with its statements.
class Database {
  public:
    // Opens or makes the file, readable by its owner only. Errors: Exhausted, Unavailable.
    static base::Result<Database> open(const std::string& path);

    // Opens a file that is there, to read alone, also beside a server that writes. Errors:
    // Unavailable.
    static base::Result<Database> open_to_read(const std::string& path);

    // Whether there is a file with anything in it.
    static bool is_any(const std::string& path);

    // All pages as they are now into a new file, readable by its owner only, whatever is written
    // meanwhile. Errors: Unavailable.
    base::Status copy_to(const std::string& path);

    base::Status execute(const char* sql);
    base::Result<Statement> prepare(const char* sql);
    // The first column of the only row.
    base::Result<std::int64_t> integer(const char* sql);

  private:
    static base::Result<Database> open(const std::string& path, int flags);

    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace berth::adapters::sqlite
