// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "adapters/sqlite/check.h"
#include "adapters/sqlite/data_lock.h"
#include "adapters/sqlite/database.h"
#include "adapters/sqlite/log_end.h"
#include "adapters/sqlite/schema.h"

namespace berth::adapters::sqlite {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

tl::unexpected<base::Error> copy_unavailable(const std::string& what, const std::string& path,
                                             const std::string& why) {
    return base::fail(ErrorCode::Unavailable, "cannot " + what + " \"" + path + "\": " + why);
}

std::string folder_of(const std::string& file) {
    const std::string folder = fs::path(file).parent_path();
    return folder.empty() ? "." : folder;
}

bool is_there(const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

// A database and what SQLite puts beside it.
void remove_database(const std::string& path) {
    std::error_code ignored;
    for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(path + end, ignored);
}

base::Status sync_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_done = file >= 0 && ::fsync(file) == 0;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (is_done) return {};
    return copy_unavailable("write", path, std::generic_category().message(error));
}

base::Result<LogEnd> end_of_sound(const std::string& path, const std::string& name) {
    BERTH_TRY(check, check_log(path));
    if (check.findings.empty()) return std::move(check.end);
    return base::fail(ErrorCode::Conflict,
                      "\"" + name + "\" is not sound: " + check.findings.front().what);
}

// Whole and durable, under a name that nobody looks for yet.
base::Result<LogEnd> copy_sound(const std::string& from, const std::string& to) {
    remove_database(to);
    BERTH_TRY(source, Database::open_to_read(from));
    BERTH_TRY_VOID(check_version(source, from));
    BERTH_TRY_VOID(source.copy_to(to));
    BERTH_TRY(end, end_of_sound(to, from));
    BERTH_TRY_VOID(sync_file(to));
    return std::move(end);
}

base::Status give_name(const std::string& path, const std::string& file) {
    // A link never takes the place of a file that has come meanwhile.
    if (::link(path.c_str(), file.c_str()) != 0) {
        const int error = errno;
        if (error == EEXIST) return base::fail(ErrorCode::Exists, "\"" + file + "\" exists");
        return copy_unavailable("make", file, std::generic_category().message(error));
    }
    return sync_directory(folder_of(file));
}

// Where the log goes that is to be replaced.
std::string free_name(const std::string& directory) {
    for (int number = 1;; ++number) {
        const std::string name = directory + "/berth-before-restore-" + std::to_string(number);
        if (!is_there(name + ".db")) return name + ".db";
    }
}

base::Status move_file(const std::string& from, const std::string& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (!error) return {};
    return copy_unavailable("move", from, error.message());
}

// How far the directory has come, by its mark or by the log that is there.
base::Result<HighMark> mark_of(const std::string& directory, base::JobId highest_used) {
    const auto known = HighMarkFile::read(directory);
    HighMark mark = known && *known ? **known : HighMark{};
    auto log = Database::open_to_read(directory + "/berth.db");
    if (log) {
        if (const auto end = read_log_end(*log)) {
            mark.sequence = std::max(mark.sequence, end->sequence);
            mark.last_job = std::max(mark.last_job, end->last_job);
        }
    }
    mark.last_job = std::max(mark.last_job, highest_used);
    mark.is_restored = true;
    return mark;
}

}  // namespace

base::Result<Copied> back_up(const std::string& directory, const std::string& file) {
    const std::string log = directory + "/berth.db";
    if (!is_there(log)) {
        return base::fail(ErrorCode::NotFound, "there is no log \"" + log + "\"");
    }
    if (is_there(file)) {
        return base::fail(ErrorCode::Exists, "\"" + file + "\" exists; choose another name");
    }
    const std::string part = file + ".part";
    auto end = copy_sound(log, part);
    base::Status status;
    if (end) status = give_name(part, file);
    remove_database(part);
    if (!end) return tl::unexpected(end.error());
    if (!status) return tl::unexpected(status.error());
    return Copied{std::move(*end)};
}

base::Result<Copied> restore(const std::string& directory, const std::string& file,
                             base::JobId highest_used) {
    if (!is_there(file)) return base::fail(ErrorCode::NotFound, "there is no \"" + file + "\"");
    const auto lock = DataLock::take(directory);
    if (!lock) return tl::unexpected(lock.error());
    const std::string log = directory + "/berth.db";
    const std::string part = directory + "/berth-restored.db";
    auto end = copy_sound(file, part);
    if (!end) {
        remove_database(part);
        return tl::unexpected(end.error());
    }
    BERTH_TRY(mark, mark_of(directory, highest_used));
    Copied copied{std::move(*end)};
    // From here on the next server knows that whatever log it finds was put there on purpose.
    BERTH_TRY_VOID(HighMarkFile::make(directory, mark));
    if (is_there(log)) {
        copied.aside = free_name(directory);
        BERTH_TRY_VOID(move_file(log, copied.aside));
        // What was not yet in it goes with it.
        if (is_there(log + "-wal")) BERTH_TRY_VOID(move_file(log + "-wal", copied.aside + "-wal"));
        remove_database(log);
    }
    BERTH_TRY_VOID(move_file(part, log));
    BERTH_TRY_VOID(sync_directory(directory));
    return copied;
}

}  // namespace berth::adapters::sqlite
