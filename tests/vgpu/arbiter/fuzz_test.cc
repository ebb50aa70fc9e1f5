// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <utility>

#include "vgpu/arbiter/node.h"

using namespace berth::vgpu::ledger;
using vgpu::Node;

namespace {

const std::string kFuzzed = std::string("tenant job-7 gpus=") + vgpu::kGpu + ":1000";

int connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ::memcpy(address.sun_path, path.data(), path.size());
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    return fd;
}

// One packet, with open files on it that were not asked for.
void send_packet(int socket, const std::string& bytes, int files) {
    const int fds[4] = {0, 0, 0, 0};
    alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof fds)] = {};
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (files > 0) {
        const std::size_t size = sizeof(int) * static_cast<std::size_t>(files);
        message.msg_control = ancillary;
        message.msg_controllen = CMSG_SPACE(size);
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        ::memcpy(CMSG_DATA(header), fds, size);
    }
    ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

std::string random_packet(std::mt19937& dice) {
    const Hello hello;
    std::string bytes(reinterpret_cast<const char*>(&hello), sizeof hello);
    switch (dice() % 4) {
        case 0: return bytes;
        case 1: bytes[dice() % bytes.size()] = static_cast<char>(dice()); return bytes;
        case 2: return bytes.substr(0, dice() % bytes.size());
        default: break;
    }
    bytes.resize(dice() % 5000);
    for (char& byte : bytes) byte = static_cast<char>(dice());
    return bytes;
}

std::ptrdiff_t open_files(const Node& node) {
    const auto folder =
        std::filesystem::directory_iterator("/proc/" + std::to_string(node.arbiter()) + "/fd");
    return std::distance(begin(folder), end(folder));
}

}  // namespace

TEST_CASE("no packet on a tenant's socket stops the arbiter, leaks a file or harms a process") {
    const Node node({"--free-after", "0s"});
    node.order(kFuzzed);
    Membership honest = node.join("job-7");
    REQUIRE(charge(honest.place(0), 600));
    const auto before = open_files(node);
    std::mt19937 dice(5);
    const pid_t child = vgpu::start([&] {
        for (int round = 0; round < 3000; ++round) {
            const int socket = connect_to(node.socket_of("job-7"));
            for (auto packets = dice() % 4; packets > 0; --packets)
                send_packet(socket, random_packet(dice), static_cast<int>(dice() % 5));
            ::close(socket);
        }
        return 0;
    });
    CHECK(vgpu::end_of(child) == 0);
    CHECK(node.is_arbiter_alive());
    CHECK(vgpu::eventually([&] { return node.status("job-7", "lingering") == "0"; }));
    CHECK(vgpu::eventually([&] { return open_files(node) == before; }));
    CHECK(node.status("job-7", "charged") == "600");
    CHECK(charge(honest.place(0), 400));
    leave(honest);
}

TEST_CASE("no packet on the control socket stops the arbiter") {
    const Node node;
    node.order(kFuzzed);
    std::mt19937 dice(6);
    const int socket = connect_to(node.directory() + "/control");
    for (int round = 0; round < 3000; ++round) {
        std::string bytes(dice() % 6000, ' ');
        for (char& byte : bytes) byte = static_cast<char>(dice());
        send_packet(socket, bytes, static_cast<int>(dice() % 5));
        char answer[1024];
        while (::recv(socket, answer, sizeof answer, 0) > 0) {
        }
    }
    ::close(socket);
    CHECK(node.is_arbiter_alive());
    CHECK(node.status("job-7", "processes") == "0");
}

TEST_CASE("whatever a process writes into its account, the arbiter and other tenants go on") {
    const Node node({"--free-after", "0s"});
    node.order(kFuzzed);
    node.order(std::string("tenant other gpus=") + vgpu::kGpu + ":1000 share=0.5");
    Membership other = node.join("other");
    const pid_t vandal = vgpu::start([&] {
        std::mt19937 dice(8);
        const Membership mine = node.join("job-7");
        auto* words = reinterpret_cast<std::atomic<std::uint64_t>*>(mine.account);
        for (int round = 0; round < 200; ++round) {
            for (std::size_t index = 0; index < sizeof(Account) / 64; ++index)
                words[dice() % (sizeof(Account) / sizeof *words)] =
                    std::uint64_t{dice()} << 32 | dice();
            ring(mine, static_cast<std::uint32_t>(dice()));
            vgpu::pause_ms(1);
        }
        return 0;
    });
    CHECK(vgpu::end_of(vandal) == 0);
    CHECK(node.is_arbiter_alive());
    CHECK(node.status("other", "charged") == "0");
    CHECK(charge(other.place(0), 1000));
    CHECK(vgpu::eventually([&] { return node.status("job-7", "processes") == "0"; }));
    leave(other);
}
