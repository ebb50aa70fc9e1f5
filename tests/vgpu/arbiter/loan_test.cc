// SPDX-License-Identifier: Apache-2.0
//
// Tenants that may have more than they were promised, on one GPU of 24,000 bytes. Their processes
// are this one, their supervisors are played here.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>

#include "vgpu/arbiter/node.h"
#include "vgpu/ledger/gate.h"
#include "vgpu/ledger/stay.h"

using namespace berth::vgpu::ledger;
using vgpu::eventually;
using vgpu::Node;

namespace {

const std::string kOtherGpu = "GPU-00000000-0000-0000-0000-000000000001";

std::string gpus(const std::string& memory, const std::string& uuid = vgpu::kGpu) {
    return " gpus=" + uuid + ":" + memory;
}

// As the interposer does: what does not fit is asked for, up to `answers` times.
bool take(const Membership& process, std::uint64_t bytes, int answers = 5) {
    const Place place = process.place(0);
    for (int i = 0; i <= answers; ++i) {
        const std::uint32_t before = place.terms->answers;
        if (charge(place, bytes)) return true;
        wait_for_room(process, 0, bytes, before, 1000);
    }
    return false;
}

class Supervisor {
  public:
    explicit Supervisor(const std::string& socket) : socket_(socket) { reach(); }
    ~Supervisor() { ::close(fd_); }
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    void reach() {
        ::close(fd_);
        REQUIRE(eventually([&] { return (fd_ = connect_supervisor(socket_)) >= 0; }));
    }
    void report(Stay stay, std::uint64_t bytes = 0) const {
        const StayReport report{static_cast<std::uint32_t>(stay), 0, bytes};
        REQUIRE(report_stay(fd_, report));
    }
    bool is_ordered(Move wanted, int within_ms = vgpu::kPatience / 1'000'000) const {
        pollfd question{fd_, POLLIN, 0};
        bool has_gone = false;
        if (::poll(&question, 1, within_ms) != 1) return false;
        const auto order = next_move(fd_, has_gone);
        return order && order->move == wanted;
    }
    void say_nonsense() const { ::send(fd_, "hello", 5, MSG_NOSIGNAL); }

  private:
    std::string socket_;
    int fd_ = -1;
};

// A borrower that holds 18,000 where it was promised 6,000, and an owner that was promised 12,000.
struct Lent {
    Node node{{"--settle", "300ms"}};
    std::string borrower_terms = "tenant borrower" + gpus("6000..20000/24000");
    std::string owner_terms = "tenant owner" + gpus("12000");
    Membership borrower;
    Membership owner;

    Lent() {
        node.order(borrower_terms);
        node.order(owner_terms);
        borrower = node.join("borrower");
        owner = node.join("owner");
        REQUIRE(take(borrower, 18000));
    }
    ~Lent() {
        leave(borrower);
        leave(owner);
    }
    bool is(const std::string& where) const {
        return eventually([&] { return node.status("borrower", "where") == where; });
    }
};

}  // namespace

TEST_CASE("what others leave unused is lent up to the burst, and what they hold is not") {
    const Node node;
    node.order("tenant borrower" + gpus("6000..20000/24000"));
    node.order("tenant owner" + gpus("12000"));
    Membership borrower = node.join("borrower");
    Membership owner = node.join("owner");
    CHECK(std::uint64_t{borrower.terms->gpus[0].shown_bytes} == 20000);
    REQUIRE(take(owner, 5000));
    CHECK(take(borrower, 19000));
    CHECK_FALSE(take(borrower, 1));
    CHECK(node.status("owner", "allowed") == "5000");
    give_back(borrower.place(0), 13000);
    CHECK(take(owner, 7000));
    leave(borrower);
    leave(owner);
}

TEST_CASE("an owner waits until the borrower has left, which is ordered at once") {
    const Lent it;
    const Supervisor supervisor(it.node.socket_of("borrower"));
    supervisor.report(Stay::here);
    auto owner = std::async(std::launch::async, [&] { return take(it.owner, 10000, 30); });
    REQUIRE(supervisor.is_ordered(Move::leave));
    CHECK(owner.wait_for(std::chrono::milliseconds(200)) == std::future_status::timeout);
    supervisor.report(Stay::off);
    CHECK(owner.get());
    CHECK(it.node.status("borrower", "charged") == "18000");
    CHECK(it.node.status("owner", "allowed") == "12000");
    // Back when all it held fits, and not before.
    CHECK_FALSE(supervisor.is_ordered(Move::come_back, 1500));
    give_back(it.owner.place(0), 5000);
    CHECK(supervisor.is_ordered(Move::come_back));
    CHECK(it.is("returning"));
    supervisor.report(Stay::here);
    CHECK(it.is("here"));
    CHECK(it.node.status("owner", "allowed") == "6000");
}

