// SPDX-License-Identifier: Apache-2.0
#include "kube/client/transport/loop_timers.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace berth::kube::client {

Timers::Id LoopTimers::start(base::Duration wait, std::function<void()> then) {
    const Id id = ++last_;
    Started& started = timers_[id];
    started.then = std::move(then);
    if (wait <= base::Duration{0}) {
        // A timer would cost three system calls, and there is one for each request.
        boost::asio::post(loop_, [this, here = std::weak_ptr(is_here_), id] {
            if (!here.expired()) fire(id);
        });
        return id;
    }
    started.timer.emplace(loop_, wait);
    started.timer->async_wait([this, id](const boost::system::error_code& stopped) {
        if (!stopped) fire(id);  // else this may be gone as well
    });
    return id;
}

void LoopTimers::fire(Id id) {
    const auto found = timers_.find(id);
    if (found == timers_.end()) return;
    const auto call = std::move(found->second.then);
    timers_.erase(found);
    call();
}

}  // namespace berth::kube::client
