// SPDX-License-Identifier: Apache-2.0
//
// How is a Unix socket at a path addressed? The kernel's address has room for 107 bytes. A longer
// path is reached through its open folder, as /proc/self/fd/7/NAME. Always a path, never an
// abstract name. Preloaded libraries use it, which have no C++ runtime (vgpu/interposer).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string_view>

#include "runtime/descriptor.h"

namespace berth::runtime {

class SocketAddress {
  public:
    explicit SocketAddress(std::string_view path);
    // `name` in a folder that stays open as long as the address is used.
    SocketAddress(int folder, std::string_view name);

    // 0, or why the path cannot be addressed: an error number.
    int error() const { return error_; }
    // What is to be bound or connected to; valid as long as this object lives.
    const char* path() const { return raw_.sun_path; }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&raw_); }
    static constexpr socklen_t size() { return sizeof(sockaddr_un); }

  private:
    void set(std::string_view path);
    void set_through(int folder, std::string_view name);

    sockaddr_un raw_{};
    Descriptor folder_;
    int error_ = 0;
};

}  // namespace berth::runtime
