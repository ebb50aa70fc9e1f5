// SPDX-License-Identifier: Apache-2.0
//
// A Store in memory for tests of what lies above it. It passes the same contract as the real one
// (tests/contract/store_contract.h); a Disk outlives the stores that are opened on it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/log/event_log.h"
#include "ports/store.h"

namespace berth::tests {

class MemoryStore final : public ports::Store {
  public:
    struct Disk {
        std::vector<model::Event> events;
        std::map<model::JobId, model::LaunchSpec> launches;
        std::map<model::JobId, model::JobRecord> finished;
        struct Key {
            model::JobId job;
            base::TimePoint time;
        };
        std::map<std::string, Key> keys;
        std::optional<model::Snapshot> snapshot;
    };

    explicit MemoryStore(Disk& disk) : disk_(disk) {}

    // The next commits fail as when a sync does, until set back.
    void set_failing(bool is_failing) { is_failing_ = is_failing; }
    // The next commits find no room, until set back.
    void set_full(bool is_full) { is_full_ = is_full; }
    void set_room(ports::Room room) { room_ = std::move(room); }

    // The next server is to begin the log anew.
    void begin(model::LogBegun begins) { begins_ = std::move(begins); }
    std::optional<model::LogBegun> begins() const override { return begins_; }

    ports::Room room() const override { return room_; }
    base::Status commit(const ports::Batch& batch) override {
        if (is_failing_) return base::fail(base::ErrorCode::Unavailable, "store: disk I/O error");
        if (is_full_) return base::fail(base::ErrorCode::Exhausted, "store: disk is full");
        auto sequence = static_cast<std::int64_t>(disk_.events.size());
        for (const model::Event& event : batch.events) {
            if (event.sequence != ++sequence) {
                return base::fail(base::ErrorCode::Internal, "store: a gap in the sequence");
            }
        }
        if (!batch.events.empty() && begins_) {
            if (!std::holds_alternative<model::LogBegun>(batch.events.front().body)) {
                return base::fail(base::ErrorCode::Internal, "store: the log is not begun");
            }
            begins_.reset();
        }
        disk_.events.insert(disk_.events.end(), batch.events.begin(), batch.events.end());
        for (const auto& [job, launch] : batch.launches) disk_.launches[job] = launch;
        for (const auto& record : batch.finished) disk_.finished[record.id] = record;
        for (const model::Event& event : batch.events) {
            const auto known = model::key_of(event.body);
            if (known.key.empty()) continue;
            disk_.keys[std::string(known.key)] = {known.job, event.time};
        }
        return {};
    }

    base::Result<std::optional<model::Snapshot>> latest_snapshot() override {
        return disk_.snapshot;
    }
    base::Status write_snapshot(const model::Snapshot& snapshot) override {
        if (is_failing_) return base::fail(base::ErrorCode::Unavailable, "store: disk I/O error");
        if (is_full_) return base::fail(base::ErrorCode::Exhausted, "store: disk is full");
        disk_.snapshot = snapshot;
        std::erase_if(disk_.keys, [&](const auto& entry) {
            return entry.second.time < snapshot.time - ports::kKeyKept;
        });
        return {};
    }

    base::Status read_events(std::int64_t after, std::int64_t limit,
                             const std::function<void(model::Event&&)>& visit) override {
        for (const model::Event& event : disk_.events) {
            if (event.sequence > after && limit-- > 0) visit(model::Event(event));
        }
        return {};
    }

    base::Status read_events_of(model::JobId job, std::int64_t after, std::int64_t limit,
                                const std::function<void(model::Event&&)>& visit) override {
        for (const model::Event& event : disk_.events) {
            const bool is_its = codec::job_of(event.body) == job;
            if (is_its && event.sequence > after && limit-- > 0) visit(model::Event(event));
        }
        return {};
    }

    base::Result<model::LaunchSpec> launch_of(model::JobId job) override {
        const auto found = disk_.launches.find(job);
        if (found == disk_.launches.end()) return not_found(job);
        return found->second;
    }
    base::Result<model::JobRecord> finished_job(model::JobId job) override {
        const auto found = disk_.finished.find(job);
        if (found == disk_.finished.end()) return not_found(job);
        return found->second;
    }
    base::Result<std::vector<model::JobRecord>> finished_jobs(
        const ports::FinishedQuery& query) override {
        std::vector<model::JobRecord> records;
        for (auto at = disk_.finished.lower_bound(query.before); at != disk_.finished.begin();) {
            const model::JobRecord& record = (--at)->second;
            if (static_cast<int>(records.size()) >= query.limit) break;
            if (query.project.empty() || record.spec.project == query.project) {
                records.push_back(record);
            }
        }
        return records;
    }
    base::Result<std::optional<model::JobId>> job_with_key(const std::string& key,
                                                           base::TimePoint since) override {
        const auto found = disk_.keys.find(key);
        const bool is_known = found != disk_.keys.end() && found->second.time >= since;
        return is_known ? std::optional(found->second.job) : std::nullopt;
    }

  private:
    static tl::unexpected<base::Error> not_found(model::JobId job) {
        return base::fail(base::ErrorCode::NotFound, "no job " + std::to_string(job.value));
    }

    Disk& disk_;
    bool is_failing_ = false;
    std::optional<model::LogBegun> begins_;
    bool is_full_ = false;
    ports::Room room_;
};

}  // namespace berth::tests
