// SPDX-License-Identifier: Apache-2.0
#include "model/node/mig.h"

#include <doctest/doctest.h>

using namespace berth::model;

TEST_CASE("a profile says how many slices and how much memory") {
    CHECK(mig_profile("1g.10gb")->slices == 1);
    CHECK(mig_profile("1g.10gb")->exchange() == 143);
    CHECK(mig_profile("3g.40gb+me")->memory == Bytes{40LL << 30});
    CHECK(mig_profile("7g.80gb")->exchange() == 1000);
    for (const char* text : {"", "8g.80gb", "0g.5gb", "1g", "1g.gb", "1g.10", "A100", "-1g.5gb"}) {
        CAPTURE(text);
        CHECK_FALSE(mig_profile(text).has_value());
    }
}

TEST_CASE("slices take their part of the machine") {
    Node node;
    node.name = "n1";
    node.gpus = 6;
    node.cpu = MilliCpu{64'000};
    node.memory = Bytes{8LL << 30};
    node.labels = {{"disk", "ssd"}};
    // Two GPUs are cut: one into seven, one into two of three and nothing.
    const auto slices = split_off_slices(node, {{"1g.10gb", 7}, {"3g.40gb", 2}});
    REQUIRE(slices.size() == 2);
    CHECK(slices[0].name == "n1/1g.10gb");
    CHECK(slices[0].gpus == 7);
    CHECK(slices[0].gpu_model == "1g.10gb");
    CHECK(slices[0].labels == node.labels);
    CHECK(slices[0].cpu == MilliCpu{8'000});
    CHECK(slices[1].gpus == 2);
    CHECK(slices[1].gpu_memory == Bytes{40LL << 30});
    CHECK(*node.cpu + *slices[0].cpu + *slices[1].cpu == MilliCpu{64'000});
    CHECK(*node.memory + *slices[0].memory + *slices[1].memory == Bytes{8LL << 30});
    CHECK(split_off_slices(node, {}).empty());
}
