// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "vgpu/arbiter/node.h"

using namespace berth::vgpu::ledger;
using vgpu::eventually;
using vgpu::Node;

namespace {

const std::string kTenant = std::string("tenant job-7 gpus=") + vgpu::kGpu + ":1000";

}  // namespace

TEST_CASE("two processes of a tenant share its limit, its owner sees what they use") {
    const Node node;
    CHECK(node.order(kTenant) == "ok socket=" + node.socket_of("job-7"));
    Membership one = node.join("job-7");
    Membership other = node.join("job-7");
    CHECK(one.slot != other.slot);
    CHECK(one.terms->gpu_count == 1);
    CHECK(std::string(one.terms->gpus[0].uuid) == vgpu::kGpu);
    CHECK(charge(one.place(0), 700));
    CHECK_FALSE(charge(other.place(0), 301));
    CHECK(charge(other.place(0), 300));
    CHECK(node.status("job-7", "charged") == "1000");
    CHECK(node.status("job-7", "processes") == "2");
    leave(one);
    leave(other);
}

TEST_CASE("an owner resizes a tenant while it runs, both ways") {
    const Node node;
    node.order(kTenant);
    Membership process = node.join("job-7");
    CHECK_FALSE(charge(process.place(0), 1500));
    node.order("set job-7 memory=2000");
    CHECK(charge(process.place(0), 1500));
    node.order("set job-7 memory=1000");
    CHECK_FALSE(charge(process.place(0), 1));
    give_back(process.place(0), 900);
    CHECK(charge(process.place(0), 400));
    leave(process);
}

TEST_CASE("a limit is lowered at once, or not at all where more is in use") {
    const Node node;
    node.order(kTenant);
    Membership process = node.join("job-7");
    REQUIRE(charge(process.place(0), 600));
    const std::string gpu = vgpu::kGpu;
    CHECK(node.refused("narrow job-7 gpus=" + gpu + ":500") ==
          "error: tenant \"job-7\" uses 600 bytes of GPU \"" + gpu + "\"");
    CHECK(node.status("job-7", "limit") == "1000");
    CHECK(charge(process.place(0), 400));
    give_back(process.place(0), 400);
    CHECK(node.order("narrow job-7 gpus=" + gpu + ":600").starts_with("ok"));
    CHECK(node.status("job-7", "limit") == "600");
    CHECK_FALSE(charge(process.place(0), 1));
    // What is larger is for an order that gives.
    CHECK(node.order("narrow job-7 gpus=" + gpu + ":900").starts_with("ok"));
    CHECK(node.status("job-7", "limit") == "600");
    leave(process);
}

TEST_CASE("tenants do not see each other's use") {
    const Node node;
    node.order(kTenant);
    node.order(std::string("tenant other gpus=") + vgpu::kGpu + ":1000");
    Membership mine = node.join("job-7");
    Membership theirs = node.join("other");
    CHECK(charge(mine.place(0), 1000));
    CHECK(charge(theirs.place(0), 1000));
    leave(mine);
    leave(theirs);
}

TEST_CASE("what a killed process used stays charged until the GPU has it free, then comes back") {
    const Node node({"--free-after", "500ms"});
    node.order(kTenant);
    Membership survivor = node.join("job-7");
    const pid_t victim = vgpu::start([&] {
        const Membership mine = node.join("job-7");
        if (!charge(mine.place(0), 1000)) return 1;
        ::kill(::getpid(), SIGKILL);
        return 2;
    });
    CHECK(vgpu::end_of(victim) == 128 + SIGKILL);
    REQUIRE(eventually([&] { return node.status("job-7", "lingering") == "1"; }));
    CHECK_FALSE(charge(survivor.place(0), 1));
    CHECK(eventually([&] { return node.status("job-7", "lingering") == "0"; }));
    CHECK(charge(survivor.place(0), 1000));
    leave(survivor);
}

