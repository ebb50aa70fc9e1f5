// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/send_order.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "vgpu/arbiter/descriptor.h"

namespace berth::vgpu::arbiter {

base::Result<std::string> send_order(const std::string& directory, const std::string& order) {
    const std::string path = directory + "/control";
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path)
        return base::invalid("the directory's path is too long: \"" + directory + "\"");
    address.sun_family = AF_UNIX;
    ::memcpy(address.sun_path, path.data(), path.size());
    const Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const timeval timeout{10, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    std::string answer(std::size_t{1} << 20, '\0');
    ssize_t size = -1;
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::send(socket.get(), order.data(), order.size(), MSG_NOSIGNAL) >= 0)
        size = ::recv(socket.get(), answer.data(), answer.size(), 0);
    if (size <= 0)
        return base::fail(base::ErrorCode::Unavailable,
                          "no arbiter answers at \"" + path + "\"" +
                              (size < 0 ? std::string(": ") + ::strerror(errno) : "") +
                              "; start it with berth-arbiter --dir");
    answer.resize(static_cast<std::size_t>(size));
    return answer;
}

}  // namespace berth::vgpu::arbiter
