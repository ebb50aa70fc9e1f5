// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/profiles.h"

#include <doctest/doctest.h>

using namespace berth;

TEST_CASE("an attempt's profile is the largest of its GPUs") {
    const auto profile = gpu_shares::profile_in(
        "ok\n"
        "tenant=7.1.0 gpu=GPU-1 limit=100 charged=5 iterations=90 iteration_us=1200 launches=40 "
        "persistent=100 peak=300 highest=400 device_share=0.38\n"
        "tenant=7.1.0 gpu=GPU-2 limit=100 charged=5 iterations=100 iteration_us=1300 launches=40 "
        "persistent=200 peak=250 highest=300 device_share=0.25");
    REQUIRE(profile);
    CHECK(profile->iterations == 100);
    CHECK(profile->iteration_us == 1300);
    CHECK(profile->compute == base::MilliGpu{380});
    CHECK(profile->persistent.value == 200);
    CHECK(profile->peak.value == 300);
    CHECK(profile->highest.value == 400);
}

TEST_CASE("what was not measured is not made up, and a job that used no GPU has no profile") {
    const auto profile = gpu_shares::profile_in(
        "ok\ntenant=a gpu=b iterations=0 iteration_us=0 persistent=0 peak=0 highest=9 "
        "device_share=none");
    REQUIRE(profile);
    CHECK_FALSE(profile->compute);
    CHECK_FALSE(gpu_shares::profile_in("ok"));
    CHECK_FALSE(gpu_shares::profile_in("error: no tenant"));
    CHECK_FALSE(gpu_shares::profile_in("ok\ntenant=a highest=0 device_share=none"));
    CHECK_FALSE(gpu_shares::profile_in("ok\ntenant=a highest=-5 device_share=-1"));
}
