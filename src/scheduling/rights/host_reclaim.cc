// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/host_reclaim.h"

#include <algorithm>

#include "cluster/gang.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {
namespace {

using cluster::HostAsk;

// With the largest unit taken last, every unit before it is taken from no less.
bool is_above(std::int64_t above, std::int64_t unit, std::int64_t largest) {
    return unit == 0 || above - unit + std::max(unit, largest) > 0;
}

}  // namespace

bool HostRight::reaches_beside(ProjectId next) {
    const cluster::Claim& claim = view_.claim(next);
    const model::Entitlement& rights = claim.rights;
    is_within_ = is_within_ && !host_denial(rights, HostBound::Quota, claim.usage.host, asks_);
    is_stated_ |=
        (rights.cpu_quota && asks_.cpu > 0) || (rights.memory_quota && asks_.mebibytes > 0);
    return is_within_ && is_stated_;
}

bool has_host_right(const PoolView& view, const cluster::Job& job) {
    const bool may_be = view.cluster.pool(view.pool).has_host_quota &&
                        view.cluster.shape(job.shape).request.gpus == 0;
    if (!may_be) return false;
    HostRight right(view, cluster::stated_together(view.cluster, job, job.ask()));
    for (ProjectId at = job.project; at != cluster::kRoot; at = view.parent(at)) {
        if (right.reaches_beside(at)) return true;
    }
    return false;
}

HostLedger::HostLedger(const PoolView& view, ProjectId beneficiary) {
    const auto projects = view.cluster.projects();
    accounts_.resize(projects.size());
    for (std::size_t i = 1; i < projects.size(); ++i) {
        const cluster::Claim& claim = view.claim({static_cast<ProjectId::Rep>(i)});
        accounts_[i].above = claim.usage.host;
        accounts_[i].above += claim.host_quota * -1;
        accounts_[i].next = projects[i].parent;
    }
    for (ProjectId at = beneficiary; at.is_valid(); at = view.parent(at)) {
        for (const ProjectId child : projects[at.index()].children) {
            accounts_[child.index()].next = {};
        }
    }
}

void HostLedger::visit_from(ProjectId project, auto&& visit) {
    for (ProjectId at = project; at.is_valid(); at = accounts_[at.index()].next) {
        visit(accounts_[at.index()]);
    }
}

bool HostLedger::may_take(ProjectId from, const HostAsk& unit) const {
    for (ProjectId at = from; at.is_valid(); at = accounts_[at.index()].next) {
        const Account& account = accounts_[at.index()];
        const bool may =
            is_above(account.above.cpu, unit.cpu, account.largest.cpu) &&
            is_above(account.above.mebibytes, unit.mebibytes, account.largest.mebibytes);
        if (!may) return false;
    }
    return true;
}

void HostLedger::take(ProjectId from, const HostAsk& unit) {
    visit_from(from, [&](Account& account) {
        largest_before_.push_back(account.largest);
        account.above += unit * -1;
        account.largest.cpu = std::max(account.largest.cpu, unit.cpu);
        account.largest.mebibytes = std::max(account.largest.mebibytes, unit.mebibytes);
    });
}

void HostLedger::give_back(ProjectId from, const HostAsk& unit) {
    std::size_t before = largest_before_.size();
    visit_from(from, [&](Account&) { --before; });
    std::size_t at = before;
    visit_from(from, [&](Account& account) {
        account.above += unit;
        account.largest = largest_before_[at++];
    });
    largest_before_.resize(before);
}

}  // namespace berth::scheduling
