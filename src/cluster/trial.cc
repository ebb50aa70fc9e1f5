// SPDX-License-Identifier: Apache-2.0
#include "cluster/trial.h"

#include "base/check.h"
#include "cluster/cluster.h"

namespace berth::cluster {

void Cluster::record(const Undo& entry) {
    if (open_trials_ > 0) undo_.entries.push_back(entry);
}

void Cluster::undo_to(std::size_t mark) {
    while (undo_.entries.size() > mark) {
        const Undo entry = undo_.entries.back();
        undo_.entries.pop_back();
        undo(entry);
    }
}

Trial::Trial(Cluster& cluster)
    : cluster_(cluster),
      mark_(cluster.undo_.entries.size()),
      capacity_mark_(cluster.changed_.capacity.mark()),
      work_mark_(cluster.changed_.work.mark()) {
    ++cluster_.open_trials_;
}

Trial::~Trial() {
    cluster_.undo_to(mark_);
    cluster_.changed_.capacity.take_back_to(capacity_mark_);
    cluster_.changed_.work.take_back_to(work_mark_);
    --cluster_.open_trials_;
    if (cluster_.open_trials_ == 0) cluster_.undo_.clear();
}

}  // namespace berth::cluster
