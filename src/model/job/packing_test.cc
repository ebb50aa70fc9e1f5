// SPDX-License-Identifier: Apache-2.0
#include "model/job/packing.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace berth;

namespace {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

model::Node gpu_of(std::int64_t gibibytes) {
    model::Node node;
    node.gpu_memory = {gibibytes * kGibibyte};
    return node;
}

model::GpuProfile profile(std::int64_t compute, std::int64_t persistent, std::int64_t peak) {
    model::GpuProfile made;
    made.iterations = 100;
    made.compute = base::MilliGpu{compute};
    made.persistent = {persistent * kGibibyte};
    made.peak = made.highest = {peak * kGibibyte};
    return made;
}

std::int64_t compute_of(std::int64_t used) {
    const auto part = model::packed_part(profile(used, 1, 2), gpu_of(80));
    return part ? part->compute.value : 0;
}

}  // namespace

TEST_CASE("two fit on a GPU when they use at most 120 % of its time together, and three never do") {
    CHECK(compute_of(600) == 500);
    CHECK(compute_of(700) + compute_of(500) <= 1000);
    CHECK(compute_of(700) + compute_of(510) > 1000);
    CHECK(3 * compute_of(10) > 1000);
    CHECK(compute_of(800) + compute_of(400) <= 1000);
    for (int one = 10; one <= 800; one += 10) {
        for (int other = 400; other <= 800; other += 10) {
            CHECK((compute_of(one) + compute_of(other) <= 1000) ==
                  (std::max(one, 400) + other <= 1200));
        }
    }
}

TEST_CASE("who uses more than 80 % of a GPU, or is not measured, is alone") {
    CHECK(compute_of(800) > 0);
    CHECK(compute_of(801) == 0);
    CHECK_FALSE(model::packed_part({}, gpu_of(80)).has_value());
    model::GpuProfile young = profile(500, 1, 2);
    young.iterations = model::kIterationsToPack - 1;
    CHECK_FALSE(model::packed_part(young, gpu_of(80)).has_value());
}

TEST_CASE("what stays counts with a tenth more, what does not with a twentieth more") {
    const auto part = model::packed_part(profile(500, 10, 30), gpu_of(80));
    REQUIRE(part.has_value());
    CHECK(part->memory.value == 32 * kGibibyte);
    model::GpuProfile starts_large = profile(500, 10, 30);
    starts_large.highest = {40 * kGibibyte};
    CHECK(model::packed_part(starts_large, gpu_of(80))->memory.value == 40 * kGibibyte);
}

TEST_CASE("memory comes first: who has no room for a margin, or no known room, is alone") {
    CHECK(model::packed_part(profile(100, 10, 30), gpu_of(32)).has_value());
    CHECK_FALSE(model::packed_part(profile(100, 10, 30), gpu_of(31)).has_value());
    CHECK_FALSE(model::packed_part(profile(100, 10, 30), gpu_of(0)).has_value());
}

TEST_CASE("a train job of one task with one whole GPU, that can be paused, may share it") {
    model::JobSpec spec;
    CHECK(model::can_share(spec));
    for (const auto change : {+[](model::JobSpec& other) { other.preemptible = false; },
                              +[](model::JobSpec& other) { other.kind = model::JobKind::Build; },
                              +[](model::JobSpec& other) { other.tasks_max = 2; },
                              +[](model::JobSpec& other) { other.request.gpus = 2; },
                              +[](model::JobSpec& other) { other.request.share = {500}; }}) {
        model::JobSpec other = spec;
        change(other);
        CHECK_FALSE(model::can_share(other));
    }
}
