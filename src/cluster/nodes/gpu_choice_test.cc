// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/gpu_choice.h"

#include <doctest/doctest.h>

#include <bit>

using namespace berth;
using cluster::GpuChoice;
using cluster::Spread;
using model::GpuLinks;

namespace {

GpuLinks in_islands(std::vector<int> islands) {
    GpuLinks links;
    links.islands = std::move(islands);
    return links;
}

}  // namespace

TEST_CASE("GPUs of one island go together, and a broken island before a whole one") {
    const GpuChoice choice(in_islands({0, 1, 0, 1, 0, 1, 0, 1}), 8);
    CHECK(choice.best(0xff, 2, Spread::OneNode) == 0b0000'0101);
    CHECK(choice.best(0xff, 4, Spread::OneNode) == 0b0101'0101);
    // GPU 0 is taken: three are left of its island, four of the other.
    CHECK(choice.best(0xfe, 2, Spread::OneNode) == 0b0001'0100);
    CHECK(choice.best(0xfe, 1, Spread::OneNode) == 0b0000'0100);
    CHECK(choice.best(0xfe, 4, Spread::OneNode) == 0b1010'1010);
}

TEST_CASE("the link matrix counts bonds") {
    GpuLinks links;
    links.matrix = {"X NV1 NV2 SYS", "NV1 X SYS NV2", "NV2 SYS X NV1", "SYS NV2 NV1 X"};
    const GpuChoice choice(links, 4);
    CHECK(choice.best(0b1111, 2, Spread::OneNode) == 0b0101);
    CHECK(choice.best(0b1011, 2, Spread::OneNode) == 0b1010);
    CHECK(choice.best(0b1001, 2, Spread::OneNode) == 0b1001);
}

TEST_CASE("a gang over nodes takes GPUs with a network card of their own, others leave them") {
    GpuLinks links;
    links.numa = {0, 0, 0, 0};
    links.nics = {-1, 0, -1, 1};
    const GpuChoice choice(links, 4);
    CHECK(choice.best(0b1111, 1, Spread::ManyNodes) == 0b0010);
    CHECK(choice.best(0b1111, 2, Spread::ManyNodes) == 0b1010);
    CHECK(choice.best(0b1111, 2, Spread::OneNode) == 0b0101);
}

TEST_CASE("a large node is searched without a table and keeps islands as well") {
    const GpuChoice choice(in_islands({0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}), 16);
    CHECK(choice.best(0xffff, 8, Spread::OneNode) == 0x00ff);
    CHECK(choice.best(0xfffe, 8, Spread::OneNode) == 0xff00);
    CHECK(choice.best(0xfffe, 3, Spread::OneNode) == 0x000e);
    CHECK(std::popcount(choice.best(0xfffe, 9, Spread::OneNode)) == 9);
}

TEST_CASE("links that do not fit the node are refused for what they are") {
    const auto error = [](const GpuLinks& links, int gpus) {
        const auto near = model::nearness(links, gpus);
        return near ? std::string("none") : near.error().message;
    };
    CHECK(error(in_islands({0, 0}), 4) == "islands: wanted one entry for each of 4 GPUs, found 2");
    GpuLinks links;
    links.matrix = {"X NVX", "SYS X"};
    CHECK(error(links, 2) == "matrix: wanted X, NV18, PIX, PXB, PHB, NODE or SYS, found \"NVX\"");
    links.matrix = {"X", "SYS X"};
    CHECK(error(links, 2) == "matrix: wanted 2 words a row, found \"X\"");
}
