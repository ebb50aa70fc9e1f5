// SPDX-License-Identifier: Apache-2.0
//
// What can be asked of the library inside a process, beside what the driver offers?
#pragma once

#include <cstdint>

extern "C" {
struct BerthVgpuReport {
    std::uint64_t is_tenant;  // 1: the process is a member of a tenant
    std::uint64_t refused;    // look-ups of what is newer than this library
};

__attribute__((visibility("default"))) BerthVgpuReport berth_vgpu_report();
}
