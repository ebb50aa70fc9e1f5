// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "vgpu/interposer/job.h"

using namespace vgpu;

TEST_CASE("launches are gated") { CHECK(true); }
