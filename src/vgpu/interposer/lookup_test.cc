// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/lookup.h"

#include <doctest/doctest.h>

#include "vgpu/interposer/real_driver.h"
#include "vgpu/interposer/report.h"

using namespace berth::vgpu::interposer;

namespace {

char something_of_the_driver = 0;
void* const kAnswer = &something_of_the_driver;

template <class Function>
void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

}  // namespace

TEST_CASE("an answer of unknown address is known by name, version and flags") {
    CHECK(hook_for("cuMemAlloc", kAnswer, 12000, false) == address(&cuMemAlloc_v2));
    CHECK(hook_for("cuMemAlloc", kAnswer, 12000, true) == address(&cuMemAlloc_v2));
    CHECK(hook_for("cuGetProcAddress", kAnswer, 11030, false) == address(&cuGetProcAddress));
    CHECK(hook_for("cuGetProcAddress", kAnswer, 12000, false) == address(&cuGetProcAddress_v2));
    CHECK(hook_for("cuCtxCreate", kAnswer, 11030, false) == address(&cuCtxCreate_v2));
    CHECK(hook_for("cuCtxCreate", kAnswer, 12080, false) == address(&cuCtxCreate_v4));
    CHECK(hook_for("cuGraphAddNode", kAnswer, 12020, false) == address(&cuGraphAddNode));
    CHECK(hook_for("cuGraphAddNode", kAnswer, 12080, false) == address(&cuGraphAddNode_v2));
    CHECK(hook_for("cuLaunchKernel", kAnswer, 12000, false) == address(&cuLaunchKernel));
    CHECK(hook_for("cuLaunchKernel", kAnswer, 12000, true) == address(&cuLaunchKernel_ptsz));
}

TEST_CASE("a name that needs no hook gets none") {
    const auto before = berth_vgpu_report().unknown_symbols;
    CHECK(hook_for("cuDeviceGetCount", kAnswer, 12000, false) == nullptr);
    CHECK(hook_for("", kAnswer, 12000, false) == nullptr);
    CHECK(berth_vgpu_report().unknown_symbols == before);
}

TEST_CASE("what is newer than this library is passed on and counted") {
    const auto before = berth_vgpu_report();
    CHECK(hook_for("cuBrandNew", kAnswer, 12000, false) == nullptr);
    CHECK(hook_for("cuMemAlloc", kAnswer, 99000, false) == nullptr);
    CHECK(berth_vgpu_report().unknown_symbols == before.unknown_symbols + 1);
    CHECK(berth_vgpu_report().unknown_answers == before.unknown_answers + 1);
}
