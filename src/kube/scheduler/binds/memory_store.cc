// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/binds/memory_store.h"

#include <string>
#include <utility>

namespace berth::kube::scheduler {

void MemoryStore::begin_with(model::Snapshot snapshot,
                             std::map<model::JobId, model::LaunchSpec> launches) {
    snapshot_ = std::move(snapshot);
    launches_ = std::move(launches);
}

base::Status MemoryStore::commit(const ports::Batch& batch) {
    for (const auto& [job, launch] : batch.launches) launches_[job] = launch;
    for (const model::JobRecord& job : batch.finished) launches_.erase(job.id);
    return {};
}

base::Result<std::optional<model::Snapshot>> MemoryStore::latest_snapshot() {
    return std::exchange(snapshot_, {});
}

base::Result<model::LaunchSpec> MemoryStore::launch_of(model::JobId job) {
    const auto found = launches_.find(job);
    if (found != launches_.end()) return found->second;
    return base::fail(base::ErrorCode::NotFound, "no job " + std::to_string(job.value));
}

base::Result<model::JobRecord> MemoryStore::finished_job(model::JobId job) {
    return base::fail(base::ErrorCode::NotFound,
                      "job " + std::to_string(job.value) + " has ended and is not remembered");
}

}  // namespace berth::kube::scheduler
