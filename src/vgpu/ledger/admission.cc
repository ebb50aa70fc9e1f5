// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/admission.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/socket_address.h"
#include "vgpu/ledger/segment.h"

namespace berth::vgpu::ledger {
namespace {

// Of `what` at the socket; with the reason of the last call that failed, if one did.
Reason because(const char* what, std::string_view path) {
    Reason reason;
    const int error = errno;
    ::snprintf(reason.text, sizeof reason.text, "%s \"%.*s\"%s%s", what,
               static_cast<int>(path.size()), path.data(), error == 0 ? "" : ": ",
               error == 0 ? "" : ::strerror(error));
    return reason;
}

int connect_to(std::string_view path, int timeout_ms) {
    const runtime::SocketAddress address(path);
    if (address.error() != 0) {
        errno = address.error();
        return -1;
    }
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const timeval timeout{timeout_ms / 1000, (timeout_ms % 1000) * 1000};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (::connect(fd, address.get(), address.size()) == 0) return fd;
    const int reason = errno;
    ::close(fd);
    errno = reason;
    return -1;
}

// An arbiter that died leaves its socket, and has a successor soon.
int connect_patiently(std::string_view path, int timeout_ms) {
    constexpr int kStepMs = 20;
    int fd = connect_to(path, timeout_ms);
    if (fd >= 0 || errno != ECONNREFUSED) return fd;
    for (int waited = 0; fd < 0 && waited < timeout_ms; waited += kStepMs) {
        const timespec step{0, kStepMs * 1'000'000L};
        ::nanosleep(&step, nullptr);
        fd = connect_to(path, timeout_ms);
    }
    return fd;
}

struct Answer {
    Welcome welcome;
    int fds[2] = {-1, -1};

    Answer() = default;
    Answer(const Answer&) = delete;
    Answer& operator=(const Answer&) = delete;
    ~Answer() {
        for (const int fd : fds)
            if (fd >= 0) ::close(fd);
    }
};

// False when no whole answer came; errno 0 means that the arbiter hung up.
bool receive(int socket, Answer& answer) {
    alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof answer.fds)] = {};
    iovec part{&answer.welcome, sizeof answer.welcome};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    ssize_t size = -1;
    do {
        size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size < 0) return false;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof answer.fds))
        ::memcpy(answer.fds, CMSG_DATA(header), sizeof answer.fds);
    errno = size == 0 ? 0 : EPROTO;
    return size == sizeof answer.welcome && answer.welcome.mark == kTermsMark;
}

bool take_seat(const Answer& answer, Membership& membership) {
    void* account = map_segment(answer.fds[0], sizeof(Account), Writer::everyone);
    if (account == nullptr) return false;
    void* terms = map_segment(answer.fds[1], sizeof(Terms), Writer::creator);
    if (terms == nullptr) {
        unmap_segment(account, sizeof(Account));
        return false;
    }
    membership.account = static_cast<Account*>(account);
    membership.terms = static_cast<const Terms*>(terms);
    membership.slot = answer.welcome.slot;
    if (membership.account->mark == kAccountMark && membership.terms->mark == kTermsMark &&
        membership.terms->gpu_count <= kGpusMax && membership.slot < kSlotsMax)
        return true;
    errno = EPROTO;
    return false;
}

}  // namespace

bool join(std::string_view socket_path, int timeout_ms, Membership& membership, Reason& reason) {
    membership.socket = connect_patiently(socket_path, timeout_ms);
    if (membership.socket < 0) {
        reason = because("no arbiter answers at", socket_path);
        return false;
    }
    const Hello hello;
    Answer answer;
    if (::send(membership.socket, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello ||
        !receive(membership.socket, answer)) {
        reason = because(errno == 0 ? "the arbiter hung up at" : "the arbiter gave no answer at",
                         socket_path);
    } else if (answer.welcome.refused != 0) {
        static_assert(sizeof reason.text > kReasonMax);
        answer.welcome.reason[kReasonMax - 1] = 0;
        ::memcpy(reason.text, answer.welcome.reason, kReasonMax);
    } else if (take_seat(answer, membership)) {
        return true;
    } else {
        reason = because("the arbiter's answer makes no sense at", socket_path);
    }
    leave(membership);
    return false;
}

void leave(Membership& membership) {
    if (membership.socket >= 0) ::close(membership.socket);
    if (membership.account != nullptr) unmap_segment(membership.account, sizeof(Account));
    if (membership.terms != nullptr)
        unmap_segment(const_cast<Terms*>(membership.terms), sizeof(Terms));
    membership = {};
}

bool ring(const Membership& membership, std::uint32_t gpu) {
    const Ring message{gpu};
    const auto size =
        ::send(membership.socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    // A full queue means that the arbiter will look anyway.
    return size == sizeof message || errno == EAGAIN;
}

}  // namespace berth::vgpu::ledger
