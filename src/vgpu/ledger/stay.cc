// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/stay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/socket_address.h"
#include "vgpu/ledger/admission.h"

namespace berth::vgpu::ledger {

int connect_supervisor(std::string_view socket_path) {
    const runtime::SocketAddress address(socket_path);
    if (address.error() != 0) return -1;
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    Hello hello;
    hello.role = kRoleSupervisor;
    if (::connect(fd, address.get(), address.size()) == 0 &&
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
