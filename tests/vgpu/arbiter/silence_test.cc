// SPDX-License-Identifier: Apache-2.0
//
// Tenants whose silence is reported to their supervisor, and their next call once they are parked.
// Their process is this one: it sets its word as the interposer does.
#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include "vgpu/arbiter/node.h"
#include "vgpu/ledger/gate.h"
#include "vgpu/ledger/stay.h"

using namespace berth::vgpu::ledger;
using vgpu::eventually;
using vgpu::Node;

namespace {

constexpr int kSilencePatienceMs = vgpu::kPatience / 1'000'000;

struct Silent {
    Node node;
    Membership process;
    int supervisor = -1;

    Silent() {
        node.order(terms());
        process = node.join("job");
        reach();
    }
    ~Silent() {
        leave(process);
        ::close(supervisor);
    }
    static std::string terms() {
        return std::string("tenant job gpus=") + vgpu::kGpu + " park=300ms";
    }
    void reach() {
        ::close(supervisor);
        REQUIRE(eventually(
            [&] { return (supervisor = connect_supervisor(node.socket_of("job"))) >= 0; }));
    }
    void report(Stay stay) const {
        REQUIRE(report_stay(supervisor, {static_cast<std::uint32_t>(stay), 0, 0}));
    }
    std::optional<MoveOrder> next(int within_ms) const {
        pollfd question{supervisor, POLLIN, 0};
        bool has_gone = false;
        if (::poll(&question, 1, within_ms) != 1) return {};
        return next_move(supervisor, has_gone);
    }
    bool is_told(Move move) const {
        const auto order = next(kSilencePatienceMs);
        return order && order->move == move;
    }
    Slot& slot() const {
        const Place place = process.place(0);
        return place.line->slots[place.slot];
    }
    void call() const { slot().called = 1; }
    bool is_off(bool wanted) const {
        return eventually([&] { return (process.terms->is_off != 0) == wanted; });
    }
    void park() const {
        report(Stay::here);
        REQUIRE(is_told(Move::idle));
        report(Stay::leaving);
        report(Stay::parked);
        REQUIRE(is_off(true));
    }
};

}  // namespace

TEST_CASE("silence is reported when it has lasted as long as the terms say, and again") {
    const Silent it;
    it.report(Stay::here);
    for (int times = 0; times < 2; ++times) {
        const auto order = it.next(kSilencePatienceMs);
        REQUIRE(order.has_value());
        CHECK(order->move == Move::idle);
        CHECK(order->idle_ms >= 300U * static_cast<unsigned>(times + 1));
    }
}

TEST_CASE("who calls now and then, or waits within a call, is not silent") {
    const Silent it;
    it.report(Stay::here);
    for (int i = 0; i < 8; ++i) {
        const std::int64_t before = vgpu::now_ns();
        it.call();
        const auto order = it.next(100);
        // A machine that is busy may keep this process from calling for that time.
        if (vgpu::now_ns() - before < 300'000'000) CHECK_FALSE(order.has_value());
    }
    it.slot().in_call = 1;
    CHECK_FALSE(it.next(800).has_value());
    it.slot().in_call = 0;
    CHECK(it.is_told(Move::idle));
}

TEST_CASE("parked, its next call is reported, once, and to a supervisor that comes again") {
    Silent it;
    it.park();
    CHECK_FALSE(it.next(500).has_value());
    it.call();
    CHECK(it.is_told(Move::wake));
    CHECK_FALSE(it.next(200).has_value());
    it.reach();
    it.report(Stay::parked);
    CHECK(it.is_told(Move::wake));
    it.report(Stay::off);
    CHECK(it.is_told(Move::come_back));
    CHECK(it.process.terms->is_off != 0);
    it.report(Stay::here);
    CHECK(it.is_off(false));
}

TEST_CASE("a call made between the telling and the parking wakes it at once") {
    const Silent it;
    it.report(Stay::here);
    REQUIRE(it.is_told(Move::idle));
    it.call();
    vgpu::pause_ms(100);  // the arbiter has looked, and cleared it
    it.report(Stay::leaving);
    it.report(Stay::parked);
    CHECK(it.is_told(Move::wake));
}

TEST_CASE("a process that comes to a parked tenant waits until it is back") {
    const Silent it;
    it.park();
    const Membership late = it.node.join("job");
    CHECK(late.terms->is_off != 0);
    const std::int64_t before = vgpu::now_ns();
    wait_while_off(late, 100);
    CHECK(vgpu::now_ns() - before > 50'000'000);
    it.report(Stay::here);
    REQUIRE(it.is_off(false));
    wait_while_off(late, 600'000);  // returns at once
    Membership leaving = late;
    leave(leaving);
}
