// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/talk/connection.h"

#include <errno.h>
#include <sys/socket.h>

namespace berth::supervisor {

Connection::Connection(supervision::Descriptor socket, Role role)
    : socket_(std::move(socket)), role_(role) {}

bool Connection::receive() {
    char buffer[supervision::kStreamFrameMax];
    const ssize_t size = ::recv(fd(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) return false;
    reader_.feed({buffer, static_cast<std::size_t>(size)});
    return true;
}

void Connection::send(supervision::FrameType type, std::string_view payload, int task) {
    supervision::append_frame(out_, type, payload, task);
}

bool Connection::flush() {
    while (sent_ < out_.size()) {
        const ssize_t size =
            ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN;
        }
        sent_ += static_cast<std::size_t>(size);
    }
    out_.clear();
    sent_ = 0;
    return true;
}

}  // namespace berth::supervisor
