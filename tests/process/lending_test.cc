// SPDX-License-Identifier: Apache-2.0
//
// What a supervisor does when its arbiter needs the GPU memory that the job borrowed. Arbiter and
// freezer are played here; tests/end_to_end/lending_test.py has all of them.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/un.h>

#include <optional>

#include "process/played_freezer.h"
#include "process/world.h"
#include "vgpu/ledger/admission.h"
#include "vgpu/ledger/stay.h"

using namespace berth::process_test;
using berth::ports::StopReason;
using berth::supervision::FrameType;
using berth::supervision::FreezerOutcome;
using berth::supervision::GpuMove;
using berth::vgpu::ledger::Move;
using berth::vgpu::ledger::Stay;
namespace ledger = berth::vgpu::ledger;

namespace {

class Arbiter {
  public:
    explicit Arbiter(const std::string& path) : listener_(open(path)) {}

    // Whether a supervisor has said so since the last question.
    bool hears(Stay wanted) {
        const int newcomer = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
        if (newcomer >= 0) supervisor_.reset(newcomer);
        ledger::StayReport report;
        while (supervisor_.is_open()) {
            const ssize_t size =
                ::recv(supervisor_.get(), &report, sizeof report, MSG_DONTWAIT | MSG_TRUNC);
            if (size <= 0) return false;
            if (size != sizeof report) continue;
            if (report.stay == static_cast<std::uint32_t>(wanted))
                return bytes = report.bytes, true;
        }
        return false;
    }
    void order(Move move) {
        const ledger::MoveOrder order{move, 0};
        REQUIRE(::send(supervisor_.get(), &order, sizeof order, MSG_NOSIGNAL) == sizeof order);
    }
    void hang_up() { supervisor_.reset(); }

    std::uint64_t bytes = 0;  // of the last report

  private:
    static int open(const std::string& path) {
        const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(::listen(fd, 4) == 0);
        return fd;
    }

    berth::supervision::Descriptor listener_;
    berth::supervision::Descriptor supervisor_;
};

// A job with the share of a GPU, which runs and has said so to its arbiter.
struct LendingStage {
    ScratchDirectory data;
    World world{data.path()};
    Freezer freezer{data.path()};
    Arbiter arbiter{data.path() + "/tenant"};
    berth::ports::LaunchOrder order =
        shell(attempt(1), "trap 'echo saved; exit 0' TERM; echo $$ > " + data.path() +
                              "/pid; while :; do sleep 0.02; done");

    explicit LendingStage(bool has_freezer = true) {
        if (has_freezer) order.freezer = freezer.socket();
        order.arbiter = data.path() + "/tenant";
        world.start(order);
        REQUIRE(world.until_running(attempt(1)));
        REQUIRE(wait_for([&] { return !read_file(data.path() + "/pid").empty(); }));
        hear(Stay::here);
        world.running.clear();
    }
    int pid() { return std::stoi(read_file(data.path() + "/pid")); }
    void hear(Stay stay) {
        REQUIRE(world.until([&] { return arbiter.hears(stay); }));
    }
    void ask(FrameType type) {
        REQUIRE(world.until([&] { return freezer.is_asked(type); }));
    }
    void leave() {
        arbiter.order(Move::leave);
        ask(FrameType::Freeze);
        freezer.answer(FreezerOutcome::Done);
        hear(Stay::off);
    }
    void come_back() {
        arbiter.order(Move::come_back);
        ask(FrameType::Thaw);
        freezer.answer(FreezerOutcome::Done);
        hear(Stay::here);
    }
};

}  // namespace

TEST_CASE(
    "an attempt leaves when it is ordered and comes back when it may; its server hears nothing") {
    LendingStage it;
    it.arbiter.order(Move::leave);
    it.ask(FrameType::Freeze);
    it.hear(Stay::leaving);
    it.freezer.answer(FreezerOutcome::Done);
    it.hear(Stay::off);
    CHECK(it.arbiter.bytes == 5);
    CHECK(it.world.frozen.empty());
    it.come_back();
    CHECK(it.freezer.moves == std::vector{GpuMove{0, 0}});
    CHECK(it.world.frozen.empty());
    CHECK_FALSE(it.world.is_over(attempt(1)));
    it.leave();
    it.come_back();
}

