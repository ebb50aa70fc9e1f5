// SPDX-License-Identifier: Apache-2.0
//
// Which work of a project that could be paused changed lately, inside a Trial or out of it? Whoever
// keeps something of it by job (scheduling/pieces.h) looks again at these jobs, and at all of them
// when too many changed.
//
// As many changes are known as jobs of it stand there, at least kLeast: to look at more of them
// would be to look at all. Cost: O(1) a change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/change_log.h"
#include "cluster/line.h"

namespace berth::cluster {

class WorkLog {
  public:
    // The same stamp means that the work is the same jobs on the same GPUs since the same time;
    // what a Trial takes back gets its old stamp back.
    std::uint64_t stamp() const { return stamp_; }
    void set_stamp(std::uint64_t stamp) { stamp_ = stamp; }

    // A job came to stand among those that could be paused as this, left, or is the same and has
    // started or saved its work anew.
    void joined(const VictimKey& key) {
        ++standing_;
        changed(key);
    }
    void left(const VictimKey& key) {
        --standing_;
        changed(key);
    }
    void changed(const VictimKey& key) { keys_.add(key, std::max(standing_, kLeast)); }
    // Any job may have changed.
    void restart() { keys_.restart(); }

    // base/change_log.h: the key of every change.
    std::uint64_t mark() const { return keys_.mark(); }
    std::uint64_t read() const { return keys_.read(); }
    void take_back_to(std::uint64_t mark) { keys_.take_back_to(mark); }
    bool reaches_back_to(std::uint64_t mark) const { return keys_.reaches_back_to(mark); }
    template <typename Visit>
    void visit_since(std::uint64_t mark, Visit&& visit) const {
        keys_.visit_since(mark, visit);
    }

  private:
    static constexpr std::size_t kLeast = 64;

    std::uint64_t stamp_ = 0;
    base::ChangeLog<VictimKey> keys_;
    std::size_t standing_ = 0;
};

}  // namespace berth::cluster
