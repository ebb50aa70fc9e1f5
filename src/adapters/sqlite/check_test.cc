// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/check.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "adapters/sqlite/backup.h"
#include "base/rng.h"

using namespace berth;
using namespace berth::adapters::sqlite;
using model::JobId;

namespace {

constexpr std::int64_t kJobs = 30;

class Directory {
  public:
    Directory() {
        char name[] = "/tmp/berth-test-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~Directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string log() const { return path_ + "/berth.db"; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// Writes as a server does: what follows from the events goes with them.
class Author {
  public:
    explicit Author(const std::string& directory) : store_(*open_store(directory)) {
        const auto snapshot = store_->latest_snapshot();
        if (*snapshot) state_ = lifecycle::restore(**snapshot);
        REQUIRE(store_->read_events(state_.sequence, INT64_MAX, [&](model::Event&& event) {
            REQUIRE(lifecycle::try_apply(state_, event));
        }));
        auto begins = store_->begins();
        if (!begins) return;
        begins->order = model::OrderRules{};
        happen(*begins), commit();
    }

    void happen(model::EventBody body) {
        const base::TimePoint time = base::at_ms(1'700'000'000'000 + state_.sequence);
        batch_.events.push_back({state_.sequence + 1, time, "test", std::move(body)});
        auto ended = lifecycle::try_apply(state_, batch_.events.back());
        REQUIRE(ended.has_value());
        if (*ended) batch_.finished.push_back(**ended);
    }
    void submit(std::int64_t id) {
        model::JobSpec spec;
        spec.name = "job";
        spec.project = "lab";
        const std::string key = id % 3 == 0 ? "" : "key " + std::to_string(id);
        happen(model::JobSubmitted{{id}, spec, "susan", "python train.py", key});
        model::LaunchSpec launch;
        launch.command = {"python", "train.py"};
        launch.environment = {"SEED=" + std::to_string(id)};
        batch_.launches.emplace_back(JobId{id}, launch);
    }
    void finish(std::int64_t id) {
        happen(model::JobFinished{{id}, model::JobState::Failed, 3, "exited with 3"});
    }
    void commit() {
        REQUIRE(store_->commit(batch_));
        batch_ = {};
    }
    void snapshot() { REQUIRE(store_->write_snapshot(lifecycle::snapshot(state_))); }
    JobId next_job() const { return {state_.last_job.value + 1}; }

  private:
    std::unique_ptr<ports::Store> store_;
    lifecycle::State state_;
    ports::Batch batch_;
};

// Jobs in commits of one and of many, half of them ended, and a snapshot in between.
void write_log(const std::string& directory) {
    Author author(directory);
    model::Project project;
    project.name = "lab";
    author.happen(model::ProjectSet{project});
    author.commit();
    for (std::int64_t id = 1; id <= kJobs; ++id) {
        author.submit(id);
        if (id % 7 != 0) author.commit();
        if (id % 2 == 0) author.finish(id);
        if (id == kJobs / 2) author.commit(), author.snapshot();
    }
    author.commit();
}

// A directory with such a log, written once and copied: every commit waits for the disk.
class Written {
  public:
    Written() {
        static const Directory kept;
        static const bool is_written = (write_log(kept.path()), true);
        REQUIRE(is_written);
        for (const char* name : {"/berth.db", "/high"}) {
            std::filesystem::copy_file(kept.path() + name, directory_.path() + name);
        }
    }
    std::string log() const { return directory_.log(); }
    const std::string& path() const { return directory_.path(); }

  private:
    Directory directory_;
};

void execute(const std::string& path, const std::string& sql) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    CAPTURE(sql);
    CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
}

// Everything that the log says, row by row.
std::string content(const std::string& path) {
    sqlite3* database = nullptr;
    std::string text;
    REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
    const auto add = [](void* into, int columns, char** values, char**) {
        for (int i = 0; i < columns; ++i)
            *static_cast<std::string*>(into) += values[i] ? values[i] : "-";
        return 0;
    };
    sqlite3_exec(database,
                 "SELECT sequence, time, job, type, payload, hex(chain) FROM events "
                 "ORDER BY sequence",
                 add, &text, nullptr);
    sqlite3_exec(database, "SELECT * FROM launches ORDER BY job", add, &text, nullptr);
    sqlite3_close(database);
    return text;
}

std::string first_finding(const std::string& path) {
    const auto check = check_log(path);
    if (!check) return check.error().message;
    return check->findings.empty() ? "" : check->findings.front().what;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Name and content of each file of a directory, but what SQLite makes of it to read it.
std::map<std::string, std::string> files_of(const std::string& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        const std::string name = entry.path().filename();
        if (!name.ends_with("-shm")) files[name] = read_file(entry.path());
        if (name.ends_with("-wal") && files[name].empty()) files.erase(name);
    }
    return files;
}

// What a server leaves that was killed with commits in its write-ahead log, and the database lost
// thereafter.
void lose_database(const Written& from, const Directory& to) {
    Author author(from.path());
    author.submit(kJobs + 1);
    author.commit();
    for (const char* name : {"/berth.db-wal", "/high"}) {
        std::filesystem::copy_file(from.path() + name, to.path() + name);
    }
}

}  // namespace

TEST_CASE("a log that a server wrote is sound, and says where it ends") {
    const Written directory;
    const auto check = check_log(directory.log());
    REQUIRE(check.has_value());
    CHECK(check->findings.empty());
    CHECK(check->end.sequence == 2 + kJobs + kJobs / 2);
    CHECK(check->end.last_job == JobId{kJobs});
    CHECK(check->end.incarnations.size() == 1);
    CHECK(check->commits > kJobs / 2);
    CHECK(check->ended.size() == kJobs / 2);
    CHECK(check->ended.at({2}).exit_code == 3);
    CHECK(check_directory(directory.path(), {kJobs})->findings.empty());
    CHECK(check_directory(directory.path(), {kJobs + 1})->findings.size() == 1);
}

TEST_CASE("what was changed, lost or added by hand is found and named") {
    const Written directory;
    const auto finding_after = [&](const std::string& sql) {
        const std::string copy = directory.path() + "/changed.db";
        std::filesystem::copy_file(directory.log(), copy,
                                   std::filesystem::copy_options::overwrite_existing);
        execute(copy, sql);
        return first_finding(copy);
    };
    CHECK(finding_after("") == "");
    const std::string is_changed =
        " is wrong: one of them, or the command of a job they submit, was changed or lost";
    CHECK(finding_after("UPDATE events SET payload = replace(payload, 'susan', 'susie') "
                        "WHERE sequence = 4") == "the checksum of event 4" + is_changed);
    CHECK(finding_after("UPDATE launches SET payload = replace(payload, 'SEED', 'FEED') "
                        "WHERE job = 7") == "the checksum of events 11 to 13" + is_changed);
    CHECK(finding_after("DELETE FROM launches WHERE job = 2") ==
          "the checksum of event 4" + is_changed);
    CHECK(finding_after("DELETE FROM events WHERE sequence = 20") == "event 20 is missing");
    CHECK(finding_after("DELETE FROM events WHERE sequence > 40") != "");
    CHECK(finding_after("UPDATE events SET job = 5 WHERE sequence = 5") ==
          "event 5 differs from its own row");
    CHECK(finding_after(
              "UPDATE events SET chain = NULL WHERE chain IS NOT NULL AND sequence > 9") != "");
    CHECK(finding_after("UPDATE events SET chain = NULL WHERE sequence = 6") != "");
    CHECK(finding_after("DELETE FROM finished WHERE job = 2") ==
          "job 2 has ended by the events, and is not among the finished jobs");
    CHECK(
        finding_after("UPDATE finished SET payload = replace(payload, ':3', ':0') WHERE job = 4") ==
        "job 4 is another one among the finished jobs than by the events");
    CHECK(finding_after("INSERT INTO finished SELECT 77, project, payload FROM finished LIMIT 1") ==
          "16 finished jobs are written down, and 15 have ended by the events");
    CHECK(finding_after("DELETE FROM keys WHERE job = 5") ==
          "the key of job 5 is not among the keys, and its owner could run it twice");
    CHECK(finding_after("UPDATE keys SET job = 7 WHERE job = 5") ==
          "the key of job 5 is not among the keys, and its owner could run it twice");
    CHECK(finding_after("UPDATE keys SET time = 0 WHERE job = 5") ==
          "the key of job 5 is not among the keys, and its owner could run it twice");
    CHECK(finding_after("INSERT INTO keys VALUES ('another', 3, 1700000000000)") ==
          "there is a key of job 3 that no event names");
    CHECK(finding_after("DROP TABLE keys") ==
          "the log cannot be read to its end: store: no such table: keys");
    CHECK(finding_after("UPDATE snapshots SET payload = replace(payload, 'susan', 'susie')") ==
          "the snapshot at event 24 differs from what follows from the events");
}

TEST_CASE("whichever byte of the file is changed, it is found or nothing of the log has changed") {
    const Written directory;
    const std::string sound = read_file(directory.log());
    const std::string wanted = content(directory.log());
    base::Rng rng(24);
    int found = 0;
    for (int flips = 0; flips < 3'000; ++flips) {
        const std::size_t place = rng.index(sound.size());
        const char changed = static_cast<char>(sound[place] ^ (1 << rng.between(0, 7)));
        std::fstream file(directory.log(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(place)).put(changed).flush();
        const std::string finding = first_finding(directory.log());
        if (finding.empty() && content(directory.log()) != wanted) {
            FAIL_CHECK("a flip at byte " << place << " is not found");
        }
        found += finding.empty() ? 0 : 1;
        file.seekp(static_cast<std::streamoff>(place)).put(sound[place]).flush();
    }
    CHECK(found > 500);
}

TEST_CASE("a log of an earlier version gets its chain and its name when it is opened") {
    const Written directory;
    execute(directory.log(),
            "DROP INDEX incarnations; ALTER TABLE events DROP COLUMN chain; "
            "DELETE FROM snapshots; DELETE FROM events WHERE sequence = 1; "
            "UPDATE events SET sequence = sequence - 1, "
            "payload = replace(payload, '\"seq\":' || sequence, '\"seq\":' || (sequence - 1)); "
            "PRAGMA user_version = 2");
    std::filesystem::remove(directory.path() + "/high");
    CHECK(first_finding(directory.log()) ==
          "\"" + directory.log() + "\" is of schema 2; start this version on it once (berth up)");
    {
        Author author(directory.path());
    }
    const auto check = check_log(directory.log());
    REQUIRE(check.has_value());
    for (const Finding& finding : check->findings) FAIL_CHECK(finding.what);
    CHECK(check->commits == 2);
    CHECK(check->end.incarnations.size() == 1);
    CHECK(check->ended.size() == kJobs / 2);
    execute(directory.log(), "UPDATE launches SET payload = 'x' WHERE job = 3");
    CHECK(first_finding(directory.log()) != "");
}

TEST_CASE("a backup is the whole log, sound, and never takes the place of a file") {
    const Written directory;
    const std::string file = directory.path() + "/backup.db";
    {
        Author author(directory.path());  // a server that runs
        const auto copied = back_up(directory.path(), file);
        REQUIRE(copied.has_value());
        CHECK(copied->end.last_job == JobId{kJobs});
        author.submit(author.next_job().value);
        author.commit();
        CHECK(content(file) != content(directory.log()));
    }
    CHECK(first_finding(file) == "");
    CHECK_FALSE(std::filesystem::exists(file + ".part"));
    const auto again = back_up(directory.path(), file);
    REQUIRE_FALSE(again.has_value());
    CHECK(again.error().code == base::ErrorCode::Exists);
    execute(directory.log(), "DELETE FROM finished WHERE job = 2");
    const auto damaged = back_up(directory.path(), file + "2");
    REQUIRE_FALSE(damaged.has_value());
    CHECK(damaged.error().code == base::ErrorCode::Conflict);
    CHECK_FALSE(std::filesystem::exists(file + "2"));
}

TEST_CASE("a restored log begins anew, above what was used, and the other is kept") {
    const Written directory;
    const std::string file = directory.path() + "/backup.db";
    REQUIRE(back_up(directory.path(), file));
    {
        Author author(directory.path());
        author.submit(kJobs + 1);
        author.commit();
        const auto refused = restore(directory.path(), file, {});
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().code == base::ErrorCode::Conflict);
    }
    const std::string newest = content(directory.log());
    const auto restored = restore(directory.path(), file, {kJobs + 5});
    REQUIRE(restored.has_value());
    CHECK(content(restored->aside) == newest);
    CHECK(content(directory.log()) == content(file));
    {
        const Author author(directory.path());
        CHECK(author.next_job() == JobId{kJobs + 6});
    }
    const auto check = check_directory(directory.path(), {kJobs + 5});
    REQUIRE(check.has_value());
    CHECK(check->findings.empty());
    CHECK(check->end.incarnations.size() == 2);
    {
        const Author author(directory.path());
    }
    CHECK(check_log(directory.log())->end.incarnations.size() == 2);
}

TEST_CASE("a backup that is damaged or of another program is not restored") {
    const Written directory;
    const std::string before = content(directory.log());
    const std::string file = directory.path() + "/backup.db";
    REQUIRE(back_up(directory.path(), file));
    SUBCASE("damaged") { execute(file, "DELETE FROM events WHERE sequence = 9"); }
    SUBCASE("another program") { execute(file, "PRAGMA application_id = 7"); }
    SUBCASE("no database") { std::ofstream(file) << "hello"; }
    SUBCASE("empty") { std::filesystem::resize_file(file, 0); }
    SUBCASE("not there") { std::filesystem::remove(file); }
    CHECK_FALSE(restore(directory.path(), file, {}).has_value());
    CHECK(content(directory.log()) == before);
    CHECK(check_directory(directory.path(), {})->findings.empty());
}

TEST_CASE("a directory whose log is refused stays as it is, to the byte") {
    const Written whole;
    const Directory directory;
    lose_database(whole, directory);
    SUBCASE("the database is lost, what was not yet in it is there") {}
    SUBCASE("the database is empty, what was not yet in it is there") {
        std::ofstream(directory.log()).flush();
    }
    SUBCASE("all of the log is lost") { std::filesystem::remove(directory.log() + "-wal"); }
    SUBCASE("the log is an older one") {
        std::filesystem::remove(directory.log() + "-wal");
        std::filesystem::copy_file(whole.log(), directory.log());
        execute(directory.log(), "DELETE FROM events WHERE sequence > 40");
    }
    const auto before = files_of(directory.path());
    const auto store = open_store(directory.path());
    REQUIRE_FALSE(store.has_value());
    CHECK(store.error().code == base::ErrorCode::Conflict);
    CHECK(store.error().message.find("berth restore FILE") != std::string::npos);
    auto after = files_of(directory.path());
    after.erase("lock");
    CHECK(after == before);
}

TEST_CASE("a backup comes back where the database is lost and its write-ahead log is not") {
    const Written whole;
    const std::string file = whole.path() + "/backup.db";
    REQUIRE(back_up(whole.path(), file));
    const Directory directory;
    lose_database(whole, directory);
    const std::string left = read_file(directory.log() + "-wal");
    const auto restored = restore(directory.path(), file, {});
    REQUIRE(restored.has_value());
    CHECK(content(directory.log()) == content(file));
    CHECK(first_finding(directory.log()) == "");
    CHECK(read_file(restored->aside + "-wal") == left);
    const Author author(directory.path());
    CHECK(author.next_job() == JobId{kJobs + 2});
}

TEST_CASE("backup and restore touch no file but the one they are asked for") {
    const Written directory;
    const std::string file = directory.path() + "/backup.db";
    for (const char* end : {".part", ".part-wal", ".part-journal"}) {
        std::ofstream(file + end) << "other text";
    }
    REQUIRE(back_up(directory.path(), file));
    CHECK(read_file(file + ".part") == "other text");
    CHECK(read_file(file + ".part-wal") == "other text");
    // What a restore leaves that was killed can be restored.
    const std::string left = directory.path() + "/berth-restored.db";
    std::filesystem::rename(file, left);
    REQUIRE(restore(directory.path(), left, {}));
    CHECK(content(directory.log()) == content(left));
    for (const auto& [name, text] : files_of(directory.path())) {
        CHECK_FALSE(name.starts_with("berth-restoring"));
    }
}

TEST_CASE("at whichever byte the disk is full, a mark is whole or not there") {
    const Directory directory;
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, SIG_IGN);
    for (rlim_t end = 0; end < 128; ++end) {
        const rlimit full{end, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &full);
        const auto made = HighMarkFile::make(directory.path(), {"name", 7, {3}});
        ::setrlimit(RLIMIT_FSIZE, &before);
        CHECK_FALSE(made.has_value());
        CHECK(files_of(directory.path()).empty());
    }
    REQUIRE(HighMarkFile::make(directory.path(), {"name", 7, {3}}));
    CHECK((*HighMarkFile::read(directory.path()))->last_job == JobId{3});
    // A machine that stopped may have kept the name of a file and nothing of what was in it.
    std::ofstream(directory.path() + "/high").flush();
    CHECK_FALSE(HighMarkFile::read(directory.path())->has_value());
}

