// SPDX-License-Identifier: Apache-2.0
//
// Which processes use a GPU in which nothing of ours has a part? Of a job: those on a GPU that it
// shares whose arbiter does not know them, and those on a GPU that it was not given. They opened
// the driver by its path, say, or cleared their environment. And those that belong to no job. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/gpu_shares/measured/profiles.h"
#include "ports/launcher.h"

namespace berth::gpu_shares {

// As the management library says it.
struct GpuUser {
    std::string gpu;  // its UUID
    std::int64_t pid = 0;
    base::Bytes memory{0};

    bool operator==(const GpuUser&) const = default;
};

// The newest whole report of berth-gpu-probe in what it said, which is taken out together with
// those before it. None: it is not complete yet.
std::optional<std::vector<GpuUser>> take_report(std::string& said);

struct Uncounted {
    GpuUser user;
    std::optional<ports::AttemptId> attempt;  // none: it is of no job

    bool operator==(const Uncounted&) const = default;
};

struct Holdings {
    std::vector<TenantMembers> members;  // of all tenants
    // The GPUs of attempts, by UUID; none of a job without GPUs, or of one that was taken up while
    // it was kept off them.
    std::map<ports::AttemptId, std::set<std::string>> given;
};

// Of an attempt of which neither is known nothing is said. `owner`: below whose supervisor a
// process runs, if any.
std::vector<Uncounted> uncounted(
    const std::vector<GpuUser>& users, const Holdings& holdings,
    const std::function<std::optional<ports::AttemptId>(std::int64_t pid)>& owner);

// What is to be added to the charge of each tenant that shares a GPU, by GPU; 0 = nothing.
std::map<std::string, std::map<std::string, base::Bytes>> beside_shares(
    const std::vector<Uncounted>& all, const std::vector<TenantMembers>& members);

}  // namespace berth::gpu_shares
