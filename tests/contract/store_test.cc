// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "adapters/sqlite/sqlite_store.h"
#include "contract/store_contract.h"
#include "contract/temporary_directory.h"
#include "doubles/memory_store.h"

using namespace berth;
using adapters::sqlite::open_store;

namespace {

void execute(const std::string& path, const char* sql) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
}

}  // namespace

TEST_CASE("the store in memory keeps the contract") {
    tests::MemoryStore::Disk disk;
    tests::check_store([&] { return std::make_unique<tests::MemoryStore>(disk); });
}

TEST_CASE("the SQLite store keeps the contract") {
    const tests::TemporaryDirectory directory;
    tests::check_store([&] {
        auto store = open_store(directory.path() + "/data");
        REQUIRE(store.has_value());
        return std::move(*store);
    });
}

TEST_CASE("one server has a data directory, and the other learns which process") {
    const tests::TemporaryDirectory directory;
    auto first = open_store(directory.path());
    REQUIRE(first.has_value());
    const auto second = open_store(directory.path());
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == base::ErrorCode::Conflict);
    CHECK(second.error().message ==
          "data directory \"" + directory.path() + "\" is in use by another server (process " +
              std::to_string(::getpid()) + "); stop that one or choose another directory");
    first->reset();
    CHECK(open_store(directory.path()).has_value());
}

TEST_CASE("a file of version 1 is brought up to date, and its keys are as old as their jobs") {
    const tests::TemporaryDirectory directory;
    const std::string path = directory.path() + "/berth.db";
    ports::Batch batch;
    batch.events.push_back(
        {1, base::at_ms(5000), "test", model::JobSubmitted{{1}, {}, {}, {}, "k"}});
    REQUIRE((*open_store(directory.path()))->commit(batch));
    execute(path,
            "DROP INDEX incarnations; ALTER TABLE events DROP COLUMN chain; "
            "DROP INDEX events_by_job; ALTER TABLE keys DROP COLUMN time; PRAGMA user_version = 1");
    const auto store = open_store(directory.path());
    REQUIRE(store.has_value());
    CHECK(*(*store)->job_with_key("k", base::at_ms(5000)) == model::JobId{1});
    CHECK_FALSE((*store)->job_with_key("k", base::at_ms(5001))->has_value());
    int count = 0;
    REQUIRE((*store)->read_events_of({1}, 0, 10, [&](model::Event&&) { ++count; }));
    CHECK(count == 1);
}

namespace {

// The end of the log with a name: what a server commits first.
model::Event begin(const ports::Store& store, std::int64_t sequence) {
    REQUIRE(store.begins().has_value());
    return {sequence, {}, "test", *store.begins()};
}

}  // namespace

TEST_CASE("a log has a random name from its first commit on, and keeps it") {
    const tests::TemporaryDirectory directory;
    auto store = *open_store(directory.path());
    const model::Event first = begin(*store, 1);
    const std::string name = std::get<model::LogBegun>(first.body).incarnation;
    CHECK(name.size() == 32);
    CHECK(name.find_first_not_of("0123456789abcdef") == std::string::npos);
    store.reset();
    store = *open_store(directory.path());
    CHECK(store->begins()->incarnation != name);  // not durable, so it never was
    REQUIRE(store->commit({{begin(*store, 1)}, {}, {}}));
    CHECK_FALSE(store->begins().has_value());
    store.reset();
    CHECK_FALSE((*open_store(directory.path()))->begins().has_value());
}

TEST_CASE("a log that is not the newest of its directory is taken only when that is asked for") {
    const tests::TemporaryDirectory directory;
    const std::string path = directory.path() + "/berth.db";
    const std::string older = directory.path() + "/older";
    auto store = *open_store(directory.path());
    REQUIRE(store->commit({{begin(*store, 1)}, {}, {}}));
    store.reset();
    std::filesystem::copy_file(path, older);
    store = *open_store(directory.path());
    REQUIRE(store->commit({{{2, {}, "test", model::JobSubmitted{{7}, {}, {}, {}}}}, {}, {}}));
    store.reset();
    std::filesystem::copy_file(older, path, std::filesystem::copy_options::overwrite_existing);
    const auto refused = open_store(directory.path());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == base::ErrorCode::Conflict);
    store = *open_store(directory.path(), {.accept_older = true});
    REQUIRE(store->begins().has_value());
    CHECK(store->begins()->last_job == model::JobId{7});
    store.reset();
    CHECK_FALSE(open_store(directory.path()).has_value());  // it was not begun
    store = *open_store(directory.path(), {.accept_older = true});
    REQUIRE(store->commit({{begin(*store, 2)}, {}, {}}));
    store.reset();
    CHECK(open_store(directory.path()).has_value());
    CHECK_FALSE(open_store(directory.path(), {.highest_used = {8}}).has_value());
}

