// SPDX-License-Identifier: Apache-2.0
//
// Which members come first? A sorted set of small values that stays cheap when it is very large:
// values stand in runs of at most kRunMax, so a member costs little more than its own bytes, and a
// change moves at most one run. The order is operator< of T.
//
// Cost: insert and erase O(log members) and a short move; front() and begin() O(1); rank() O(runs).
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "base/check.h"

namespace berth::base {

template <typename T>
class SortedRuns {
  public:
    class Iterator {
      public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        Iterator(const SortedRuns& owner, std::size_t run) : owner_(&owner), run_(run) {}
        const T& operator*() const { return owner_->runs_[run_][at_]; }
        const T* operator->() const { return &**this; }
        Iterator& operator++() {
            if (++at_ == owner_->runs_[run_].size()) {
                ++run_;
                at_ = 0;
            }
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator&) const = default;

      private:
        const SortedRuns* owner_ = nullptr;
        std::size_t run_ = 0;
        std::size_t at_ = 0;
    };

    // Not yet a member.
    void insert(const T& value) {
        if (runs_.empty()) {
            runs_.emplace_back();
            firsts_.push_back(value);
        }
        const std::size_t at = run_of(value);
        std::vector<T>& run = runs_[at];
        run.insert(std::lower_bound(run.begin(), run.end(), value), value);
        firsts_[at] = run.front();
        if (run.size() > kRunMax) split(at);
    }

    // A member.
    void erase(const T& value) {
        BERTH_CHECK(!runs_.empty(), "only a member is taken out");
        const std::size_t at = run_of(value);
        std::vector<T>& run = runs_[at];
        const auto found = std::lower_bound(run.begin(), run.end(), value);
        BERTH_CHECK(found != run.end() && !(value < *found), "only a member is taken out");
        run.erase(found);
        if (!run.empty()) {
            firsts_[at] = run.front();
            return;
        }
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at));
        firsts_.erase(firsts_.begin() + static_cast<std::ptrdiff_t>(at));
    }

    bool empty() const { return runs_.empty(); }
    const T& front() const { return firsts_.front(); }
    std::size_t size() const {
        std::size_t total = 0;
        for (const std::vector<T>& run : runs_) total += run.size();
        return total;
    }
    // How many members come before the value.
    std::size_t rank(const T& value) const {
        if (runs_.empty()) return 0;
        const std::size_t at = run_of(value);
        std::size_t before = 0;
        for (std::size_t run = 0; run < at; ++run) before += runs_[run].size();
        const auto found = std::lower_bound(runs_[at].begin(), runs_[at].end(), value);
        return before + static_cast<std::size_t>(found - runs_[at].begin());
    }

    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, runs_.size()}; }

  private:
    static constexpr std::size_t kRunMax = 128;

    // The last run that begins with the value or before it; the first run when none does.
    std::size_t run_of(const T& value) const {
        const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), value);
        return after == firsts_.begin() ? 0 : static_cast<std::size_t>(after - firsts_.begin()) - 1;
    }

    void split(std::size_t at) {
        const auto middle = runs_[at].begin() + kRunMax / 2;
        std::vector<T> upper(middle, runs_[at].end());
        runs_[at].erase(middle, runs_[at].end());
        const auto next = static_cast<std::ptrdiff_t>(at) + 1;
        firsts_.insert(firsts_.begin() + next, upper.front());
        runs_.insert(runs_.begin() + next, std::move(upper));
    }

    std::vector<std::vector<T>> runs_;  // none of them empty
    std::vector<T> firsts_;  // of each run: found without going into it
};

}  // namespace berth::base
