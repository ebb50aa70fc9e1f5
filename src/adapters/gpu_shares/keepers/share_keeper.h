// SPDX-License-Identifier: Apache-2.0
//
// What holds tenants to their shares of this machine's GPUs, however that is done (back_end.h)?
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/gpu_shares/measured/pairs.h"
#include "adapters/gpu_shares/measured/profiles.h"
#include "adapters/gpu_shares/terms/tenants.h"
#include "model/job/gpu_profile.h"

namespace berth::gpu_shares {

// Words of an order to the arbiter, by node.
using TermsByNode = std::map<std::string, std::string>;

class ShareKeeper {
  public:
    virtual ~ShareKeeper() = default;

    // Before its first process: what the tenant's tasks need is put into the order. Errors:
    // Unavailable, when its share cannot be kept.
    virtual base::Status add(const Tenant& tenant, ports::LaunchOrder& order) = 0;
    // Whether tenants that run, by their names' beginning, can go on with these terms of each node
    // (changed_terms); memory that they lose they have no more from now on. Errors: Conflict.
    virtual base::Status narrow(const std::string& /*prefix*/, const TermsByNode& /*terms*/) {
        return base::fail(base::ErrorCode::Conflict,
                          "the driver keeps shares here, as they were when a process started");
    }
    // They are held to those terms from now on.
    virtual void change(const std::string& /*prefix*/, const TermsByNode& /*terms*/) {}
    // What the tenants whose names begin so took of their GPUs, where that is measured.
    virtual std::optional<model::GpuProfile> taken(const std::string& prefix) = 0;
    // Those that take turns on a GPU, and stay. Sees to it that they have their turns.
    virtual std::vector<RotationSight> rotations() = 0;
    // What its tenants use of their GPUs now, where that is known.
    virtual std::vector<TenantUse> uses() { return {}; }
    // Who has joined them, where a process has to.
    virtual std::vector<TenantMembers> members() { return {}; }
    // What processes of it hold beside its share counts as its, by GPU; 0 = nothing.
    virtual void charge(const std::string&, const std::map<std::string, base::Bytes>&) {}
    // All tenants whose names begin so, once their processes have ended.
    virtual void drop(const std::string& prefix) = 0;
    // Of all other attempts: a log that was restored does not know what began after its copy.
    void drop_all_but(const std::set<ports::AttemptId>& attempts);
    // Whether it can let jobs take turns, and measures them.
    virtual bool has_turns() const = 0;
    // Their names; also tenants of servers before this one.
    virtual std::vector<std::string> tenants() const = 0;
    bool has_tenants() const { return !tenants().empty(); }
    // Nodes of those that may be off their GPUs at any time (Tenant::may_leave): they depend on it,
    // and on who takes them off.
    virtual std::set<std::string> nodes_of_dependents() const { return {}; }
    // Of the tenants whose names begin so; empty where there are none.
    virtual std::string node_of(const std::string&) const { return {}; }
    // Ends what runs for tenants when there are none any more; whether that is so.
    virtual bool end_if_idle() = 0;
};

// The order's tasks on the tenant's node that have GPUs.
template <typename Do>
void for_each_task(const Tenant& tenant, ports::LaunchOrder& order, Do change) {
    for (ports::TaskLaunch& task : order.tasks) {
        if (task.node == tenant.node && !task.gpu_indices.empty()) change(task);
    }
}

// What the job's own environment says there comes behind.
void put_first(const ports::LaunchOrder& order, ports::TaskLaunch& task, const std::string& name,
               std::string value);

}  // namespace berth::gpu_shares
