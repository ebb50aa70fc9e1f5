// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/context_size.h"

#include <doctest/doctest.h>

#include <string>

namespace berth::gpu_shares {
namespace {

std::vector<Gpu> some_gpus() {
    const base::Bytes large{80LL << 30};
    const base::Bytes small{24LL << 30};
    return {{"n", 0, "GPU-0", large},
            {"n", 1, "GPU-1", large},
            {"n", 2, "GPU-2", small},
            {"n", 3, "GPU-3", large}};
}

TEST_CASE("one GPU of a kind is asked what a context takes, and answers for all of the kind") {
    std::vector<Gpu> gpus = some_gpus();
    std::string asked;
    measure_contexts(gpus, [&](const Gpu& gpu) -> base::Result<base::Bytes> {
        asked += gpu.uuid + " ";
        return base::Bytes{gpu.index == 0 ? 500 : 300};
    });
    CHECK(asked == "GPU-0 GPU-2 ");
    for (const int index : {0, 1, 3})
        CHECK(gpus[static_cast<std::size_t>(index)].context.value == 500);
    CHECK(gpus[2].context.value == 300);
}

TEST_CASE("where a GPU cannot be asked the next of its kind is, and none is 0") {
    std::vector<Gpu> gpus = some_gpus();
    measure_contexts(gpus, [&](const Gpu& gpu) -> base::Result<base::Bytes> {
        if (gpu.index == 1) return base::Bytes{400};
        return base::fail(base::ErrorCode::Unavailable, "full");
    });
    CHECK(gpus[0].context.value == 400);
    CHECK(gpus[2].context.value == 0);
    CHECK(gpus[3].context.value == 400);
}

TEST_CASE("no more than two GPUs of a kind are asked") {
    std::vector<Gpu> gpus(5);
    int asked = 0;
    measure_contexts(gpus, [&](const Gpu&) -> base::Result<base::Bytes> {
        ++asked;
        return base::fail(base::ErrorCode::Unavailable, "broken");
    });
    CHECK(asked == 2);
}

TEST_CASE("a context that was said is not measured, nor one on a GPU for one process") {
    std::vector<Gpu> gpus = some_gpus();
    gpus.resize(2);
    gpus[0].context = base::Bytes{7};
    gpus[1].takes_one_process = true;
    measure_contexts(gpus, [](const Gpu&) -> base::Result<base::Bytes> {
        FAIL("asked");
        return base::Bytes{0};
    });
    CHECK(gpus[0].context.value == 7);
    CHECK(gpus[1].context.value == 0);
}

TEST_CASE("what is no probe measures nothing") {
    const Gpu gpu = some_gpus().front();
    CHECK_FALSE(context_of(gpu, {}).has_value());
    CHECK_FALSE(context_of(gpu, {{"/nowhere"}}).has_value());
    CHECK_FALSE(context_of(gpu, {{"/bin/echo"}}).has_value());
}

}  // namespace
}  // namespace berth::gpu_shares
