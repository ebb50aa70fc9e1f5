// SPDX-License-Identifier: Apache-2.0
#include "supervision/address.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <optional>

namespace berth::supervision {
namespace {

using base::ErrorCode;

struct Address {
    sockaddr_un raw{};
    socklen_t length = 0;
};

base::Result<Address> address_of(const std::string& text) {
    Address address;
    if (text.size() + 1 > sizeof address.raw.sun_path)
        return base::invalid("the socket name \"" + text + "\" is too long; at most " +
                             std::to_string(sizeof address.raw.sun_path - 1) + " bytes fit");
    address.raw.sun_family = AF_UNIX;
    ::memcpy(address.raw.sun_path + 1, text.data(), text.size());
    address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    return address;
}

base::Result<Descriptor> open_socket() {
    Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.is_open())
        return base::fail(ErrorCode::Exhausted, std::string("socket: ") + ::strerror(errno));
    return fd;
}

std::optional<ucred> peer_of(int socket) {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return {};
    return peer;
}

}  // namespace

std::string socket_of(const AttemptName& name) {
    return "berth-" + name.cluster + '-' + std::to_string(name.job) + '-' +
           std::to_string(name.attempt);
}

base::Result<Descriptor> listen_as(const AttemptName& name) { return listen_at(socket_of(name)); }

base::Result<Descriptor> listen_at(const std::string& socket) {
    BERTH_TRY(address, address_of(socket));
    BERTH_TRY(fd, open_socket());
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.raw), address.length) != 0 ||
        ::listen(fd.get(), 16) != 0)
        return base::fail(errno == EADDRINUSE ? ErrorCode::Exists : ErrorCode::Internal,
                          std::string("control socket: ") + ::strerror(errno));
    return std::move(fd);
}

base::Result<Descriptor> connect_to(const std::string& socket) {
    BERTH_TRY(address, address_of(socket));
    BERTH_TRY(fd, open_socket());
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.raw), address.length) != 0)
        return base::fail(ErrorCode::Unavailable, std::string("connect: ") + ::strerror(errno));
    if (!is_peer_trusted(fd.get()))
        return base::fail(ErrorCode::Forbidden,
                          "the control socket \"" + socket + "\" is held by another user");
    return std::move(fd);
}

bool is_peer_trusted(int socket) {
    const std::optional<ucred> peer = peer_of(socket);
    return peer && (peer->uid == ::geteuid() || peer->uid == 0);
}

pid_t peer_pid(int socket) {
    const std::optional<ucred> peer = peer_of(socket);
    return peer ? peer->pid : 0;
}

}  // namespace berth::supervision
