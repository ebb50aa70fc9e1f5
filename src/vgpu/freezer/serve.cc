// SPDX-License-Identifier: Apache-2.0
#include "vgpu/freezer/serve.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <list>
#include <string>

#include "runtime/sockets.h"
#include "supervision/frame.h"
#include "vgpu/freezer/freeze.h"

namespace berth::vgpu::freezer {
namespace {

using supervision::Descriptor;
using supervision::FrameType;

std::string answer(const Node& node, pid_t root, const supervision::Frame& frame) {
    std::string out;
    if (frame.type == FrameType::Freeze) {
        if (const auto request = supervision::unpack_freeze(frame.payload))
            supervision::append_frame(out, FrameType::FreezerAnswer,
                                      pack(freeze(node, root, *request)));
    } else if (frame.type == FrameType::Thaw) {
        if (const auto request = supervision::unpack_thaw(frame.payload))
            supervision::append_frame(out, FrameType::FreezerAnswer,
                                      pack(thaw(node, root, *request)));
    }
    return out;
}

// Until the supervisor has gone, or talks nonsense.
void attend(const Node& node, const Descriptor& socket) {
    const pid_t root = runtime::peer_pid(socket.get());
    supervision::FrameReader reader;
    char buffer[4096];
    while (root > 1) {
        const ssize_t size = ::recv(socket.get(), buffer, sizeof buffer, 0);
        if (size <= 0) return;
        reader.feed({buffer, static_cast<std::size_t>(size)});
        while (const auto frame = reader.next()) {
            const std::string out = answer(node, root, *frame);
            if (out.empty()) return;
            ::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
        }
        if (reader.is_broken()) return;
    }
}

}  // namespace

void serve(const Node& node, const Descriptor& listener, int until) {
    struct Visit {
        Descriptor socket;
        std::future<void> end;
    };
    std::list<Visit> visits;
    while (true) {
        pollfd polls[] = {{listener.get(), POLLIN, 0}, {until, POLLIN, 0}};
        if (::poll(polls, 2, -1) < 0) continue;
        std::erase_if(visits, [](const Visit& visit) {
            return visit.end.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        });
        if (polls[1].revents != 0) break;
        Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!socket.is_open() || !runtime::is_peer_trusted(socket.get())) continue;
        Visit& visit = visits.emplace_back(std::move(socket));
        visit.end = std::async(std::launch::async, [&node, &visit] { attend(node, visit.socket); });
    }
    // Nothing more is asked; what is under way is brought to its end.
    for (const Visit& visit : visits) ::shutdown(visit.socket.get(), SHUT_RD);
}

}  // namespace berth::vgpu::freezer
