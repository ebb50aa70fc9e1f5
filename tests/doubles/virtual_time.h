// SPDX-License-Identifier: Apache-2.0
//
// Time that passes when nothing else is left to do: what is due is called in order, the clock jumps
// from one moment to the next.
#pragma once

#include <map>
#include <utility>

#include "kube/client/transport/timers.h"

namespace berth::tests {

class VirtualTime final : public kube::client::Timers {
  public:
    base::TimePoint now() const override { return now_; }

    Id start(base::Duration wait, std::function<void()> then) override {
        const Id id = ++last_;
        const auto place = due_.emplace(std::pair{now_ + wait, id}, std::move(then)).first;
        started_.emplace(id, place);
        return id;
    }
    void stop(Id id) override {
        const auto found = started_.find(id);
        if (found == started_.end()) return;
        due_.erase(found->second);
        started_.erase(found);
    }

    // The next thing, when it is due by then.
    bool step(base::TimePoint until) {
        if (due_.empty() || due_.begin()->first.first > until) return false;
        auto first = due_.extract(due_.begin());
        now_ = std::max(now_, first.key().first);
        started_.erase(first.key().second);
        first.mapped()();
        return true;
    }
    void run(base::Duration span) {
        const base::TimePoint until = now_ + span;
        while (step(until)) {
        }
        now_ = until;
    }

  private:
    using Due = std::map<std::pair<base::TimePoint, Id>, std::function<void()>>;

    base::TimePoint now_ = base::at_ms(1'772'366'400'000);
    Due due_;
    std::map<Id, Due::iterator> started_;
    Id last_ = 0;
};

}  // namespace berth::tests
