// SPDX-License-Identifier: Apache-2.0
//
// Is a day's work safe on a disk that fails? A day is scripted, and lived once for each call by
// which it changes the disk: that call fails, or fills the disk up, or is the last one before a
// power cut. What was acknowledged is there afterwards, in order and once; what was refused since
// the disk is full can be asked again on the same store.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "adapters/sqlite/sqlite_store.h"
#include "contract/temporary_directory.h"
#include "doubles/fault_disk.h"

using namespace berth;
using tests::DiskFault;
using tests::FaultDisk;

namespace {

constexpr std::int64_t kJobs = 12;

ports::Batch submission_of(std::int64_t job, std::int64_t after) {
    ports::Batch batch;
    // Long enough that a commit takes many calls.
    const std::string command(2000, static_cast<char>('a' + job));
    batch.events.push_back(
        {after + 1,
         {},
         "day",
         model::JobSubmitted{{job}, {}, {}, command, "key " + std::to_string(job)}});
    batch.events.push_back({after + 2, {}, "day", model::JobHeld{{job}}});
    model::LaunchSpec launch;
    launch.command = {command};
    batch.launches.emplace_back(model::JobId{job}, launch);
    return batch;
}

ports::Batch end_of(std::int64_t job, std::int64_t after) {
    ports::Batch batch;
    batch.events.push_back({after + 1, {}, "day", model::JobReleased{{job}}});
    batch.finished.emplace_back().id = {job};
    return batch;
}

class Day {
  public:
    Day(std::uint64_t seed, std::int64_t call, DiskFault fault)
        : disk_(seed), fault_(fault), restarts_when_full_(seed % 2 == 0) {
        disk_.fail_at(call, fault);
    }

    void live() {
        open();
        for (std::int64_t job = 1; job <= kJobs; ++job) {
            commit([job](std::int64_t after) { return submission_of(job, after); });
            if (job % 3 == 0) snapshot();
            if (job % 2 == 0) commit([job](std::int64_t after) { return end_of(job, after); });
            if (job % 5 == 0) open();
        }
        open();
        CHECK(last_event() == kJobs * 2 + kJobs / 2);
        for (std::int64_t job = 1; job <= kJobs; ++job) {
            CHECK(store_->launch_of({job}).has_value());
            CHECK(*store_->job_with_key("key " + std::to_string(job), {}) == model::JobId{job});
            CHECK(store_->finished_job({job}).has_value() == (job % 2 == 0));
        }
        CHECK((*store_->latest_snapshot())->sequence == snapshot_);
    }

    std::int64_t calls() const { return disk_.calls(); }

  private:
    // As a server that starts, or starts again.
    void open() {
        store_.reset();
        if (disk_.has_failed() && fault_ == DiskFault::Crash) disk_.cut_power();
        auto opened = adapters::sqlite::open_store(directory_.path());
        if (!opened) {
            expect_a_reason(opened.error());
            disk_.is_full() ? disk_.make_room() : disk_.cut_power();
            opened = adapters::sqlite::open_store(directory_.path());
        }
        CAPTURE((opened ? "" : opened.error().message));
        REQUIRE(opened.has_value());
        store_ = std::move(*opened);
        CHECK(last_event() >= acknowledged_);
    }

    void commit(const std::function<ports::Batch(std::int64_t)>& make) {
        const ports::Batch batch = make(acknowledged_);
        write([&] { return store_->commit(batch); },
              [&] {
                  const std::int64_t last = last_event();
                  const bool is_there = last == batch.events.back().sequence;
                  CHECK((is_there || last == acknowledged_));
                  return is_there;
              });
        acknowledged_ = batch.events.back().sequence;
    }

    void snapshot() {
        model::Snapshot snapshot;
        snapshot.sequence = acknowledged_;
        write([&] { return store_->write_snapshot(snapshot); }, [] { return false; });
        snapshot_ = acknowledged_;
    }

    // Until it is done: at once, again on the same store when there is room, or on the next one.
    void write(const std::function<base::Status()>& ask, const std::function<bool()>& is_done) {
        const base::Status status = ask();
        if (status) return;
        expect_a_reason(status.error());
        if (status.error().code == base::ErrorCode::Exhausted && !restarts_when_full_) {
            CHECK(last_event() == acknowledged_);
            CHECK_FALSE(ask().has_value());
            disk_.make_room();
            REQUIRE(ask());
            return;
        }
        // Whether it happened is not known before the log was read again.
        open();
        disk_.make_room();
        if (!is_done()) REQUIRE(ask());
    }

    void expect_a_reason(const base::Error& error) {
        CAPTURE(error.message);
        CHECK(disk_.has_failed());
        CHECK((error.code == base::ErrorCode::Exhausted) == disk_.is_full());
    }

    std::int64_t last_event() {
        std::int64_t last = 0;
        REQUIRE(store_->read_events(
            0, INT64_MAX, [&](const model::Event& event) { CHECK(event.sequence == ++last); }));
        return last;
    }

    // What is not on the disk that fails is synced too: in memory that takes no time.
    const tests::TemporaryDirectory directory_{std::filesystem::is_directory("/dev/shm")
                                                   ? "/dev/shm"
                                                   : std::filesystem::temp_directory_path()};
    FaultDisk disk_;
    DiskFault fault_;
    bool restarts_when_full_;
    std::unique_ptr<ports::Store> store_;
    std::int64_t acknowledged_ = 0;
    std::int64_t snapshot_ = 0;
};

void live_with(DiskFault fault) {
    Day quiet(1, 0, fault);
    quiet.live();
    REQUIRE(quiet.calls() > 100);
    for (std::int64_t call = 1; call <= quiet.calls(); ++call) {
        for (const std::uint64_t seed : {1, 2, 3}) {
            CAPTURE(call);
            CAPTURE(seed);
            Day(seed, call, fault).live();
        }
    }
}

}  // namespace

TEST_CASE("whichever call fails, nothing acknowledged is lost or written twice") {
    live_with(DiskFault::Error);
}

TEST_CASE("whichever call fills the disk up, the same batch is written when there is room") {
    live_with(DiskFault::Full);
}

TEST_CASE("whichever call the power is cut in, nothing acknowledged is lost or written twice") {
    live_with(DiskFault::Crash);
}