TEST_CASE("a log that was taken away from under the store takes no more") {
    const Written directory;
    const auto store = *open_store(directory.path());
    ports::Batch next;
    next.events.push_back(
        {check_log(directory.log())->end.sequence + 1, {}, "test", model::JobHeld{{1}}});
    std::filesystem::rename(directory.log(), directory.log() + "-away");
    const auto refused = store->commit(next);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("was removed or replaced") != std::string::npos);
    std::filesystem::rename(directory.log() + "-away", directory.log());
    CHECK(store->commit(next).has_value());
}

TEST_CASE("a directory has one store, also when its lock was removed") {
    const Written directory;
    const auto store = *open_store(directory.path());
    std::filesystem::remove(directory.path() + "/lock");
    const auto second = open_store(directory.path());
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == base::ErrorCode::Conflict);
}

TEST_CASE("a log that was set back is not backed up") {
    const Written directory;
    execute(directory.log(),
            "DELETE FROM events WHERE sequence > 3; DELETE FROM finished; DELETE FROM snapshots; "
            "DELETE FROM keys WHERE job > 1; DELETE FROM launches WHERE job > 1");
    CHECK(first_finding(directory.log()) == "");
    const auto copied = back_up(directory.path(), directory.path() + "/backup.db");
    REQUIRE_FALSE(copied.has_value());
    CHECK(copied.error().code == base::ErrorCode::Conflict);
}

TEST_CASE("what the store cannot read is damage, and says what to do") {
    const Written directory;
    execute(directory.log(), "UPDATE snapshots SET payload = '{}'");
    const auto snapshot = (*open_store(directory.path()))->latest_snapshot();
    REQUIRE_FALSE(snapshot.has_value());
    CHECK(snapshot.error().code == base::ErrorCode::Unavailable);
    CHECK(snapshot.error().message.find("berth restore FILE") != std::string::npos);
}
