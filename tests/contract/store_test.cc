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

TEST_CASE("one server has a data directory, and the other is told which process") {
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
    batch.events.push_back({1, base::at_ms(5000), "test", model::JobSubmitted{{1}, {}, {}, {}}});
    batch.keys = {{"k", model::JobId{1}}};
    REQUIRE((*open_store(directory.path()))->commit(batch));
    execute(path,
            "DROP INDEX events_by_job; ALTER TABLE keys DROP COLUMN time; PRAGMA user_version = 1");
    const auto store = open_store(directory.path());
    REQUIRE(store.has_value());
    CHECK(*(*store)->job_with_key("k", base::at_ms(5000)) == model::JobId{1});
    CHECK_FALSE((*store)->job_with_key("k", base::at_ms(5001))->has_value());
    int count = 0;
    REQUIRE((*store)->read_events_of({1}, 0, 10, [&](model::Event&&) { ++count; }));
    CHECK(count == 1);
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
    execute(path, "PRAGMA user_version = 3");
    const auto newer = open_store(directory.path());
    REQUIRE_FALSE(newer.has_value());
    CHECK(newer.error().code == base::ErrorCode::Conflict);
    CHECK(newer.error().message ==
          "\"" + path +
              "\" was written by a newer version of Berth "
              "(schema 3, this program knows up to 2); start that version");
    execute(path, "PRAGMA user_version = 2; PRAGMA application_id = 7");
    CHECK(open_store(directory.path()).error().message ==
          "\"" + path + "\" is a database of another program");
    std::filesystem::resize_file(path, 0);
    std::filesystem::remove(path + "-wal");
    CHECK(open_store(directory.path()).has_value());
}

TEST_CASE("nobody else can read the stored environments") {
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