TEST_CASE("a tenant that is off has no window, and its gate does not matter") {
    const Lent it;
    const Supervisor supervisor(it.node.socket_of("borrower"));
    it.borrower.account->lines[0].slots[it.borrower.slot].waiting = 1;  // halted at the gate
    it.owner.account->lines[0].slots[it.owner.slot].busy_since = 1;
    ring(it.borrower, 0);
    REQUIRE(eventually([&] { return it.node.status("borrower", "gate") != "open"; }));
    supervisor.report(Stay::leaving);
    REQUIRE(it.is("leaving"));
    CHECK(it.node.status("borrower", "gate") == "open");
    supervisor.report(Stay::away);
    REQUIRE(it.is("away"));
    // Alone at work, though the other waits by its words.
    CHECK(eventually([&] {
        ring(it.owner, 0);
        return it.node.status("owner", "gate") == "open";
    }));
    supervisor.report(Stay::here);
    CHECK(it.is("here"));
    CHECK(eventually([&] {
        ring(it.borrower, 0);
        return it.node.status("borrower", "gate") != "open";
    }));
}

TEST_CASE("who was paused by its owner comes back when that says so, even to another GPU") {
    const Lent it;
    const Supervisor supervisor(it.node.socket_of("borrower"));
    supervisor.report(Stay::away);
    REQUIRE(it.is("away"));
    CHECK_FALSE(supervisor.is_ordered(Move::come_back, 1500));
    REQUIRE(take(it.owner, 12000));
    it.node.order("tenant borrower" + gpus("6000..20000/24000", kOtherGpu));
    CHECK(it.node.status("borrower", "gpu") == kOtherGpu);
    CHECK(std::string(it.borrower.terms->gpus[0].uuid) == kOtherGpu);
    supervisor.report(Stay::off);
    CHECK(supervisor.is_ordered(Move::come_back));
    CHECK(it.node.status("borrower", "charged") == "18000");
}

TEST_CASE("a borrower without a supervisor is not ordered anywhere; the owner waits for its room") {
    const Lent it;
    auto owner = std::async(std::launch::async, [&] { return take(it.owner, 10000, 30); });
    CHECK(owner.wait_for(std::chrono::milliseconds(300)) == std::future_status::timeout);
    give_back(it.borrower.place(0), 12000);
    CHECK(owner.get());
}

TEST_CASE("a supervisor that talks nonsense is hung up on; another one may come") {
    const Lent it;
    const Supervisor first(it.node.socket_of("borrower"));
    first.say_nonsense();
    const Supervisor second(it.node.socket_of("borrower"));
    second.report(Stay::away);
    CHECK(it.is("away"));
    CHECK(it.node.is_arbiter_alive());
}

TEST_CASE("an arbiter that was started anew lends nothing before all are back, and takes no more") {
    Lent it;
    it.node.kill_arbiter();
    it.node.start_arbiter();
    it.node.order(it.owner_terms);
    it.node.order(it.borrower_terms);
    Membership borrower = it.node.join("borrower");
    Membership owner = it.node.join("owner");
    charge_regardless(borrower.place(0), 18000);
    CHECK_FALSE(take(owner, 10000, 2));
    CHECK(take(owner, 6000));
    leave(borrower);
    leave(owner);
}

TEST_CASE("who is off while the arbiter is started anew says what it comes back with") {
    Lent it;
    Supervisor supervisor(it.node.socket_of("borrower"));
    supervisor.report(Stay::off);
    it.node.kill_arbiter();
    it.node.start_arbiter();
    it.node.order(it.borrower_terms);
    it.node.order(it.owner_terms);
    supervisor.reach();
    supervisor.report(Stay::off, 18000);
    REQUIRE(it.is("off"));
    Membership owner = it.node.join("owner");
    REQUIRE(eventually([&] { return take(owner, 10000); }));
    CHECK_FALSE(supervisor.is_ordered(Move::come_back, 1500));
    give_back(owner.place(0), 10000);
    CHECK(supervisor.is_ordered(Move::come_back));
    leave(owner);
}
