// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/talk/order.h"

#include <doctest/doctest.h>

#include "base/rng.h"
#include "vgpu/ledger/terms.h"

using namespace berth;
using namespace berth::vgpu::arbiter;

TEST_CASE("memory that may be borrowed comes with what the GPU has") {
    const auto order = read_order("tenant job-7 gpus=GPU-8a:12G..20G/79G,GPU-9b:4G");
    REQUIRE(order);
    CHECK(order->gpus[0] == GpuWish{"GPU-8a", 12ULL << 30, 20ULL << 30, 79ULL << 30});
    CHECK(order->gpus[1] == GpuWish{"GPU-9b", 4ULL << 30});
    for (const char* words : {"12G..20G", "12G..", "20G..12G/79G", "12G..20G/16G", "12G..20G/"}) {
        CAPTURE(words);
        CHECK_FALSE(read_order(std::string("tenant job-7 gpus=GPU-8a:") + words));
    }
}

TEST_CASE("a tenant's order gives its GPUs and terms") {
    const auto order = read_order(
        "tenant job-7 gpus=GPU-a:40G,GPU-b share=0.25 cap=0.5 weight=3 priority=-2 uid=1000 "
        "context=500M managed=allow\n");
    REQUIRE(order);
    CHECK(order->verb == Verb::tenant);
    CHECK(order->name == "job-7");
    CHECK(order->gpus == std::vector<GpuWish>{{"GPU-a", 40ULL << 30}, {"GPU-b", std::nullopt}});
    CHECK(order->share == 250);
    CHECK(order->cap == 500);
    CHECK(order->weight == 3);
    CHECK(order->priority == -2);
    CHECK(order->uid == 1000);
    CHECK(order->context == 500ULL << 20);
    CHECK(order->managed == true);
}

TEST_CASE("limits of memory are lowered by an order of its own; none is no limit") {
    const auto order = read_order("narrow job-7 gpus=GPU-a:4G");
    REQUIRE(order);
    CHECK(order->verb == Verb::narrow);
    CHECK(order->gpus == std::vector<GpuWish>{{"GPU-a", 4ULL << 30}});
    CHECK(read_order("set job-7 gpus=GPU-a:none")->gpus[0].memory == vgpu::ledger::kNoLimit);
}

TEST_CASE("status and drop take a name only, status none as well") {
    CHECK(read_order("status")->name.empty());
    CHECK(read_order("status job-7")->name == "job-7");
    CHECK(read_order("drop job-7")->verb == Verb::drop);
    CHECK_FALSE(read_order("drop"));
    CHECK_FALSE(read_order("drop job-7 share=1"));
}

TEST_CASE("what is wrong in an order is named") {
    const auto complaint = [](const char* line) {
        const auto order = read_order(line);
        return order ? std::string("taken") : order.error().message;
    };
    const auto says = [&](const char* line, const char* text) {
        CAPTURE(std::string(line));
        CAPTURE(complaint(line));
        CHECK(complaint(line).find(text) != std::string::npos);
    };
    says("", "empty order");
    says("remove job-7", "\"remove\" is no order");
    says("tenant ../x gpus=GPU-a", "\"../x\"");
    says("tenant job-7", "needs gpus=");
    says("tenant job-7 gpus=", "1 to 16 GPUs");
    says("tenant job-7 gpus=GPU-a,GPU-a", "comes twice");
    says("tenant job-7 gpus=GPU-a:5000T", "more than any GPU has");
    says("set job-7 share=1.5", "\"1.5\"");
    says("set job-7 cap=0", "\"0\"");
    says("set job-7 weight=0", "from 1 to 10000");
    says("set job-7 managed=maybe", "managed=allow|refuse");
    says("set job-7 speed=3", "\"speed=3\" is no term");
    says("set job-7 share", "\"\"");
}

TEST_CASE("no line of random words is taken for more than it says, or breaks the reader") {
    base::Rng rng(7);
    const std::vector<std::string> pieces = {
        "tenant", "set",   "drop", "status", " ",       " ",     "=",        ",",
        ":",      "job-7", "gpus", "share",  "memory",  "40G",   "GPU-a",    "\n",
        "-1",     "0.5",   "uid",  "\x01",   "managed", "allow", "priority", "99999999999999999999",
        ".",      "cap"};
    int taken = 0;
    for (int round = 0; round < 50'000; ++round) {
        std::string line;
        for (std::size_t left = rng.index(12); left > 0; --left)
            line += pieces[rng.index(pieces.size())];
        const auto order = read_order(line);
        if (!order) {
            REQUIRE_FALSE(order.error().message.empty());
            continue;
        }
        ++taken;
        REQUIRE((order->verb == Verb::status || !order->name.empty()));
        REQUIRE(order->name.find('/') == std::string::npos);
        REQUIRE(order->memory.value_or(0) <= vgpu::ledger::kNoLimit);
        REQUIRE(order->cap.value_or(1) >= 1);
    }
    CHECK(taken > 10);
}
