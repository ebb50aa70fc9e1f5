// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/stay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "vgpu/ledger/admission.h"

namespace berth::vgpu::ledger {

int connect_supervisor(const std::string& socket_path) {
    sockaddr_un address{};
    if (socket_path.size() >= sizeof address.sun_path) return -1;
    address.sun_family = AF_UNIX;
    ::memcpy(address.sun_path, socket_path.data(), socket_path.size());
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    Hello hello;
    hello.role = kRoleSupervisor;
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello)
        return fd;
    ::close(fd);
    return -1;
}

bool report_stay(int socket, const StayReport& report) {
    return ::send(socket, &report, sizeof report, MSG_NOSIGNAL) == sizeof report;
}

std::optional<MoveOrder> next_move(int socket, bool& has_gone) {
    MoveOrder order;
    ssize_t size = -1;
    do {
        size = ::recv(socket, &order, sizeof order, 0);
    } while (size < 0 && errno == EINTR);
    has_gone = size == 0 || (size < 0 && errno != EAGAIN);
    if (size != sizeof order) return std::nullopt;
    const bool is_known = order.move >= Move::leave && order.move <= Move::wake;
    return is_known ? std::optional(order) : std::nullopt;
}

}  // namespace berth::vgpu::ledger
