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
        Iterator(const SortedRuns& owner, std::size_t run, std::size_t at = 0)
            : owner_(&owner), run_(run), at_(at) {}
        const T& operator*() const { return owner_->runs_[run_][at_]; }
        const T* operator->() const { return &**this; }
        Iterator& operator++() {
            if (++at_ == owner_->runs_[run_].size()) {
                ++run_;
                at_ = 0;
            }
            return *this;
        }
        Iterator& operator--() {
            if (at_ == 0) at_ = owner_->runs_[--run_].size();
            --at_;
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
        if (empty()) {
            runs_.resize(1);
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
        BERTH_CHECK(!empty(), "only a member is taken out");
        const std::size_t at = run_of(value);
        std::vector<T>& run = runs_[at];
        const auto found = std::lower_bound(run.begin(), run.end(), value);
        BERTH_CHECK(found != run.end() && !(value < *found), "only a member is taken out");
        run.erase(found);
        if (!run.empty()) {
            firsts_[at] = run.front();
            return;
        }
        firsts_.erase(firsts_.begin() + static_cast<std::ptrdiff_t>(at));
        if (!empty()) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at));
    }

    bool empty() const { return firsts_.empty(); }
    const T& front() const { return firsts_.front(); }
    const T& back() const { return runs_.back().back(); }
    std::size_t size() const {
        std::size_t total = 0;
        for (const std::vector<T>& run : runs_) total += run.size();
        return total;
    }
    bool contains(const T& value) const {
        if (empty()) return false;
        const std::vector<T>& run = runs_[run_of(value)];
        return std::binary_search(run.begin(), run.end(), value);
    }
    // The first member that does not come before the value.
    Iterator from(const T& value) const {
        if (empty()) return end();
        const std::size_t run = run_of(value);
        const auto at = std::lower_bound(runs_[run].begin(), runs_[run].end(), value);
        if (at == runs_[run].end()) return {*this, run + 1};
        return {*this, run, static_cast<std::size_t>(at - runs_[run].begin())};
    }
    // How many members come before the value.
    std::size_t rank(const T& value) const {
        if (empty()) return 0;
        const std::size_t at = run_of(value);
        std::size_t before = 0;
        for (std::size_t run = 0; run < at; ++run) before += runs_[run].size();
        const auto found = std::lower_bound(runs_[at].begin(), runs_[at].end(), value);
        return before + static_cast<std::size_t>(found - runs_[at].begin());
    }

    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, firsts_.size()}; }

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

    std::vector<std::vector<T>> runs_;  // none of them empty, but the last one that is left
    std::vector<T> firsts_;  // of each run: found without going into it
};

}  // namespace berth::base
