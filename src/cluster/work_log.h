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
#include <vector>

#include "cluster/state.h"

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
    void changed(const VictimKey& key) {
        keys_.push_back(key);
        const std::size_t known = std::max(standing_, kLeast);
        if (keys_.size() > 2 * known) forget(keys_.size() - known);
    }
    // Any job may have changed.
    void restart() {
        forget(keys_.size());
        ++known_from_;
    }

    // How far it is written now.
    std::uint64_t mark() const { return known_from_ + keys_.size(); }
    bool reaches_back_to(std::uint64_t mark) const { return mark >= known_from_; }
    // Calls `visit` with the key of every change since the mark, repetitions included. It reaches
    // back to the mark.
    template <typename Visit>
    void visit_since(std::uint64_t mark, Visit&& visit) const {
        for (std::size_t at = mark - known_from_; at < keys_.size(); ++at) visit(keys_[at]);
    }

  private:
    static constexpr std::size_t kLeast = 64;

    void forget(std::size_t count) {
        keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(count));
        known_from_ += count;
    }

    std::uint64_t stamp_ = 0;
    std::vector<VictimKey> keys_;  // the oldest first
    std::uint64_t known_from_ = 0;
    std::size_t standing_ = 0;
};

}  // namespace berth::cluster
