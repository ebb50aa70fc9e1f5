// SPDX-License-Identifier: Apache-2.0
//
// Is what commit() has returned for there after the server was killed? A child commits batches and
// reports each one through a pipe; the parent kills it at a random moment and looks.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "adapters/sqlite/sqlite_store.h"
#include "base/rng.h"
#include "contract/temporary_directory.h"

using namespace berth;
using adapters::sqlite::open_store;

namespace {

constexpr int kRounds = 50;

std::int64_t count_events(ports::Store& store) {
    std::int64_t last = 0;
    if (!store.read_events(0, INT64_MAX, [&](model::Event&& event) { last = event.sequence; })) {
        return -1;
    }
    return last;
}

// Each event says in its actor where its batch ends, so that a torn batch shows.
ports::Batch next_batch(std::int64_t after, base::Rng& rng) {
    ports::Batch batch;
    const std::int64_t last = after + rng.between(1, 20);
    for (std::int64_t sequence = after + 1; sequence <= last; ++sequence) {
        const bool is_third = sequence % 3 == 0;
        const std::string key = is_third ? std::to_string(sequence) : "";
        batch.events.push_back(
            {sequence, {}, std::to_string(last), model::JobSubmitted{{sequence}, {}, {}, {}, key}});
        batch.launches.emplace_back(model::JobId{sequence}, model::LaunchSpec{});
        if (is_third) batch.finished.emplace_back().id = {sequence};
    }
    return batch;
}

[[noreturn]] void commit_for_ever(const std::string& directory, int pipe, std::uint64_t seed) {
    base::Rng rng(seed);
    auto store = open_store(directory);
    if (!store) ::_exit(1);
    std::int64_t last = count_events(**store);
    while (true) {
        const ports::Batch batch = next_batch(last, rng);
        if (!(*store)->commit(batch)) ::_exit(2);
        last = batch.events.back().sequence;
        if (::write(pipe, &last, sizeof last) != sizeof last) ::_exit(3);
        if (rng.chance(1, 10)) {
            model::Snapshot snapshot;
            snapshot.sequence = last;
            if (!(*store)->write_snapshot(snapshot)) ::_exit(4);
        }
    }
}

// The last sequence that the killed child had reported.
std::int64_t run_and_kill(const std::string& directory, base::Rng& rng) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const std::uint64_t seed = rng.next();
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) commit_for_ever(directory, ends[1], seed);
    ::close(ends[1]);
    std::int64_t last = 0;
    // Most rounds wait until it commits, however slow the machine is; some kill it while it opens.
    if (rng.chance(4, 5)) CHECK(::read(ends[0], &last, sizeof last) == sizeof last);
    std::this_thread::sleep_for(std::chrono::microseconds(rng.between(0, 30'000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    for (std::int64_t read = 0; ::read(ends[0], &read, sizeof read) == sizeof read;) last = read;
    ::close(ends[0]);
    return last;
}

void check_content(ports::Store& store) {
    std::int64_t sequence = 0;
    std::int64_t batch_end = 0;
    bool is_whole = true;
    REQUIRE(store.read_events(0, INT64_MAX, [&](model::Event&& event) {
        is_whole = is_whole && event.sequence == ++sequence;
        batch_end = std::stoll(event.actor);
    }));
    CHECK(is_whole);
    CHECK(sequence == batch_end);
    for (std::int64_t job = std::max<std::int64_t>(1, sequence - 30); job <= sequence; ++job) {
        CHECK(store.launch_of({job}).has_value());
        CHECK(store.finished_job({job}).has_value() == (job % 3 == 0));
        CHECK(store.job_with_key(std::to_string(job), {})->has_value() == (job % 3 == 0));
    }
    CHECK_FALSE(store.launch_of({sequence + 1}).has_value());
}

}  // namespace

TEST_CASE("every acknowledged batch survives a kill, and batches are whole") {
    const tests::TemporaryDirectory directory;
    base::Rng rng(2026);
    std::int64_t acknowledged = 0;
    int rounds_with_commits = 0;
    for (int round = 0; round < kRounds; ++round) {
        const std::int64_t last = run_and_kill(directory.path(), rng);
        rounds_with_commits += last > 0 ? 1 : 0;
        acknowledged = std::max(acknowledged, last);
        auto store = open_store(directory.path());
        REQUIRE(store.has_value());
        CHECK(count_events(**store) >= acknowledged);
        check_content(**store);
    }
    CHECK(rounds_with_commits > kRounds / 4);
}
