// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/backup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

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

// What SQLite puts beside a database.
constexpr std::array kBeside = {"-wal", "-shm", "-journal"};

// A database that has a name of its own, and is removed with what stands beside it unless it gets
// another name.
class Part {
  public:
    // Beside the file that it is to become. Errors: Unavailable.
    static base::Result<Part> make(const std::string& file) {
        std::string path = file + ".part-XXXXXX";
        const int made = ::mkostemp(path.data(), O_CLOEXEC);
        if (made < 0) {
            return copy_unavailable("make", path, std::generic_category().message(errno));
        }
        ::close(made);
        return Part(std::move(path));
    }
    Part(Part&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    Part& operator=(Part&&) = delete;
    ~Part() {
        if (path_.empty()) return;
        std::error_code ignored;
        fs::remove(path_, ignored);
        for (const char* end : kBeside) fs::remove(path_ + end, ignored);
    }

    const std::string& path() const { return path_; }

  private:
    explicit Part(std::string path) : path_(std::move(path)) {}

    std::string path_;
};

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

// Whole and durable.
base::Result<LogEnd> copy_sound(const std::string& from, const std::string& to) {
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
        const std::string name =
            directory + "/berth-before-restore-" + std::to_string(number) + ".db";
        if (!is_there(name) && !is_there(name + "-wal")) return name;
    }
}

base::Status move_file(const std::string& from, const std::string& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (!error) return {};
    return copy_unavailable("move", from, error.message());
}

// The log with what was not yet in it, or what is left of the two; where to. A server that comes
// between two steps refuses a write-ahead log without its database. Empty: nothing was there.
base::Result<std::string> move_aside(const std::string& directory) {
    const std::string log = directory + "/berth.db";
    const std::string aside = free_name(directory);
    bool is_any = false;
    for (const char* end : {"", "-journal", "-wal"}) {
        if (!is_there(log + end)) continue;
        BERTH_TRY_VOID(move_file(log + end, aside + end));
        is_any = true;
    }
    std::error_code ignored;
    fs::remove(log + "-shm", ignored);
    return is_any ? aside : "";
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
    // Read first: the log is never behind it.
    BERTH_TRY(high, HighMarkFile::read(directory));
    BERTH_TRY(part, Part::make(file));
    BERTH_TRY(end, copy_sound(log, part.path()));
    if (!high || !high->is_restored) BERTH_TRY_VOID(check_standing(end, high, {}, log));
    BERTH_TRY_VOID(give_name(part.path(), file));
    return Copied{std::move(end)};
}

base::Result<Copied> restore(const std::string& directory, const std::string& file,
                             base::JobId highest_used) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) {
        return base::fail(ErrorCode::NotFound, "there is no file \"" + file + "\"");
    }
    const auto lock = DataLock::take(directory);
    if (!lock) return tl::unexpected(lock.error());
    const std::string log = directory + "/berth.db";
    BERTH_TRY(part, Part::make(log));
    BERTH_TRY(end, copy_sound(file, part.path()));
    BERTH_TRY(mark, mark_of(directory, highest_used));
    Copied copied{std::move(end)};
    // From here on the next server knows that whatever log it finds was put there on purpose.
    BERTH_TRY_VOID(HighMarkFile::make(directory, mark));
    BERTH_TRY(aside, move_aside(directory));
    copied.aside = std::move(aside);
    BERTH_TRY_VOID(move_file(part.path(), log));
    BERTH_TRY_VOID(sync_directory(directory));
    return copied;
}

}  // namespace berth::adapters::sqlite
