// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/log_reader.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "adapters/sqlite/sqlite_store.h"

using namespace berth;
using namespace berth::adapters::sqlite;

namespace {

class LogFolder {
  public:
    LogFolder() {
        char name[] = "/tmp/berth-test-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~LogFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

base::Status commit_event(ports::Store& store, std::int64_t sequence) {
    ports::Batch batch;
    model::EventBody body = model::JobRunning{{1}};
    if (sequence == 1) body = *store.begins();
    batch.events.push_back({sequence, base::at_ms(sequence * 1'000), "test", std::move(body)});
    return store.commit(batch);
}

std::vector<std::int64_t> sequences(ports::LogReader& reader, std::int64_t after,
                                    std::int64_t limit) {
    std::vector<std::int64_t> read;
    REQUIRE(reader.read_events(after, limit,
                               [&](const model::Event& event) { read.push_back(event.sequence); }));
    return read;
}

using Sequences = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("what is committed is read beside the store, on another thread and as it grows") {
    const LogFolder directory;
    auto store = *open_store(directory.path());
    REQUIRE(commit_event(*store, 1));
    auto reader = open_log(directory.path());
    REQUIRE(reader);
    CHECK(sequences(**reader, 0, 10) == Sequences{1});
    for (std::int64_t sequence = 2; sequence <= 4; ++sequence)
        REQUIRE(commit_event(*store, sequence));
    Sequences found;
    std::thread([&] { found = sequences(**reader, 1, 2); }).join();
    CHECK(found == Sequences{2, 3});
    CHECK(sequences(**reader, 4, 2).empty());
}

TEST_CASE("a log is one file again when the reader and then the store are gone") {
    const LogFolder directory;
    auto store = *open_store(directory.path());
    REQUIRE(commit_event(*store, 1));
    auto reader = *open_log(directory.path());
    CHECK(sequences(*reader, 0, 10) == Sequences{1});
    reader.reset();
    store.reset();
    CHECK_FALSE(std::filesystem::exists(directory.path() + "/berth.db-wal"));
}

TEST_CASE("without a log there is nothing to read") {
    const LogFolder directory;
    CHECK_FALSE(open_log(directory.path()));
}
