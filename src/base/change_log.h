// SPDX-License-Identifier: Apache-2.0
//
// What has changed since I last looked? The latest changes, for any number of readers who each
// remember how far they have read; who looks too late has to look at everything.
//
// Cost: O(1) a change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::base {

template <typename T>
class ChangeLog {
  public:
    // At least `least` changes stay known.
    void add(const T& what, std::size_t least) {
        const bool is_known = !changes_.empty() && changes_.back() == what && mark() > read_to_;
        if (is_known) return;
        changes_.push_back(what);
        if (changes_.size() > 2 * least) forget(changes_.size() - least);
    }
    // Anything may have changed.
    void restart() {
        forget(changes_.size());
        ++known_from_;
    }

    // How far it is written now.
    std::uint64_t mark() const { return known_from_ + changes_.size(); }
    // The same, of a reader who will come back to it.
    std::uint64_t read() const { return read_to_ = mark(); }
    // All since the mark was taken back: a reader has to know only what it has read.
    void take_back_to(std::uint64_t mark) {
        if (mark < read_to_ || mark < known_from_) return;
        changes_.resize(mark - known_from_);
    }
    bool reaches_back_to(std::uint64_t mark) const { return mark >= known_from_; }
    // Calls `visit` with every change since the mark, repetitions included. It reaches back to the
    // mark.
    template <typename Visit>
    void visit_since(std::uint64_t mark, Visit&& visit) const {
        for (std::size_t at = mark - known_from_; at < changes_.size(); ++at) visit(changes_[at]);
    }

  private:
    void forget(std::size_t count) {
        changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(count));
        known_from_ += count;
    }

    std::vector<T> changes_;  // the oldest first
    std::uint64_t known_from_ = 0;
    mutable std::uint64_t read_to_ = 0;  // by the reader that is furthest
};

}  // namespace berth::base
