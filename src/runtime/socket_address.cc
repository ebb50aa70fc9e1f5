// SPDX-License-Identifier: Apache-2.0
#include "runtime/socket_address.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

namespace berth::runtime {
namespace {

std::string through(int folder, const std::string& name) {
    return "/proc/self/fd/" + std::to_string(folder) + '/' + name;
}

}  // namespace

SocketAddress::SocketAddress(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (path.size() < sizeof raw_.sun_path || slash == std::string::npos) {
        set(path);
        return;
    }
    const std::string folder = path.substr(0, slash + 1);
    folder_.reset(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder_.is_open()) {
        set(through(folder_.get(), path.substr(slash + 1)));
    } else {
        error_ = errno;
    }
}

SocketAddress::SocketAddress(int folder, const std::string& name) { set(through(folder, name)); }

void SocketAddress::set(const std::string& path) {
    // A leading zero byte would make an abstract name.
    if (path.empty() || path.front() == '\0') {
        error_ = EINVAL;
    } else if (path.size() >= sizeof raw_.sun_path) {
        error_ = ENAMETOOLONG;
    } else {
        raw_.sun_family = AF_UNIX;
        ::memcpy(raw_.sun_path, path.c_str(), path.size() + 1);
    }
}

}  // namespace berth::runtime
