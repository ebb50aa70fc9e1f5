// SPDX-License-Identifier: Apache-2.0
//
// What is an owner of the arbiter told?
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "vgpu/arbiter/node.h"

using vgpu::Node;

TEST_CASE("status tells of all tenants that a node can have, on all of their GPUs") {
    const Node node;
    std::string gpus;
    for (const char* gpu : {"GPU-0", "GPU-1", "GPU-2", "GPU-3"})
        gpus += (gpus.empty() ? "" : ",") + std::string(gpu) + ":100";
    for (int number = 0; number < 512; ++number)
        node.order("tenant job-" + std::to_string(number) + " gpus=" + gpus);
    const std::string all = node.order("status");
    CHECK(all.starts_with("ok\n"));
    CHECK(std::ranges::count(all, '\n') == 512 * 4);
    CHECK(node.order("status job-7").find("gpu=GPU-3") != std::string::npos);
    CHECK(node.refused("tenant job-512 gpus=" + gpus).find("drop one first") != std::string::npos);
}
