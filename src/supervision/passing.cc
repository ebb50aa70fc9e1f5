// SPDX-License-Identifier: Apache-2.0
#include "supervision/passing.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/check.h"

namespace berth::supervision {
namespace {

struct alignas(cmsghdr) Ancillary {
    char raw[CMSG_SPACE(kPassedMax * sizeof(int))] = {};
};

}  // namespace

bool pass_descriptors(int socket, const std::vector<int>& descriptors) {
    // ours: callers pass the files of an order
    BERTH_CHECK(descriptors.size() <= kPassedMax, "only a few files are passed at a time");
    char data = 1;
    iovec part{&data, 1};
    Ancillary ancillary;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.raw;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    ::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
    while (true) {
        if (::sendmsg(socket, &message, MSG_NOSIGNAL) == 1) return true;
        if (errno != EINTR) return false;
    }
}

std::vector<Descriptor> receive_descriptors(int socket) {
    char data = 0;
    iovec part{&data, 1};
    Ancillary ancillary;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.raw;
    message.msg_controllen = sizeof ancillary.raw;
    ssize_t size = -1;
    do {
        size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    std::vector<Descriptor> received;
    if (size <= 0) return received;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t index = 0; index < count; ++index) {
            int fd = -1;
            ::memcpy(&fd, CMSG_DATA(header) + index * sizeof fd, sizeof fd);
            received.emplace_back(fd);
        }
    }
    return received;
}

}  // namespace berth::supervision
