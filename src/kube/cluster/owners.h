// SPDX-License-Identifier: Apache-2.0
//
// To which gang does a pod belong? To the workload that made it, or that made that one, up to the
// topmost that the table of kinds names; a pod without an owner to the group that it names; else it
// is one by itself.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/objects/workload.h"

namespace berth::kube::cluster {

class Owners {
  public:
    // It outlives this, or is taken away.
    void set(const objects::Workload& workload);
    void remove(objects::Uid workload);
    // Null: it is not there.
    const objects::Workload* find(objects::Uid workload) const;

    // Those of its namespace that name it as their owner.
    std::vector<const objects::Workload*> made_by(const objects::Workload& workload) const;

    objects::Uid gang_of(const objects::Pod& pod) const;
    // The topmost one above it, or itself; it need not be there.
    objects::Uid top_of(objects::Uid workload) const;

  private:
    std::map<objects::Uid, const objects::Workload*> workloads_;
    std::map<objects::Uid, std::set<objects::Uid>> made_;  // by owner
};

// The group that a pod without an owner names; empty: none.
std::string group_of(const objects::Meta& pod);
// How many pods the group has, as one of them says; 1 where it does not. Errors: Invalid, it says
// what is no such number.
base::Result<int> group_size(const objects::Meta& pod);

}  // namespace berth::kube::cluster
