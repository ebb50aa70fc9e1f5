// SPDX-License-Identifier: Apache-2.0
#include "model/job/gpu_profile.h"

#include <doctest/doctest.h>

using namespace berth;

namespace {

model::GpuPart fitting(std::int64_t compute, std::int64_t mebibytes) {
    model::GpuProfile profile;
    profile.compute = base::MilliGpu{compute};
    profile.highest = base::Bytes{mebibytes << 20};
    return model::fitting_part(profile).value();
}

}  // namespace

TEST_CASE("the part that fits has some more time and memory than were used, in steps") {
    CHECK(fitting(380, 9'420).compute.value == 450);
    CHECK(fitting(380, 9'420).memory.value == std::int64_t{10'240} << 20);
    CHECK(fitting(1, 1).compute.value == 50);
    CHECK(fitting(1, 1).memory.value == std::int64_t{512} << 20);
}

TEST_CASE("no part is more than a GPU, and none is named where the time is not known") {
    CHECK(fitting(980, 100).compute.value == 1000);
    CHECK_FALSE(model::fitting_part({}).has_value());
}
