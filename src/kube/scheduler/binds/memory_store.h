// SPDX-License-Identifier: Apache-2.0
//
// Where is the log of a server whose truth is elsewhere? Nowhere: what the API server lists is what
// a start begins with, and each write to it is the durable one. Kept are the launches of jobs that
// have not ended, by which a pause knows its grace.
#pragma once

#include <map>
#include <optional>

#include "ports/store.h"

namespace berth::kube::scheduler {

class MemoryStore final : public ports::Store {
  public:
    // The state to begin with, and what its jobs are launched with.
    void begin_with(model::Snapshot snapshot, std::map<model::JobId, model::LaunchSpec> launches);

    base::Status commit(const ports::Batch& batch) override;
    base::Result<std::optional<model::Snapshot>> latest_snapshot() override;
    base::Status write_snapshot(const model::Snapshot&) override { return {}; }
    base::Status read_events(std::int64_t, std::int64_t,
                             const std::function<void(model::Event&&)>&) override {
        return {};
    }
    base::Status read_events_of(model::JobId, std::int64_t, std::int64_t,
                                const std::function<void(model::Event&&)>&) override {
        return {};
    }
    base::Result<model::LaunchSpec> launch_of(model::JobId job) override;
    base::Result<model::JobRecord> finished_job(model::JobId job) override;
    base::Result<std::vector<model::JobRecord>> finished_jobs(
        const ports::FinishedQuery&) override {
        return std::vector<model::JobRecord>{};
    }
    base::Result<std::optional<model::JobId>> job_with_key(const std::string&,
                                                           base::TimePoint) override {
        return std::optional<model::JobId>{};
    }

  private:
    std::optional<model::Snapshot> snapshot_;
    std::map<model::JobId, model::LaunchSpec> launches_;
};

}  // namespace berth::kube::scheduler
