// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/talk/send_order.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>

#include "runtime/socket_address.h"
#include "vgpu/arbiter/talk/peer.h"

namespace berth::vgpu::arbiter {
namespace {

// One packet, or the whole of the file that came with it; nothing when neither could be read.
std::string receive_answer(int socket) {
    std::string answer(kAnswerPacketMax, '\0');
    alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
    iovec part{answer.data(), answer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    answer.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return answer;
    int number = -1;
    ::memcpy(&number, CMSG_DATA(header), sizeof number);
    const Descriptor file(number);
    answer.resize(static_cast<std::size_t>(std::max(::lseek(file.get(), 0, SEEK_END), off_t{0})));
    const ssize_t read = ::pread(file.get(), answer.data(), answer.size(), 0);
    answer.resize(read > 0 ? static_cast<std::size_t>(read) : 0);
    return answer;
}

pid_t process_behind(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

bool wait_for_answer(int socket, const WhenLate& when_late) {
    int waited_ms = 0;
    while (true) {
        const int more_ms = when_late(process_behind(socket), waited_ms);
        if (more_ms <= 0) {
            errno = ETIMEDOUT;
            return false;
        }
        pollfd ready{socket, POLLIN, 0};
        if (::poll(&ready, 1, more_ms) > 0) return true;
        waited_ms += more_ms;
    }
}

}  // namespace

int wait_ten_seconds(pid_t, int waited_ms) { return 10'000 - waited_ms; }

base::Result<std::string> send_order(const std::string& directory, const std::string& order,
                                     const WhenLate& when_late) {
    const std::string path = directory + "/control";
    const runtime::SocketAddress address(path);
    const Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    // Also where many wait already.
    const timeval timeout{10, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    std::string answer;
    errno = address.error();
    if (errno == 0 && ::connect(socket.get(), address.get(), address.size()) == 0 &&
        ::send(socket.get(), order.data(), order.size(), MSG_NOSIGNAL) >= 0 &&
        wait_for_answer(socket.get(), when_late))
        answer = receive_answer(socket.get());
    if (answer.empty())
        return base::fail(base::ErrorCode::Unavailable,
                          "no arbiter answers at \"" + path + "\"" +
                              (errno != 0 ? std::string(": ") + ::strerror(errno) : "") +
                              "; start it with berth-arbiter --dir");
    return answer;
}

}  // namespace berth::vgpu::arbiter