TEST_CASE("once the store is gone, its file alone is the whole log") {
    const tests::TemporaryDirectory directory;
    const tests::TemporaryDirectory other;
    auto store = *open_store(directory.path());
    ports::Batch batch;
    for (std::int64_t i = 1; i <= 100; ++i)
        batch.events.push_back({i, {}, "x", model::JobHeld{{i}}});
    REQUIRE(store->commit(batch));
    store.reset();
    CHECK_FALSE(std::filesystem::exists(directory.path() + "/berth.db-wal"));
    std::filesystem::copy_file(directory.path() + "/berth.db", other.path() + "/berth.db");
    int count = 0;
    store = *open_store(other.path());
    REQUIRE(store->read_events(0, 1000, [&](model::Event&&) { ++count; }));
    CHECK(count == 100);
}

TEST_CASE("a command that an earlier version moved into the finished job is still found") {
    const tests::TemporaryDirectory directory;
    ports::Batch batch;
    batch.events.push_back({1, base::at_ms(5000), "test", model::JobSubmitted{{1}, {}, {}, {}}});
    batch.launches.emplace_back(model::JobId{1}, model::LaunchSpec{});
    batch.finished.emplace_back().id = {1};
    REQUIRE((*open_store(directory.path()))->commit(batch));
    execute(directory.path() + "/berth.db",
            "DELETE FROM launches; UPDATE finished SET payload = "
            R"('{"v":1,"record":{"id":1},"launch":{"v":1,"command":["true"]}}')");
    const auto store = open_store(directory.path());
    REQUIRE(store.has_value());
    CHECK((*store)->launch_of({1})->command == std::vector<std::string>{"true"});
    CHECK((*store)->finished_job({1})->id == model::JobId{1});
}

TEST_CASE("a file of a newer program, or of another one, is refused and left as it is") {
    const tests::TemporaryDirectory directory;
    const std::string path = directory.path() + "/berth.db";
    REQUIRE(open_store(directory.path()).has_value());
    execute(path, "PRAGMA user_version = 4");
    const auto newer = open_store(directory.path());
    REQUIRE_FALSE(newer.has_value());
    CHECK(newer.error().code == base::ErrorCode::Conflict);
    CHECK(newer.error().message ==
          "\"" + path +
              "\" was written by a newer version of Berth "
              "(schema 4, this program knows up to 3); start that version");
    execute(path, "PRAGMA user_version = 3; PRAGMA application_id = 7");
    CHECK(open_store(directory.path()).error().message ==
          "\"" + path + "\" is a database of another program");
    std::filesystem::resize_file(path, 0);
    std::filesystem::remove(path + "-wal");
    CHECK(open_store(directory.path()).has_value());
}

TEST_CASE("no other user can read the stored environments") {
    const tests::TemporaryDirectory directory;
    const auto store = open_store(directory.path() + "/a/b");
    REQUIRE(store.has_value());
    ports::Batch batch;
    batch.events.push_back({1, {}, "x", model::JobHeld{{1}}});
    REQUIRE((*store)->commit(batch));
    for (const auto& entry : std::filesystem::directory_iterator(directory.path() + "/a/b")) {
        struct stat about{};
        REQUIRE(::stat(entry.path().c_str(), &about) == 0);
        CAPTURE(entry.path().string());
        CHECK((about.st_mode & 077) == 0);
    }
}

TEST_CASE("a directory that cannot be made is said so") {
    const auto store = open_store("/proc/nowhere/data");
    REQUIRE_FALSE(store.has_value());
    CHECK(store.error().code == base::ErrorCode::Unavailable);
}
