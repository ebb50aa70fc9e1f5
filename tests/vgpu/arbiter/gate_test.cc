// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/gate.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "vgpu/arbiter/node.h"
#include "vgpu/ledger/busy.h"

using namespace berth::vgpu::ledger;
using vgpu::eventually;
using vgpu::Node;

namespace {

constexpr int kPatienceMs = vgpu::kPatience / 1'000'000;

// A GPU that serves one piece of work at a time, as processes see it.
struct FakeGpu {
    std::atomic<std::uint64_t> used_ns[4];
    std::atomic<std::int64_t> starved_ns;  // of the processes
};

// Works in pieces of 1 ms, each as soon as its gate lets it, for `ms`.
void work(const Node& node, FakeGpu& gpu, int tenant, long ms) {
    const Membership mine = node.join("tenant-" + std::to_string(tenant));
    const std::int64_t end = vgpu::now_ns() + ms * 1'000'000;
    while (vgpu::now_ns() < end) {
        if (wait_at_gate(mine, 0, 100) == Gate::closed) continue;
        const std::int64_t before = vgpu::now_ns();
        begin_busy(mine.place(0), before);
        vgpu::pause_ms(1);
        const std::int64_t after = vgpu::now_ns();
        end_busy(mine.place(0), after);
        gpu.used_ns[tenant].fetch_add(static_cast<std::uint64_t>(after - before));
        if (gate(mine.place(0)) == Gate::closed) ring(mine, 0);
    }
    gpu.starved_ns += vgpu::starved_ns(::getpid());
}

void add_tenant(const Node& node, int tenant, const std::string& terms) {
    node.order("tenant tenant-" + std::to_string(tenant) + " gpus=" + vgpu::kGpu + " " + terms);
}

}  // namespace

TEST_CASE("a tenant alone finds its gate open, of two that work only one at a time is let") {
    const Node node;
    add_tenant(node, 0, "");
    add_tenant(node, 1, "");
    Membership one = node.join("tenant-0");
    CHECK(gate(one.place(0)) == Gate::open);
    CHECK(one.terms->gated == 0);
    Membership other = node.join("tenant-1");
    const auto open = [&] {
        return (gate(one.place(0)) != Gate::closed) + (gate(other.place(0)) != Gate::closed);
    };
    CHECK(open() <= 1);
    CHECK(wait_at_gate(other, 0, kPatienceMs) != Gate::closed);
    CHECK(gate(one.place(0)) == Gate::closed);
    CHECK(wait_at_gate(one, 0, kPatienceMs) != Gate::closed);
    CHECK(gate(other.place(0)) == Gate::closed);
    leave(other);
    // It is alone again once the arbiter has seen that.
    CHECK(eventually([&] { return gate(one.place(0)) == Gate::open; }));
    leave(one);
}

TEST_CASE("real processes get real shares of real time") {
    const Node node;
    add_tenant(node, 0, "share=0.7");
    add_tenant(node, 1, "share=0.3");
    void* at =
        ::mmap(nullptr, sizeof(FakeGpu), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    FakeGpu& gpu = *static_cast<FakeGpu*>(at);
    std::vector<pid_t> children;
    for (int tenant = 0; tenant < 2; ++tenant)
        children.push_back(vgpu::start([&, tenant] {
            work(node, gpu, tenant, 3000);
            return 0;
        }));
    for (const pid_t child : children) CHECK(vgpu::end_of(child) == 0);
    const auto one = static_cast<double>(gpu.used_ns[0]);
    const auto other = static_cast<double>(gpu.used_ns[1]);
    CHECK(one > 0);
    CHECK(other > 0);
    // A share unused is lost: where the machine did other things this says nothing.
    const std::int64_t starved = gpu.starved_ns + vgpu::starved_ns(node.arbiter());
    MESSAGE("part ", one / (one + other), ", without a processor ", starved / 1'000'000, " ms");
    if (!vgpu::is_too_busy(starved, 3'000'000'000)) {
        CHECK(one / (one + other) == doctest::Approx(0.7).epsilon(0.05));
        CHECK(one + other > 0.8 * 3e9);
    }
    ::munmap(at, sizeof(FakeGpu));
}

TEST_CASE("who is killed in its window leaves the GPU to the next at once") {
    const Node node;
    add_tenant(node, 0, "");
    add_tenant(node, 1, "");
    Membership survivor = node.join("tenant-1");
    const pid_t victim = vgpu::start([&] {
        const Membership mine = node.join("tenant-0");
        while (wait_at_gate(mine, 0, 100) == Gate::closed) {
        }
        begin_busy(mine.place(0), vgpu::now_ns());
        ::kill(::getpid(), SIGKILL);
        return 1;
    });
    CHECK(vgpu::end_of(victim) == 128 + SIGKILL);
    CHECK(eventually([&] { return wait_at_gate(survivor, 0, 10) != Gate::closed; }));
    leave(survivor);
}
