// SPDX-License-Identifier: Apache-2.0
//
// What does an owner of the arbiter learn?
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "vgpu/arbiter/node.h"

using vgpu::Node;

namespace {

// Of a process, in memory that it shares.
std::int64_t shared_kib(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    std::int64_t kib = -1;
    for (std::string word; kib < 0 && file >> word;)
        if (word == "RssShmem:") file >> kib;
    return kib;
}

}  // namespace

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

TEST_CASE("a tenant takes the memory of the processes that it has, not of those it could have") {
    const Node node;
    const std::int64_t before = shared_kib(node.arbiter());
    REQUIRE(before >= 0);
    for (int number = 0; number < 64; ++number)
        node.order("tenant job-" + std::to_string(number) + " gpus=" + vgpu::kGpu + ":100");
    CHECK((shared_kib(node.arbiter()) - before) / 64 <= 32);
}
