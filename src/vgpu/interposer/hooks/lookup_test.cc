// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/hooks/lookup.h"

#include <doctest/doctest.h>

#include "vgpu/interposer/driver/real_driver.h"

using namespace berth::vgpu::interposer;

namespace {

char something_of_the_driver = 0;
void* const kAnswer = &something_of_the_driver;

template <class Function>
void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

void* hook_for(const char* symbol, int version, bool per_thread) {
    const Known known = known_of(symbol, kAnswer, version, per_thread);
    CHECK(known.is_known);
    return known.hook;
}

}  // namespace

TEST_CASE("an answer of unknown address is known by name, version and flags") {
    CHECK(hook_for("cuMemAlloc", 12000, false) == address(&cuMemAlloc_v2));
    CHECK(hook_for("cuMemAlloc", 12000, true) == address(&cuMemAlloc_v2));
    CHECK(hook_for("cuGetProcAddress", 11030, false) == address(&cuGetProcAddress));
    CHECK(hook_for("cuGetProcAddress", 12000, false) == address(&cuGetProcAddress_v2));
    CHECK(hook_for("cuCtxCreate", 11030, false) == address(&cuCtxCreate_v2));
    CHECK(hook_for("cuCtxCreate", 12080, false) == address(&cuCtxCreate_v4));
    CHECK(hook_for("cuGraphAddNode", 12020, false) == address(&cuGraphAddNode));
    CHECK(hook_for("cuGraphAddNode", 12080, false) == address(&cuGraphAddNode_v2));
    CHECK(hook_for("cuLaunchKernel", 12000, false) == address(&cuLaunchKernel));
    CHECK(hook_for("cuLaunchKernel", 12000, true) == address(&cuLaunchKernel_ptsz));
}

TEST_CASE("a name that needs no hook is passed on") {
    CHECK(hook_for("cuDeviceGetCount", 12000, false) == nullptr);
    CHECK(hook_for("cuDeviceGetCount", 99000, false) == nullptr);
    CHECK(hook_for("", 12000, false) == nullptr);
}

TEST_CASE("what is newer than this library is known to be so") {
    CHECK_FALSE(known_of("cuBrandNew", kAnswer, 12000, false).is_known);
    CHECK_FALSE(known_of("cuMemAlloc", kAnswer, 99000, false).is_known);
    CHECK_FALSE(known_of("cuMemAlloc", kAnswer, kKnownVersion + 10, false).is_known);
    CHECK(hook_for("cuMemAlloc", kKnownVersion, false) == address(&cuMemAlloc_v2));
}
