// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/sqlite_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "adapters/sqlite/chain.h"
#include "adapters/sqlite/data_lock.h"
#include "adapters/sqlite/database.h"
#include "adapters/sqlite/log_end.h"
#include "adapters/sqlite/room.h"
#include "adapters/sqlite/schema.h"
#include "adapters/sqlite/stored_events.h"
#include "codec/log/event_log.h"

namespace berth::adapters::sqlite {
namespace {

using base::Result;
using base::Status;
using model::JobId;

// A statement costs as much as the rows it writes, when they are few.
constexpr std::size_t kEventsAtOnce = 16;

// Device and inode; zeros where there is none.
using FileIdentity = std::pair<dev_t, ino_t>;
FileIdentity file_at(const std::string& path) {
    struct stat about{};
    return ::stat(path.c_str(), &about) == 0 ? FileIdentity{about.st_dev, about.st_ino}
                                             : FileIdentity{};
}

class SqliteStore final : public ports::Store {
  public:
    SqliteStore(std::string directory, DataLock lock, Database database, HighMarkFile high,
                LogEnd end)
        : directory_(std::move(directory)),
          path_(directory_ + "/berth.db"),
          file_(file_at(path_)),
          lock_(std::move(lock)),
          database_(std::move(database)),
          high_(std::move(high)),
          end_(std::move(end)) {}
    // Everything in one file again: a copy of it is the whole log.
    ~SqliteStore() override;

    Status prepare(std::optional<model::LogBegun> begins);

    std::optional<model::LogBegun> begins() const override { return begins_; }

    Status commit(const ports::Batch& batch) override;
    ports::Room room() const override { return room_of(directory_); }
    Result<std::optional<model::Snapshot>> latest_snapshot() override;
    Status write_snapshot(const model::Snapshot& snapshot) override;
    Status read_events(std::int64_t after, std::int64_t limit,
                       const std::function<void(model::Event&&)>& visit) override;
    Status read_events_of(JobId job, std::int64_t after, std::int64_t limit,
                          const std::function<void(model::Event&&)>& visit) override;
    void read_together(const std::function<void()>& reads) override;
    Result<model::LaunchSpec> launch_of(JobId job) override;
    Result<model::JobRecord> finished_job(JobId job) override;
    Result<std::vector<model::JobRecord>> finished_jobs(const ports::FinishedQuery& query) override;
    Result<std::optional<JobId>> job_with_key(const std::string& key,
                                              base::TimePoint since) override;

  private:
    // Everything that `write` does happens, or nothing.
    template <typename Write>
    Status in_transaction(Write&& write);
    Status check_sequences(const ports::Batch& batch) const;
    Status write(const ports::Batch& batch);
    Status write_launches(const ports::Batch& batch, CommitHash& hash);
    Status write_keys(const ports::Batch& batch);
    // The last event of a batch has the hash of it all.
    void encode(std::span<const model::Event> events, CommitHash& hash);
    Status write_events(Statement& insert, std::span<const model::Event> events, const Hash* chain);
    void follow(const ports::Batch& batch);
    Status write_finished(const model::JobRecord& record);
    Result<codec::FinishedJob> find_finished(JobId job);

