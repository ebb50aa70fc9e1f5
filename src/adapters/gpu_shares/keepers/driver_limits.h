// SPDX-License-Identifier: Apache-2.0
//
// Shares kept by the driver itself: memory by the tenant's control group (memory_groups.h), time by
// MPS (mps_daemon.h). Nothing is preloaded, and no process can get out of it. MPS has no part in
// memory: its own limit is for each process, a job has many.
#pragma once

#include "adapters/gpu_shares/keepers/memory_groups.h"
#include "adapters/gpu_shares/keepers/mps_daemon.h"
#include "adapters/gpu_shares/keepers/share_keeper.h"

namespace berth::gpu_shares {

class DriverLimits final : public ShareKeeper {
  public:
    DriverLimits(MemoryGroups groups, MpsDaemon mps)
        : groups_(std::move(groups)), mps_(std::move(mps)) {}

    // Whether MPS answers; it stays until there are no tenants when the server ends.
    base::Status begin() { return mps_.start(); }
    base::Status add(const Tenant& tenant, ports::LaunchOrder& order) override;
    std::optional<model::GpuProfile> taken(const std::string&) override { return {}; }
    std::vector<RotationSight> rotations() override { return {}; }
    bool has_turns() const override { return false; }
    void drop(const std::string& prefix) override { groups_.drop(prefix); }
    std::vector<std::string> tenants() const override { return groups_.tenants(); }
    bool end_if_idle() override;

  private:
    MemoryGroups groups_;
    MpsDaemon mps_;
};

}  // namespace berth::gpu_shares
