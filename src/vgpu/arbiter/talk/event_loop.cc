// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/talk/event_loop.h"

#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

namespace berth::vgpu::arbiter {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kWaitMax = 3600 * kSecond;

}  // namespace

EventLoop::EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

EventLoop::Id EventLoop::watch(int fd, std::function<void()> on_readable) {
    const Id id = next_++;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.u64 = id;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0)
        watches_[id] = {fd, std::move(on_readable)};
    return id;
}

void EventLoop::forget(Id id) {
    const auto watch = watches_.find(id);
    if (watch == watches_.end()) return;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watch->second.fd, nullptr);
    watches_.erase(watch);
}

void EventLoop::wait(std::int64_t until_ns) {
    const std::int64_t left = std::clamp<std::int64_t>(until_ns - now(), 0, kWaitMax);
    const timespec timeout{left / kSecond, left % kSecond};
    std::array<epoll_event, 64> events{};
    const int count = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                     &timeout, nullptr);
    for (int index = 0; index < count; ++index) {
        // A copy: an epoll_event is packed, so no reference to what is in it is aligned.
        const Id id = events[static_cast<std::size_t>(index)].data.u64;
        const auto watch = watches_.find(id);
        if (watch == watches_.end()) continue;  // forgotten by one handled before it
        const auto on_readable = watch->second.on_readable;
        on_readable();
    }
}

std::int64_t EventLoop::now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace berth::vgpu::arbiter
