// SPDX-License-Identifier: Apache-2.0
#include "cluster/trial.h"

#include "base/check.h"
#include "cluster/cluster.h"

namespace berth::cluster {

void Cluster::record(const Undo& entry) {
    if (open_trials_ > 0) undo_.push_back(entry);
}

void Cluster::undo_to(std::size_t mark) {
    while (undo_.size() > mark) {
        const Undo entry = undo_.back();
        undo_.pop_back();
        undo(entry);
    }
}

Trial::Trial(Cluster& cluster) : cluster_(cluster), mark_(cluster.undo_.size()) {
    ++cluster_.open_trials_;
}

Trial::~Trial() {
    if (!is_kept_) cluster_.undo_to(mark_);
    --cluster_.open_trials_;
    if (cluster_.open_trials_ == 0) {
        // Kept at the outermost level: the changes are final, their records are not needed.
        cluster_.undo_.clear();
        cluster_.undo_ranks_.clear();
        cluster_.undo_tasks_.clear();
        cluster_.undo_holds_.clear();
    }
}

}  // namespace berth::cluster
