// SPDX-License-Identifier: Apache-2.0
//
// Who is the first of all waiting jobs that may still fit? Of each queue only the first is looked
// at. O(queues) a step.
#pragma once

#include <vector>

#include "simulation/replay/hand_out.h"

namespace berth::simulation {

class Heads {
  public:
    explicit Heads(const Queues& queues) {
        for (const auto& [ask, queue] : queues) {
            if (!queue.empty()) heads_.push_back({ask, queue.begin(), queue.end()});
        }
        choose();
    }

    bool is_empty() const { return heads_.empty(); }
    const Ranked& first() const { return *heads_[first_].next; }
    const Ask& ask() const { return heads_[first_].ask; }
    // The first one got its GPUs.
    void served() {
        if (++heads_[first_].next == heads_[first_].end) heads_.erase(at_first());
        choose();
    }
    // It does not fit, so no other of its queue does.
    void passed_over() {
        heads_.erase(at_first());
        choose();
    }

  private:
    struct Head {
        Ask ask;
        std::set<Ranked>::const_iterator next;
        std::set<Ranked>::const_iterator end;
    };

    std::vector<Head>::iterator at_first() {
        return heads_.begin() + static_cast<std::ptrdiff_t>(first_);
    }
    void choose() {
        first_ = 0;
        for (std::size_t at = 1; at < heads_.size(); ++at) {
            if (*heads_[at].next < *heads_[first_].next) first_ = at;
        }
    }

    std::vector<Head> heads_;
    std::size_t first_ = 0;
};

}  // namespace berth::simulation
