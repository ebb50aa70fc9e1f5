// SPDX-License-Identifier: Apache-2.0
#include "runtime/socket_address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

namespace berth::runtime {

SocketAddress::SocketAddress(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    if (path.size() < sizeof raw_.sun_path || slash == std::string_view::npos) {
        set(path);
        return;
    }
    char folder[PATH_MAX];
    if (slash + 1 >= sizeof folder) {
        error_ = ENAMETOOLONG;
        return;
    }
    ::memcpy(folder, path.data(), slash + 1);
    folder[slash + 1] = '\0';
    folder_.reset(::open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder_.is_open()) {
        path.remove_prefix(slash + 1);
        set_through(folder_.get(), path);
    } else {
        error_ = errno;
    }
}

SocketAddress::SocketAddress(int folder, std::string_view name) { set_through(folder, name); }

void SocketAddress::set(std::string_view path) {
    // A leading zero byte would make an abstract name.
    if (path.empty() || path.front() == '\0') {
        error_ = EINVAL;
    } else if (path.size() >= sizeof raw_.sun_path) {
        error_ = ENAMETOOLONG;
    } else {
        raw_.sun_family = AF_UNIX;
        ::memcpy(raw_.sun_path, path.data(), path.size());
    }
}

void SocketAddress::set_through(int folder, std::string_view name) {
    char path[sizeof raw_.sun_path];
    const auto before =
        static_cast<std::size_t>(::snprintf(path, sizeof path, "/proc/self/fd/%d/", folder));
    if (before + name.size() >= sizeof path) {
        error_ = ENAMETOOLONG;
        return;
    }
    ::memcpy(path + before, name.data(), name.size());
    set({path, before + name.size()});
}

}  // namespace berth::runtime
