// SPDX-License-Identifier: Apache-2.0
//
// Which file has something to say? Calls the function that waits for it, in one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "vgpu/arbiter/talk/descriptor.h"

namespace berth::vgpu::arbiter {

class EventLoop {
  public:
    using Id = std::uint64_t;  // never used again, so that no late event reaches a newcomer

    EventLoop();

    // Calls `on_readable` whenever fd has something to read or was hung up, until forget().
    Id watch(int fd, std::function<void()> on_readable);
    void forget(Id id);

    // Waits until something happens or the time has come (monotonic ns), and handles it.
    void wait(std::int64_t until_ns);

    static std::int64_t now();  // monotonic ns

  private:
    struct Watch {
        int fd = -1;
        std::function<void()> on_readable;
    };
    Descriptor epoll_;
    std::map<Id, Watch> watches_;
    Id next_ = 1;
};

}  // namespace berth::vgpu::arbiter
