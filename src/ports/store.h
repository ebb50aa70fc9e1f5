// SPDX-License-Identifier: Apache-2.0
//
// Where the event log lives. What commit() has returned for survives a crash of the process and
// of the machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/job/launch.h"
#include "model/record.h"

namespace berth::ports {

// An idempotency key is remembered this long after its submission; then it is as good as new.
inline constexpr base::Duration kKeyKept{24 * 3600 * 1000};

// One group commit.
struct Batch {
    std::vector<model::Event> events;                                   // consecutive sequences
    std::vector<std::pair<model::JobId, model::LaunchSpec>> launches;   // of submitted jobs
    std::vector<model::JobRecord> finished;                             // now final

    bool is_empty() const { return events.empty(); }
};

struct FinishedQuery {
    std::string project;               // empty = all
    model::JobId before{INT64_MAX};    // ids below this one, newest first
    int limit = 100;
};

// New work makes files, and the log needs some beside them.
inline constexpr std::int64_t kFilesWanted = 16;

// What is left of the file system on which the log and the files of jobs lie.
struct Room {
    std::string path;        // of the data directory
    base::Bytes free{0};
    base::Bytes wanted{0};   // with less than this, new work finds no room; 0 = not known
    std::int64_t files = kFilesWanted;  // that can still be made; at least as many = not known

    bool is_short() const { return free < wanted || files < kFilesWanted; }
    // More than just enough, so that what begins again does not end at once.
    bool is_ample() const { return free.value >= 2 * wanted.value && files >= kFilesWanted; }
};

// Used from one thread.
class Store {
  public:
    virtual ~Store() = default;

    // What this log is to begin with, as its first commit from now on; none where it simply goes
    // on.
    virtual std::optional<model::LogBegun> begins() const { return {}; }

    // Writes all or nothing and returns when it is durable. Errors: Exhausted (it is not written
    // for want of room: the same batch can be asked for again, here or after a restart, and no
    // other one); else the disk failed, whether it is written shows when the store is opened anew,
    // and this one takes no more.
    virtual base::Status commit(const Batch& batch) = 0;
    virtual Room room() const { return {}; }

    // The newest snapshot, if one was ever written.
    virtual base::Result<std::optional<model::Snapshot>> latest_snapshot() = 0;
    // Replaces older snapshots, and forgets keys that are older than kKeyKept then. Events stay for
    // history.
    virtual base::Status write_snapshot(const model::Snapshot& snapshot) = 0;

    // Calls `visit` for every event with a larger sequence, in order, at most `limit`.
    virtual base::Status read_events(std::int64_t after, std::int64_t limit,
                                     const std::function<void(model::Event&&)>& visit) = 0;

    // The same for the events of one job; costs what it finds.
    virtual base::Status read_events_of(model::JobId job, std::int64_t after, std::int64_t limit,
                                        const std::function<void(model::Event&&)>& visit) = 0;
    // Calls `reads`, which only asks questions, many of them: together they cost less.
    virtual void read_together(const std::function<void()>& reads) { reads(); }
    // Errors: NotFound.
    virtual base::Result<model::LaunchSpec> launch_of(model::JobId job) = 0;
    virtual base::Result<model::JobRecord> finished_job(model::JobId job) = 0;
    virtual base::Result<std::vector<model::JobRecord>> finished_jobs(const FinishedQuery&) = 0;
    // The job last submitted under the key, not earlier than `since`.
    virtual base::Result<std::optional<model::JobId>> job_with_key(const std::string& key,
                                                                   base::TimePoint since) = 0;
};

}  // namespace berth::ports
