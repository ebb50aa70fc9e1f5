// SPDX-License-Identifier: Apache-2.0
//
// Which work of a project that could be paused changed lately? Whoever keeps something of it by job
// (scheduling/pieces.h) looks again at these jobs, and at all of them when too many changed.
//
// The last kKept changes are known. Cost: O(1) a change, without asking for memory after the first.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/state.h"

namespace berth::cluster {

class WorkLog {
  public:
    // A job came to stand among those that could be paused as this, or stood there until now.
    void add(const VictimKey& key) {
        if (keys_.empty()) keys_.resize(kKept);
        keys_[written_++ % kKept] = key;
    }
    // Any job may have changed.
    void restart() { known_from_ = ++written_; }

    // How far it is written now.
    std::uint64_t mark() const { return written_; }
    bool reaches_back_to(std::uint64_t mark) const {
        return mark >= known_from_ && written_ - mark <= kKept;
    }
    // Calls `visit` with the key of every change since the mark, repetitions included. It reaches
    // back to the mark.
    template <typename Visit>
    void visit_since(std::uint64_t mark, Visit&& visit) const {
        for (; mark < written_; ++mark) visit(keys_[mark % kKept]);
    }

  private:
    static constexpr std::uint64_t kKept = 256;

    std::vector<VictimKey> keys_;  // a ring
    std::uint64_t written_ = 0;
    std::uint64_t known_from_ = 0;
};

}  // namespace berth::cluster
