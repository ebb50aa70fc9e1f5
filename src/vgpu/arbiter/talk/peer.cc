// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/talk/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <span>

namespace berth::vgpu::arbiter {
namespace {

bool is_ready(int fd, short events) {
    pollfd question{fd, events, 0};
    return ::poll(&question, 1, 0) == 1;
}

// With up to two files; false when it could not be sent.
bool send_packet(int socket, std::string_view data, std::span<const int> files) {
    alignas(cmsghdr) char ancillary[CMSG_SPACE(2 * sizeof(int))] = {};
    iovec part{const_cast<char*>(data.data()), data.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!files.empty()) {
        message.msg_control = ancillary;
        message.msg_controllen = CMSG_SPACE(files.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(files.size_bytes());
        ::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == std::ssize(data);
}

}  // namespace

Descriptor spare_file() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

Peer accept_peer(int listener, Descriptor& spare) {
    const auto next = [listener] {
        return Descriptor(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    };
    Peer peer;
    peer.socket = next();
    if (!peer.socket.is_open()) {
        // It would stay in line for ever, and wake the arbiter all that time.
        if (errno == EMFILE || errno == ENFILE) {
            spare.reset();
            next();
            spare = spare_file();
        }
        return {};
    }
    ucred identity{};
    socklen_t size = sizeof identity;
    if (::getsockopt(peer.socket.get(), SOL_SOCKET, SO_PEERCRED, &identity, &size) != 0) return {};
    peer.pid = identity.pid;
    peer.uid = identity.uid;
    peer.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, identity.pid, 0)));
    // Where the connection is still up now, the process had not ended when its pidfd was opened.
    if (!peer.process.is_open() || is_ready(peer.socket.get(), POLLRDHUP)) return {};
    return peer;
}

ssize_t receive(int socket, void* into, std::size_t size) {
    ssize_t got = -1;
    do {
        got = ::recv(socket, into, size, MSG_DONTWAIT | MSG_TRUNC);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno != EAGAIN) return 0;
    return got;
}

bool send_welcome(int socket, const ledger::Welcome& welcome, int account, int terms) {
    const std::array files{account, terms};
    const std::span sent(files);
    return send_packet(socket, {reinterpret_cast<const char*>(&welcome), sizeof welcome},
                       welcome.refused == 0 ? sent : sent.first(0));
}

bool send_answer(int socket, std::string_view text) {
    if (text.size() <= kAnswerPacketMax) return send_packet(socket, text, {});
    const Descriptor file(::memfd_create("answer", MFD_CLOEXEC));
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote = ::write(file.get(), text.data() + done, text.size() - done);
        if (wrote <= 0) return false;
        done += static_cast<std::size_t>(wrote);
    }
    const std::array files{file.get()};
    return send_packet(socket, "ok", files);
}

bool is_owner(const Peer& peer) { return peer.uid == 0 || peer.uid == ::geteuid(); }

bool has_ended(const Descriptor& process) { return is_ready(process.get(), POLLIN); }

}  // namespace berth::vgpu::arbiter