    std::string directory_;
    std::string path_;
    FileIdentity file_;  // what is written to another one is lost
    DataLock lock_;
    Database database_;
    HighMarkFile high_;
    LogEnd end_;
    Hash chain_{};  // of the last commit
    Hash next_chain_{};  // of the one that is being written
    std::optional<model::LogBegun> begins_;
    std::string text_;  // reused for each row that is written
    std::array<std::size_t, kEventsAtOnce> ends_{};  // of the events in it
    Statement begin_;
    Statement begin_reading_;
    Statement commit_;
    Statement rollback_;
    Statement insert_event_;
    Statement insert_events_;
    Statement select_events_;
    Statement select_events_of_job_;
    Statement insert_launch_;
    Statement select_launch_;
    Statement insert_finished_;
    Statement select_finished_;
    Statement list_finished_;
    Statement list_finished_of_project_;
    Statement insert_snapshot_;
    Statement select_snapshot_;
    Statement delete_snapshots_;
    Statement insert_key_;
    Statement select_key_;
    Statement delete_keys_;
};

Status SqliteStore::prepare(std::optional<model::LogBegun> begins) {
    begins_ = std::move(begins);
    std::string many_events = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)";
    for (std::size_t i = 1; i < kEventsAtOnce; ++i) many_events += ", (?, ?, ?, ?, ?, ?)";
    const std::pair<Statement*, const char*> statements[] = {
        {&begin_, "BEGIN IMMEDIATE"},
        {&begin_reading_, "BEGIN DEFERRED"},
        {&commit_, "COMMIT"},
        {&rollback_, "ROLLBACK"},
        {&insert_event_, "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)"},
        {&insert_events_, many_events.c_str()},
        {&select_events_,
         "SELECT payload FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?"},
        {&select_events_of_job_,
         "SELECT payload FROM events WHERE sequence > ? AND job = ?3 ORDER BY sequence LIMIT ?2"},
        {&insert_launch_, "INSERT INTO launches VALUES (?, ?)"},
        {&select_launch_, "SELECT payload FROM launches WHERE job = ?"},
        {&insert_finished_, "INSERT INTO finished VALUES (?, ?, ?)"},
        {&select_finished_, "SELECT payload FROM finished WHERE job = ?"},
        {&list_finished_, "SELECT payload FROM finished WHERE job < ? ORDER BY job DESC LIMIT ?"},
        {&list_finished_of_project_,
         "SELECT payload FROM finished WHERE job < ? AND project = ?3 "
         "ORDER BY job DESC LIMIT ?2"},
        {&insert_snapshot_, "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)"},
        {&select_snapshot_, "SELECT payload FROM snapshots ORDER BY sequence DESC LIMIT 1"},
        {&delete_snapshots_, "DELETE FROM snapshots WHERE sequence < ?"},
        {&insert_key_, "INSERT OR REPLACE INTO keys VALUES (?, ?, ?)"},
        {&select_key_, "SELECT job FROM keys WHERE key = ? AND time >= ?"},
        {&delete_keys_, "DELETE FROM keys WHERE time < ?"},
    };
    for (const auto& [statement, sql] : statements) {
        BERTH_TRY(prepared, database_.prepare(sql));
        *statement = std::move(prepared);
    }
    BERTH_TRY(chain, last_hash(database_));
    chain_ = chain;
    return {};
}

SqliteStore::~SqliteStore() {
    high_.sync();
    (void)database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

template <typename Write>
Status SqliteStore::in_transaction(Write&& write) {
    BERTH_TRY_VOID(begin_.run());
    Status status = write();
    if (status) status = commit_.run();
    // SQLite may have rolled back by itself; then this has nothing to do and says so.
    if (!status) (void)rollback_.run();
    return status;
}

Status SqliteStore::check_sequences(const ports::Batch& batch) const {
    std::int64_t wanted = end_.sequence;
    for (const model::Event& event : batch.events) {
        if (event.sequence == ++wanted) continue;
        return base::fail(base::ErrorCode::Internal, "store: wanted event " +
                                                         std::to_string(wanted) + " next, found " +
                                                         std::to_string(event.sequence));
    }
    return {};
}

Status SqliteStore::commit(const ports::Batch& batch) {
    if (batch.is_empty()) return {};
    if (file_ != file_at(path_)) {
        return base::fail(
            base::ErrorCode::Unavailable,
            "store: \"" + path_ + "\" was removed or replaced while the server ran; put it back");
    }
    BERTH_TRY_VOID(check_sequences(batch));
    BERTH_TRY_VOID(in_transaction([&] { return write(batch); }));
    follow(batch);
    return {};
}

// What is durable now is what the next commit goes on from.
void SqliteStore::follow(const ports::Batch& batch) {
    chain_ = next_chain_;
    for (const model::Event& event : batch.events) note(end_, event);
    if (begins_ && !end_.incarnations.empty() && end_.incarnations.back() == begins_->incarnation) {
        begins_.reset();
    }
    high_.put(end_.mark());
}

Status SqliteStore::write(const ports::Batch& batch) {
    CommitHash hash;
    BERTH_TRY_VOID(write_launches(batch, hash));
    std::span<const model::Event> events(batch.events);
    while (!events.empty()) {
        const bool are_many = events.size() >= kEventsAtOnce;
        const auto next = events.first(are_many ? kEventsAtOnce : 1);
        const bool are_last = next.size() == events.size();
        encode(next, hash);
        if (are_last) next_chain_ = hash.after(chain_);
        BERTH_TRY_VOID(write_events(are_many ? insert_events_ : insert_event_, next,
                                    are_last ? &next_chain_ : nullptr));
        events = events.subspan(next.size());
    }
    for (const model::JobRecord& record : batch.finished) BERTH_TRY_VOID(write_finished(record));
    return write_keys(batch);
}

Status SqliteStore::write_keys(const ports::Batch& batch) {
    for (const model::Event& event : batch.events) {
        const auto known = model::key_of(event.body);
        if (known.key.empty()) continue;
        insert_key_.bind(1, known.key).bind(2, known.job.value);
        BERTH_TRY_VOID(insert_key_.bind(3, base::to_ms(event.time)).run());
    }
    return {};
}

Status SqliteStore::write_launches(const ports::Batch& batch, CommitHash& hash) {
    for (const auto& [job, launch] : batch.launches) {
        text_.clear();
        codec::append_launch(text_, launch);
        hash.add_launch(job, text_);
        BERTH_TRY_VOID(insert_launch_.bind(1, job.value).bind(2, text_).run());
    }
    return {};
}

void SqliteStore::encode(std::span<const model::Event> events, CommitHash& hash) {
    text_.clear();
    for (std::size_t i = 0; i < events.size(); ++i) {
        const std::size_t begin = text_.size();
        codec::append_event(text_, events[i]);
        ends_[i] = text_.size();
        hash.add_event(std::string_view(text_).substr(begin));
    }
}

// The statement has a row for each of them.
Status SqliteStore::write_events(Statement& insert, std::span<const model::Event> events,
                                 const Hash* chain) {
    int row = 0;  // number of the last parameter before it
    std::size_t begin = 0;
    for (std::size_t i = 0; i < events.size(); ++i, row += 6) {
        const model::Event& event = events[i];
        const JobId job = codec::job_of(event.body);
        insert.bind(row + 1, event.sequence).bind(row + 2, base::to_ms(event.time));
        job.is_valid() ? insert.bind(row + 3, job.value) : insert.bind_null(row + 3);
        insert.bind(row + 4, codec::event_type(event.body));
        insert.bind(row + 5, std::string_view(text_).substr(begin, ends_[i] - begin));
        const bool is_last = chain != nullptr && i + 1 == events.size();
        is_last ? insert.bind_bytes(row + 6, bytes_of(*chain)) : insert.bind_null(row + 6);
        begin = ends_[i];
    }
    return insert.run();
}

Status SqliteStore::write_finished(const model::JobRecord& record) {
    text_.clear();
    codec::append_finished(text_, record);
    insert_finished_.bind(1, record.id.value).bind(2, record.spec.project).bind(3, text_);
    return insert_finished_.run();
}

Result<std::optional<model::Snapshot>> SqliteStore::latest_snapshot() {
    BERTH_TRY(has_row, select_snapshot_.step());
    if (!has_row) return std::optional<model::Snapshot>{};
    auto snapshot = codec::parse_snapshot(select_snapshot_.text(0));
    select_snapshot_.reset();
    if (!snapshot) return damaged(snapshot.error());
    return std::optional(std::move(*snapshot));
}

Status SqliteStore::write_snapshot(const model::Snapshot& snapshot) {
    text_.clear();
    codec::append_snapshot(text_, snapshot);
    return in_transaction([&]() -> Status {
        insert_snapshot_.bind(1, snapshot.sequence).bind(2, base::to_ms(snapshot.time));
        BERTH_TRY_VOID(insert_snapshot_.bind(3, text_).run());
        const model::TimePoint kept_from = snapshot.time - ports::kKeyKept;
        BERTH_TRY_VOID(delete_keys_.bind(1, base::to_ms(kept_from)).run());
        high_.sync();
        return delete_snapshots_.bind(1, snapshot.sequence).run();
    });
}

Status SqliteStore::read_events(std::int64_t after, std::int64_t limit,
                                const std::function<void(model::Event&&)>& visit) {
    select_events_.bind(1, after).bind(2, limit);
    return visit_events(select_events_, visit);
}

Status SqliteStore::read_events_of(JobId job, std::int64_t after, std::int64_t limit,
                                   const std::function<void(model::Event&&)>& visit) {
    select_events_of_job_.bind(1, after).bind(2, limit).bind(3, job.value);
    return visit_events(select_events_of_job_, visit);
}

Result<codec::FinishedJob> SqliteStore::find_finished(JobId job) {
    BERTH_TRY(has_row, select_finished_.bind(1, job.value).step());
    if (!has_row) {
        select_finished_.reset();
        return base::fail(base::ErrorCode::NotFound,
                          "no finished job " + std::to_string(job.value));
    }
    auto finished = codec::parse_finished(select_finished_.text(0));
    select_finished_.reset();
    if (!finished) return damaged(finished.error());
    return finished;
}

// One transaction takes the locks of the file once. Without it every answer is the same.
void SqliteStore::read_together(const std::function<void()>& reads) {
    const bool has_begun = begin_reading_.run().has_value();
    reads();
    if (has_begun && !commit_.run()) (void)rollback_.run();
}

Result<model::LaunchSpec> SqliteStore::launch_of(JobId job) {
    BERTH_TRY(has_row, select_launch_.bind(1, job.value).step());
    if (has_row) {
        auto launch = codec::parse_launch(select_launch_.text(0));
        select_launch_.reset();
        if (!launch) return damaged(launch.error());
        return launch;
    }
    select_launch_.reset();
    // Earlier versions moved the command of a job that ended into its record.
    auto finished = find_finished(job);
    if (finished && finished->launch) return std::move(*finished->launch);
    if (!finished && finished.error().code != base::ErrorCode::NotFound) {
        return tl::unexpected(finished.error());
    }
    return base::fail(base::ErrorCode::NotFound, "no command of job " + std::to_string(job.value));
}

Result<model::JobRecord> SqliteStore::finished_job(JobId job) {
    BERTH_TRY(finished, find_finished(job));
    return std::move(finished.record);
}

Result<std::vector<model::JobRecord>> SqliteStore::finished_jobs(
    const ports::FinishedQuery& query) {
    const bool is_all = query.project.empty();
    Statement& list = is_all ? list_finished_ : list_finished_of_project_;
    list.bind(1, query.before.value).bind(2, query.limit);
    if (!is_all) list.bind(3, query.project);
    std::vector<model::JobRecord> records;
    while (true) {
        BERTH_TRY(has_row, list.step());
        if (!has_row) break;
        auto finished = codec::parse_finished(list.text(0));
        if (!finished) {
            list.reset();
            return damaged(finished.error());
        }
        records.push_back(std::move(finished->record));
    }
    list.reset();
    return records;
}

Result<std::optional<JobId>> SqliteStore::job_with_key(const std::string& key,
                                                       base::TimePoint since) {
    BERTH_TRY(has_row, select_key_.bind(1, key).bind(2, base::to_ms(since)).step());
    const auto job = has_row ? std::optional(JobId{select_key_.integer(0)}) : std::nullopt;
    select_key_.reset();
    return job;
}

// The log is durable at each commit. 16 MiB of pages at hand: a few thousand live jobs and their
// events are not read again.
Status set_up(Database& database) {
    BERTH_TRY_VOID(database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
    // No file but these is written.
    return database.execute("PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY");
}

// Between two checkpoints a quarter of what is reserved is written, 16 MiB on most machines: the
// rest is for what has to be written down when a checkpoint finds no room.
Status reserve(Database& database, const std::string& directory, const std::string& path) {
    constexpr std::int64_t kPageBytes = 4096;
    const base::Bytes reserve = reserve_of(directory);
    keep_reserve(path + "-wal", reserve);
    const std::int64_t pages = std::max<std::int64_t>(reserve.value / 4 / kPageBytes, 16);
    return database.execute(("PRAGMA wal_autocheckpoint = " + std::to_string(pages)).c_str());
}

// What is read from now on is on the disk: a sync that failed before may have left it in memory
// alone.
Status make_durable(Database& database) {
    const Status done = database.execute("PRAGMA wal_checkpoint(PASSIVE)");
    const bool is_full = !done && done.error().code == base::ErrorCode::Exhausted;
    return is_full ? Status{} : done;
}

// Before anything is opened to write, so that a directory that is refused stays as it is.
Status judge(const std::string& path, const std::optional<HighMark>& high,
             const Expected& expected) {
    LogEnd end;
    // A first write was torn: it has to be taken back before anything can be read.
    if (Database::is_any(path + "-journal")) return {};
    if (Database::is_any(path)) {
        BERTH_TRY(database, Database::open_to_read(path));
        // What an earlier version wrote is brought up to date first.
        BERTH_TRY(version, version_of(database, path));
        if (!version.is_this() && !version.is_empty) return {};
        if (version.is_this()) {
            BERTH_TRY(found, read_log_end(database));
            end = std::move(found);
        }
    } else if (Database::is_any(path + "-wal")) {
        return base::fail(base::ErrorCode::Conflict,
                          "the log \"" + path +
                              "\" is gone, and what was not yet in it is there: \"" + path +
                              "-wal\"; put the two together again, restore the newest backup "
                              "(berth restore FILE), or move that file away");
    }
    const auto next = next_incarnation(end, high, expected, path);
    return next ? Status{} : tl::unexpected(next.error());
}

Result<std::unique_ptr<ports::Store>> try_to_open(const std::string& directory,
                                                  const Expected& expected) {
    BERTH_TRY(lock, DataLock::take(directory));
    const std::string path = directory + "/berth.db";
    BERTH_TRY(high, HighMarkFile::read(directory));
    BERTH_TRY_VOID(judge(path, high, expected));
    BERTH_TRY(database, Database::open(path));
    BERTH_TRY_VOID(set_up(database));
    BERTH_TRY_VOID(bring_up_to_date(database, path));
    BERTH_TRY_VOID(make_durable(database));
    BERTH_TRY_VOID(sync_directory(directory));
    BERTH_TRY_VOID(reserve(database, directory, path));
    BERTH_TRY(end, read_log_end(database));
    BERTH_TRY(begins, next_incarnation(end, high, expected, path));
    // The old mark stays until the log has begun anew.
    const HighMark mark = begins && high ? *high : end.mark();
    BERTH_TRY(high_file, HighMarkFile::make(directory, mark));
    auto store = std::make_unique<SqliteStore>(directory, std::move(lock), std::move(database),
                                               std::move(high_file), std::move(end));
    BERTH_TRY_VOID(store->prepare(std::move(begins)));
    return std::unique_ptr<ports::Store>(std::move(store));
}

}  // namespace

// SQLite needs a little room even to read; on a full disk there is some in the reserve.
Result<std::unique_ptr<ports::Store>> open_store(const std::string& directory,
                                                 const Expected& expected) {
    auto store = try_to_open(directory, expected);
    if (store || store.error().code != base::ErrorCode::Exhausted) return store;
    give_up_reserve(directory + "/berth.db-wal");
    store = try_to_open(directory, expected);
    if (store || store.error().code != base::ErrorCode::Exhausted) return store;
    return base::fail(base::ErrorCode::Exhausted,
                      "the disk is full: the log in \"" + directory +
                          "\" cannot even be opened; make some room there and start again (" +
                          store.error().message + ")");
}

}  // namespace berth::adapters::sqlite
