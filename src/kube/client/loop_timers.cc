// SPDX-License-Identifier: Apache-2.0
#include "kube/client/loop_timers.h"

#include <utility>

namespace berth::kube::client {

Timers::Id LoopTimers::start(base::Duration wait, std::function<void()> then) {
    const Id id = ++last_;
    auto& started = *(timers_[id] = std::make_unique<Started>(
                          Started{boost::asio::steady_timer(loop_, wait), std::move(then)}));
    started.timer.async_wait([this, id](const boost::system::error_code& stopped) {
        if (stopped) return;  // perhaps this is gone as well
        const auto found = timers_.find(id);
        if (found == timers_.end()) return;
        const auto call = std::move(found->second->then);
        timers_.erase(found);
        call();
    });
    return id;
}

}  // namespace berth::kube::client
