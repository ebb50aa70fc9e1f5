// SPDX-License-Identifier: Apache-2.0
//
// Whose work without GPUs makes room in CPU and memory? Rule R6 by quotas of CPU and memory.
//
//   Who may ask:  a job without GPUs, as long as with it each tree node from its project up to
//                 where the two paths part stays within its quota of what the job asks, and one
//                 of them states such a quota. What none states bounds nothing.
//   Who may lose: each tree node from where the paths part down to the unit's project, as long as
//                 before each unit it holds more than its quota of what the unit asks. So the
//                 last unit may overshoot, and all is lent where no quota is stated. It binds
//                 owners of GPUs that take work without GPUs, too.
//
// What work on GPUs asks of CPU and memory counts as held, and is never taken for them.
#pragma once

#include "base/small_vector.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// Of a job without GPUs that asks so much: how far up the tree does its right reach?
class HostRight {
  public:
    HostRight(const PoolView& view, const cluster::HostAsk& asks) : view_(view), asks_(asks) {}

    // Whether it reaches work beside this tree node. Asked of one after the other, upwards.
    bool reaches_beside(ProjectId next);

  private:
    const PoolView& view_;
    cluster::HostAsk asks_;
    bool is_within_ = true;
    bool is_stated_ = false;
};

// Whether a job has any such right.
bool has_host_right(const PoolView& view, const cluster::Job& job);

// Keeps account of what each project holds above its quotas of CPU and memory, as units are taken
// for one beneficiary.
class HostLedger {
  public:
    HostLedger(const PoolView& view, ProjectId beneficiary);

    bool may_take(ProjectId from, const cluster::HostAsk& unit) const;
    void take(ProjectId from, const cluster::HostAsk& unit);
    // Takes back the last take, which was of this unit.
    void give_back(ProjectId from, const cluster::HostAsk& unit);
    // Calls `visit` with what each project holds above its quotas.
    void visit_above(auto&& visit) const {
        for (const Account& account : accounts_) {
            visit(account.above.cpu);
            visit(account.above.mebibytes);
        }
    }

  private:
    struct Account {
        cluster::HostAsk above;  // its quotas, without what was taken
        cluster::HostAsk largest;  // of the units taken
        ProjectId next;  // whose quotas keep the unit as well; invalid: the paths part here
    };
    // Calls `visit` with the account of the project and of all that follow.
    void visit_from(ProjectId project, auto&& visit);

    base::SmallVector<Account, 8> accounts_;  // by project
    base::SmallVector<cluster::HostAsk, 8> largest_before_;  // each take, in each account
};

}  // namespace berth::scheduling