TEST_CASE("its log says why it stands still") {
    LendingStage it;
    it.leave();
    it.come_back();
    CHECK(it.world.log(attempt(1)) ==
          "berth: off its GPU: others need the memory that it borrowed\n"
          "berth: on its GPU again\n");
}

TEST_CASE("one that cannot be frozen saves and ends, and says for what") {
    LendingStage it;
    it.arbiter.order(Move::leave);
    it.ask(FrameType::Freeze);
    it.freezer.answer(FreezerOutcome::Undone, "it has managed memory");
    AttemptExit exit = it.world.exit_of(attempt(1));
    CHECK(exit.stop_asked);
    CHECK_FALSE(exit.killed);
    CHECK(exit.detail ==
          "gave back GPU memory that it had borrowed: no checkpoint: it has managed "
          "memory");
    LendingStage other(false);
    other.arbiter.order(Move::leave);
    exit = other.world.exit_of(attempt(1));
    CHECK(exit.stop_asked);
    CHECK(exit.detail == "gave back GPU memory that it had borrowed");
}

TEST_CASE("a pause finds it off its GPUs already, and it then stays away until it is resumed") {
    LendingStage it;
    it.leave();
    it.world.pause(attempt(1));
    REQUIRE(it.world.until([&] { return it.world.frozen.contains(attempt(1)); }));
    it.hear(Stay::away);
    // Not to come back now.
    it.arbiter.order(Move::come_back);
    ::usleep(200'000);
    CHECK_FALSE(it.freezer.is_asked(FrameType::Thaw));
    it.order.tasks[0].gpu_indices = {3};
    it.world.launcher().resume(it.order);
    it.hear(Stay::off);
    CHECK_FALSE(it.freezer.is_asked(FrameType::Thaw));
    it.come_back();
    CHECK(it.freezer.moves == std::vector{GpuMove{0, 3}});
    CHECK(it.world.until_running(attempt(1)));
}

TEST_CASE(
    "one that is to move to other GPUs while it is off stays frozen instead: it cannot save") {
    LendingStage it;
    it.leave();
    it.world.launcher().stop(attempt(1), StopReason::Restart, berth::base::Duration{10'000});
    CHECK(it.world.until([&] { return it.world.frozen.contains(attempt(1)); }));
    CHECK(is_living(it.pid()));
}

TEST_CASE("a pause while it is on its way off, or back, is served where that ends") {
    LendingStage it;
    it.arbiter.order(Move::leave);
    it.ask(FrameType::Freeze);
    it.world.pause(attempt(1));
    it.freezer.answer(FreezerOutcome::Done);
    REQUIRE(it.world.until([&] { return it.world.frozen.contains(attempt(1)); }));
    it.hear(Stay::away);
    LendingStage other;
    other.leave();
    other.arbiter.order(Move::come_back);
    other.ask(FrameType::Thaw);
    other.world.pause(attempt(1));
    other.freezer.answer(FreezerOutcome::Done);
    other.ask(FrameType::Freeze);
    other.freezer.answer(FreezerOutcome::Done);
    REQUIRE(other.world.until([&] { return other.world.frozen.contains(attempt(1)); }));
    other.hear(Stay::away);
}

TEST_CASE("a server that comes meanwhile finds it running, and may cancel it") {
    LendingStage it;
    it.leave();
    const int pid = it.pid();
    it.world.drop_launcher();
    World next(it.data.path());
    next.recover({attempt(1)});
    REQUIRE(next.until_running(attempt(1)));
    CHECK(next.frozen.empty());
    next.launcher().stop(attempt(1), StopReason::Cancel, berth::base::Duration{60'000});
    CHECK(next.exit_of(attempt(1)).stop_asked);
    CHECK_FALSE(is_living(pid));
}

TEST_CASE("an arbiter that is started anew learns where the attempt is") {
    LendingStage it;
    it.leave();
    it.arbiter.hang_up();
    it.hear(Stay::off);
    it.come_back();
    it.arbiter.hang_up();
    it.hear(Stay::here);
}
