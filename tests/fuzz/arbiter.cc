// SPDX-License-Identifier: Apache-2.0
//
// The arbiter, over its real sockets in a folder of its own: what its owner orders, and what
// processes and supervisors of tenants send, in any order.
#include "vgpu/arbiter/arbiter.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "runtime/sockets.h"
#include "vgpu/ledger/stay.h"

namespace berth::fuzz {
namespace {

namespace ledger = vgpu::ledger;

constexpr std::size_t kStepsMax = 32;
constexpr std::size_t kConnectionsMax = 10;  // a digit names one

// The only files that a target makes, in memory.
class ArbiterFolder {
  public:
    ArbiterFolder() {
        char path[] = "/dev/shm/berth-fuzz-XXXXXX";
        expect(::mkdtemp(path) != nullptr, "there is a folder for the arbiter");
        path_ = path;
    }
    ~ArbiterFolder() { std::filesystem::remove_all(path_); }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

std::string_view next_part(std::string_view& text, char end) {
    const std::string_view part = text.substr(0, text.find(end));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

template <class Message>
std::string_view bytes_of(const Message& message) {
    return {reinterpret_cast<const char*>(&message), sizeof message};
}

class ArbiterPlay {
  public:
    ArbiterPlay(const std::string& directory, int always_readable)
        : directory_(directory), always_readable_(always_readable), arbiter_(options()) {
        expect(arbiter_.open().has_value(), "the arbiter opens");
        owner_ = connect("/control");
        expect(owner_.is_open(), "its owner reaches it");
        serve();
    }

    // Ends what the input has begun. Returns whether the arbiter is as it was at first, and serves
    // the next input as well: to open one takes longer than most inputs.
    bool end() {
        for (runtime::Descriptor& socket : connections_) socket.reset();
        serve();
        for (const std::string& tenant : tenants_) order("drop " + tenant);
        tenants_.clear();
        order("status");
        return answer_ == "ok" && !has_rotations_;
    }

    void step(std::string_view line) {
        const std::string_view verb = next_part(line, ' ');
        if (verb == "order") return order(line);
        if (verb == "connect") return add_connection(line);
        const std::string_view which = next_part(line, ' ');
        if (which.size() != 1 || which[0] < '0' || which[0] > '9') return;
        runtime::Descriptor& socket = connections_[static_cast<std::size_t>(which[0] - '0')];
        if (!socket.is_open()) return;
        ledger::Hello hello;
        if (verb == "close") socket.reset();
        if (verb == "packet") send(socket, line);
        if (verb == "ring") send(socket, bytes_of(ledger::Ring{}));
        if (verb == "process") send(socket, bytes_of(hello));
        hello.role = ledger::kRoleSupervisor;
        if (verb == "supervisor") send(socket, bytes_of(hello));
        if (verb == "stay") send(socket, bytes_of(report(line)));
        serve();
        if (socket.is_open()) take_welcome(socket);
    }

  private:
    vgpu::arbiter::Options options() const {
        vgpu::arbiter::Options options;
        options.directory = directory_;
        options.free_after_ns = 0;
        options.settle_ns = 0;
        return options;
    }
    runtime::Descriptor connect(std::string_view path) const {
        auto socket =
            runtime::connect_to(directory_ + std::string(path), runtime::SocketKind::Packets);
        return socket ? std::move(*socket) : runtime::Descriptor();
    }
    static void send(const runtime::Descriptor& socket, std::string_view packet) {
        ::send(socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    // Lets the arbiter handle all that has been sent.
    void serve() { arbiter_.run(always_readable_); }

    void order(std::string_view line) {
        if (line.empty()) return;
        send(owner_, line);
        serve();
        char answer[8] = {};
        const ssize_t size = ::recv(owner_.get(), answer, sizeof answer, MSG_DONTWAIT);
        answer_.assign(answer, size > 0 ? static_cast<std::size_t>(size) : 0);
        expect(answer_.starts_with("ok") || answer_.starts_with("error: "), "an order is answered");
        if (!answer_.starts_with("ok")) return;
        const std::string_view verb = next_part(line, ' ');
        if (verb == "tenant") tenants_.insert(std::string(next_part(line, ' ')));
        has_rotations_ |= verb == "rotation";
    }
    void add_connection(std::string_view tenant) {
        if (tenant.find_first_of(std::string_view("/\0", 2)) != std::string_view::npos) return;
        for (runtime::Descriptor& socket : connections_) {
            if (socket.is_open()) continue;
            socket = connect("/tenants/" + std::string(tenant));
            return serve();
        }
    }
    static ledger::StayReport report(std::string_view line) {
        ledger::StayReport report;
        const std::string_view stay = next_part(line, ' ');
        std::from_chars(stay.data(), stay.data() + stay.size(), report.stay);
        std::from_chars(line.data(), line.data() + line.size(), report.bytes);
        return report;
    }
    // Orders to a supervisor come the same way, and are shorter.
    static void take_welcome(const runtime::Descriptor& socket) {
        ledger::Welcome welcome;
        const ssize_t size = ::recv(socket.get(), &welcome, sizeof welcome, MSG_DONTWAIT);
        if (size != sizeof welcome) return;
        expect(welcome.mark == ledger::kTermsMark, "a welcome is one of this version");
        expect(welcome.slot < ledger::kSlotsMax || welcome.refused == 1, "a slot is one of these");
        expect(welcome.reason[ledger::kReasonMax - 1] == '\0', "a reason is a text");
    }

    std::string directory_;
    int always_readable_;
    vgpu::arbiter::Arbiter arbiter_;
    runtime::Descriptor owner_;
    std::array<runtime::Descriptor, kConnectionsMax> connections_;
    std::string answer_;  // to the last order, its beginning
    std::set<std::string> tenants_;  // that were made
    bool has_rotations_ = false;
};

// The lowest number that is free: another one than before when a file was left open.
int next_file(int any) {
    const runtime::Descriptor copy(::dup(any));
    return copy.get();
}

}  // namespace

// A line each: order LINE; connect TENANT; then of the Nth connection: process N, supervisor N,
// stay N STAY BYTES, ring N, packet N BYTES, close N.
void arbiter(std::string_view input) {
    static const ArbiterFolder folder;
    static const runtime::Descriptor always_readable(::eventfd(1, EFD_CLOEXEC));
    static std::optional<ArbiterPlay> play;
    static int closed = 0, opened = 0;  // the next file, without the arbiter and with it
    if (!play) {
        closed = next_file(always_readable.get());
        play.emplace(folder.path(), always_readable.get());
        opened = next_file(always_readable.get());
    }
    for (std::size_t steps = 0; !input.empty() && steps < kStepsMax; ++steps)
        play->step(next_part(input, '\n'));
    play->step("order status");
    if (play->end() && next_file(always_readable.get()) == opened) return;
    play.reset();
    std::filesystem::remove_all(folder.path() + "/tenants");
    expect(next_file(always_readable.get()) == closed, "no file is left open");
}

}  // namespace berth::fuzz