TEST_CASE("who hangs up and lives on stays charged; its slot is no other's meanwhile") {
    const Node node({"--free-after", "0s"});
    node.order(kTenant);
    int pipes[2];
    REQUIRE(::pipe(pipes) == 0);
    const pid_t child = vgpu::start([&] {
        Membership mine = node.join("job-7");
        if (!charge(mine.place(0), 600)) return 1;
        leave(mine);
        ::close(pipes[1]);
        char end = 0;
        return ::read(pipes[0], &end, 1) == 0 ? 0 : 2;
    });
    ::close(pipes[0]);
    REQUIRE(eventually([&] { return node.status("job-7", "lingering") == "1"; }));
    vgpu::pause_ms(100);
    CHECK(node.status("job-7", "charged") == "600");
    Membership newcomer = node.join("job-7");
    CHECK(newcomer.slot == 1);
    ::close(pipes[1]);
    CHECK(vgpu::end_of(child) == 0);
    CHECK(eventually([&] { return node.status("job-7", "charged") == "0"; }));
    leave(newcomer);
}

TEST_CASE("a process that says hello again has executed a new program: the old one's use is gone") {
    const Node node({"--free-after", "100ms"});
    node.order(kTenant);
    Membership before = node.join("job-7");
    REQUIRE(charge(before.place(0), 600));
    leave(before);
    REQUIRE(eventually([&] { return node.status("job-7", "lingering") == "1"; }));
    Membership after = node.join("job-7");
    CHECK(eventually([&] { return node.status("job-7", "charged") == "0"; }));
    CHECK(node.status("job-7", "processes") == "1");
    leave(after);
}

TEST_CASE("of three hundred processes that start at once none waits a second for its slot") {
    const Node node({"--free-after", "0s"});
    node.order(std::string("tenant job-7 gpus=") + vgpu::kGpu + ":300000");
    std::vector<pid_t> children;
    for (int index = 0; index < 300; ++index)
        children.push_back(vgpu::start([&] {
            // Without what the machine makes both of them wait.
            const auto clock = [&] {
                return vgpu::now_ns() - vgpu::starved_ns(::getpid()) -
                       vgpu::starved_ns(node.arbiter());
            };
            const std::int64_t before = clock();
            const Membership mine = node.join("job-7");
            if (clock() - before >= 1'000'000'000) return 2;
            return charge(mine.place(0), 1000) ? 0 : 1;
        }));
    CHECK(std::all_of(children.begin(), children.end(),
                      [](pid_t child) { return vgpu::end_of(child) == 0; }));
    CHECK(eventually([&] { return node.status("job-7", "charged") == "0"; }));
}

TEST_CASE("a tenant takes 512 processes; the next is refused for it") {
    const Node node;
    node.order(kTenant);
    std::vector<Membership> members;
    for (std::uint32_t index = 0; index < kSlotsMax; ++index) members.push_back(node.join("job-7"));
    Membership next;
    Reason reason;
    CHECK_FALSE(join(node.socket_of("job-7"), 1000, next, reason));
    CHECK(std::string(reason.text) == "tenant \"job-7\" has 512 processes, no more fit");
    for (Membership& member : members) leave(member);
}

TEST_CASE("a process of another user is turned away, with what to do") {
    if (::geteuid() != 0) return;  // only root can be another user
    const Node node;
    node.order(kTenant + " uid=1000");
    const pid_t child = vgpu::start([&] {
        Membership membership;
        Reason reason;
        if (::setuid(65534) != 0 || join(node.socket_of("job-7"), 1000, membership, reason))
            return 1;
        return std::string_view(reason.text).find("belongs to user 1000") != std::string::npos ? 0
                                                                                               : 2;
    });
    CHECK(vgpu::end_of(child) == 0);
}

TEST_CASE("an owner hears why an order cannot be carried out") {
    const Node node;
    node.order(kTenant);
    const auto holds = [&](const std::string& words, const char* text) {
        CAPTURE(words);
        CHECK(node.refused(words).find(text) != std::string::npos);
    };
    holds("set job-8 share=0.5", "no tenant \"job-8\"");
    holds("set job-7 gpus=GPU-other:5", "has no GPU \"GPU-other\"");
    holds("set job-7 share=0.5 cap=0.25", "share 0.5 is above its cap 0.25");
    Membership process = node.join("job-7");
    holds("drop job-7", "1 processes");
    leave(process);
    Membership again = node.join("job-7");  // of this process, so the first is free after 2 s
    leave(again);
}

TEST_CASE("a tenant without processes can be dropped; no process can join it then") {
    const Node node;
    node.order(kTenant);
    node.order("drop job-7");
    Membership membership;
    Reason reason;
    CHECK_FALSE(join(node.socket_of("job-7"), 1000, membership, reason));
    CHECK(std::string_view(reason.text).find("no arbiter answers at") != std::string::npos);
}
