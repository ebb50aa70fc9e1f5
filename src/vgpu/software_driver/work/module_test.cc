// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/work/module.h"

#include <doctest/doctest.h>

using namespace berth::vgpu::software_driver;

TEST_CASE("entries of PTX are found with the sizes of their parameters") {
    const auto entries = entries_of(R"(
        .version 8.0
        .target sm_75
        .address_size 64
        .visible .entry berth_add1(.param .u64 pointer, .param .u32 count) { ret; }
        .visible .entry other (
            .param .align 8 .b8 block[24],
            .param .f32 x
        ) .maxntid 128 { ret; }
        .func helper(.param .u32 y) { ret; }
        .entry nothing { ret; }
    )");
    REQUIRE(entries.size() == 3);
    CHECK(entries[0].name == "berth_add1");
    CHECK(entries[0].behaviour == Behaviour::Add1);
    CHECK(entries[0].parameter_bytes == std::vector<std::size_t>{8, 4});
    CHECK(entries[1].name == "other");
    CHECK(entries[1].behaviour == Behaviour::TakesTime);
    CHECK(entries[1].parameter_bytes == std::vector<std::size_t>{24, 4});
    CHECK(entries[2].parameter_bytes.empty());
}

TEST_CASE("an entry in a comment is none") {
    CHECK(entries_of(".version 8.0 // .entry one()\n /* .entry two() */").empty());
    CHECK(entries_of("// made by hand\n.version 8.0 .entry three() {}").size() == 1);
}

TEST_CASE("what is no PTX, or cut short, has no entries") {
    CHECK(entries_of("").empty());
    CHECK(entries_of("\x7f"
                     "ELF")
              .empty());
    CHECK(entries_of(".entry x() {}").empty());
    CHECK(entries_of(".version 8.0 .entry x(.param .u64").empty());
}

TEST_CASE("a known name with other parameters only takes time") {
    const auto entries = entries_of(".version 8.0 .entry berth_fill(.param .u64 pointer) {}");
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].behaviour == Behaviour::TakesTime);
}
