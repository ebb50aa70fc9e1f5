// SPDX-License-Identifier: Apache-2.0
//
// Which control group (cgroup v2) holds a tenant's processes to their memory of GPUs? One folder a
// tenant below ROOT/berth-CLUSTER, with the limits of the kernel's dmem controller: `dmem.max`,
// past which an allocation fails, and `dmem.min`, up to which nothing is taken from it when memory
// is short. Both are the tenant's limit: what it was promised, and no more.
//
// ROOT is /sys/fs/cgroup, or a folder below it that is ours to divide. The groups outlive this
// server, as jobs do, and another one finds them again.
#pragma once

#include <string>
#include <vector>

#include "adapters/gpu_shares/terms/tenants.h"

namespace berth::gpu_shares {

class MemoryGroups {
  public:
    MemoryGroups(std::string root, const std::string& cluster);

    // Why they cannot hold these GPUs' memory, for people; empty when they can. Makes our own
    // group.
    std::string problem(const std::vector<Gpu>& gpus);
    // Errors: Unavailable, naming the file.
    base::Status add(const Tenant& tenant);
    // All tenants whose names begin so. Who still has processes is tried again by later calls.
    void drop(const std::string& prefix);
    // The names of those that are there.
    std::vector<std::string> tenants() const;
    // Our own group, when it is empty.
    void remove();

    // Where a process joins: the folder with `cgroup.procs`.
    std::string folder_of(const Tenant& tenant) const;

  private:
    std::string capacities() const;

    std::string root_;
    std::string own_;  // ROOT/berth-CLUSTER
    std::vector<std::string> leaving_;  // folders of tenants whose processes were not all gone
};

}  // namespace berth::gpu_shares
