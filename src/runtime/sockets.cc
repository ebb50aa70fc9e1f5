// SPDX-License-Identifier: Apache-2.0
#include "runtime/sockets.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "runtime/socket_address.h"

namespace berth::runtime {
namespace {

using base::ErrorCode;

std::string reason_of(int error) { return std::string(": ") + ::strerror(error); }

Descriptor open_socket(SocketKind kind) {
    const int type = kind == SocketKind::Stream ? SOCK_STREAM : SOCK_SEQPACKET;
    return Descriptor(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int connect(const Descriptor& socket, const SocketAddress& address) {
    return ::connect(socket.get(), address.get(), SocketAddress::size()) == 0 ? 0 : errno;
}

int bind(const Descriptor& socket, const SocketAddress& address) {
    return ::bind(socket.get(), address.get(), SocketAddress::size()) == 0 ? 0 : errno;
}

std::optional<ucred> peer_of(int socket) {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return {};
    return peer;
}

}  // namespace

base::Result<Listener> listen_at(const Folder& folder, const std::string& name, SocketKind kind,
                                 mode_t mode) {
    const std::string path = folder.path() + '/' + name;
    const SocketAddress address(folder.fd(), name);
    if (address.error() != 0 || name.find('/') != std::string::npos)
        return base::invalid("the socket's name \"" + name + "\" is too long, or has a slash");
    Listener listener{open_socket(kind)};
    if (!listener.socket.is_open()) return base::fail(ErrorCode::Exhausted, ::strerror(errno));
    int error = bind(listener.socket, address);
    // The file of a process that was killed stays, and refuses.
    if (error == EADDRINUSE && connect(open_socket(kind), address) == ECONNREFUSED) {
        folder.remove_file(name);
        listener.was_left = true;
        error = bind(listener.socket, address);
    }
    // Until it listens no process can connect.
    if (error == 0 && ::fchmodat(folder.fd(), name.c_str(), mode, 0) != 0) error = errno;
    if (error == 0 && ::listen(listener.socket.get(), SOMAXCONN) != 0) error = errno;
    if (error == 0) return listener;
    return base::fail(error == EADDRINUSE ? ErrorCode::Exists : ErrorCode::Unavailable,
                      "cannot listen at \"" + path + '"' + reason_of(error));
}

base::Result<Descriptor> connect_to(const std::string& path, SocketKind kind) {
    const SocketAddress address(path);
    if (address.error() == ENAMETOOLONG || address.error() == EINVAL)
        return base::invalid("\"" + path + "\" cannot be the path of a socket" +
                             reason_of(address.error()));
    Descriptor socket = open_socket(kind);
    if (!socket.is_open()) return base::fail(ErrorCode::Exhausted, ::strerror(errno));
    const int error = address.error() != 0 ? address.error() : connect(socket, address);
    if (error != 0)
        return base::fail(ErrorCode::Unavailable,
                          "nothing answers at \"" + path + '"' + reason_of(error));
    if (!is_peer_trusted(socket.get()))
        return base::fail(ErrorCode::Forbidden,
                          "another user listens at \"" + path + "\"; nothing is said to it");
    return socket;
}

bool is_peer_trusted(int socket) {
    const std::optional<ucred> peer = peer_of(socket);
    return peer && (peer->uid == ::geteuid() || peer->uid == 0);
}

pid_t peer_pid(int socket) {
    const std::optional<ucred> peer = peer_of(socket);
    return peer ? peer->pid : 0;
}

}  // namespace berth::runtime
