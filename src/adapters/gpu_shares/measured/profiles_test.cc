// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/measured/profiles.h"

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

TEST_CASE("a tenant on its GPUs is listed with what it uses of each") {
    CHECK(gpu_shares::uses_in(
              "\ntenant=7.1.0 gpu=GPU-1 limit=100 charged=5 cap=0.6 where=here lately=0.45"
              "\ntenant=8.1.0 gpu=GPU-1 limit=none charged=9 cap=1 where=here lately=none"
              "\ntenant=9.1.0 gpu=GPU-1 limit=100 charged=50 where=away device_share=none") ==
          std::vector<gpu_shares::TenantUse>{
              {"7.1.0", "GPU-1", {5}, base::Bytes{100}, base::MilliGpu{450}, base::MilliGpu{600}},
              {"8.1.0", "GPU-1", {9}, {}, {}}});
    CHECK(gpu_shares::uses_in("").empty());
}

TEST_CASE("tenants in rotations are listed with what they made, others are not") {
    const auto rotations = gpu_shares::rotations_in(
        "ok\ntenant=1.1.0 gpu=A rotation=A gate=closed waiting=yes iterations=7 iteration_us=42\n"
        "tenant=2.1.0 gpu=A rotation=none gate=open waiting=no iterations=9 iteration_us=1\n"
        "tenant=3.1.0 rotation=B");
    REQUIRE(rotations.size() == 2);
    CHECK(rotations[0].tenant == "1.1.0");
    CHECK(rotations[0].rotation == "A");
    CHECK(rotations[0].iterations == 7);
    CHECK(rotations[0].iteration_us == 42);
    CHECK(rotations[0].is_waiting);
    CHECK_FALSE(rotations[1].is_waiting);
}

TEST_CASE("a process of a tenant is listed with each of its GPUs, and whether that is shared") {
    const auto members = gpu_shares::members_in(
        "ok\ntenant=1.1.0 gpu=A limit=100 pids=12,34 rotation=none where=here\n"
        "tenant=1.1.0 gpu=B limit=none pids=12,34 rotation=none where=away\n"
        "tenant=2.1.0 gpu=A limit=none pids=none rotation=A where=here");
    CHECK(members == std::vector<gpu_shares::TenantMembers>{{"1.1.0", "A", true, {12, 34}},
                                                            {"1.1.0", "B", false, {12, 34}},
                                                            {"2.1.0", "A", true, {}}});
}
