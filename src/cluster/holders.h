// SPDX-License-Identifier: Apache-2.0
//
// Which jobs have a hold, and whose was made, changed or dropped of late? In order of id.
#pragma once

#include "base/change_log.h"
#include "base/ids.h"
#include "base/sorted_runs.h"

namespace berth::cluster {

class Holders {
  public:
    auto begin() const { return jobs_.begin(); }
    auto end() const { return jobs_.end(); }
    bool empty() const { return jobs_.empty(); }
    // What a Trial takes back is written down as well.
    const base::ChangeLog<base::JobId>& changed() const { return changed_; }

    // Whether the job had a hold before it changed, and has one now.
    void settle(base::JobId job, bool had_hold, bool has_hold) {
        if (had_hold && !has_hold) jobs_.erase(job);
        if (!had_hold && has_hold) jobs_.insert(job);
        if (had_hold || has_hold) changed_.add(job, kLeastKnown);
    }

  private:
    static constexpr std::size_t kLeastKnown = 1024;

    base::SortedRuns<base::JobId> jobs_;
    base::ChangeLog<base::JobId> changed_;
};

}  // namespace berth::cluster
