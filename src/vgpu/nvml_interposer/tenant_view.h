// SPDX-License-Identifier: Apache-2.0
//
// What may a program that looks at GPUs see? Of a GPU that its job has a share of: the share. The
// job is found as in vgpu/interposer, by BERTH_VGPU_SOCKET; who only looks and finds no arbiter
// sees the machine as it is.
#pragma once

#include <cstdint>

namespace berth::vgpu::nvml_interposer {

// Joins the tenant, or again after its arbiter was started anew. Quiet when it cannot.
void join_tenant();

// Of the tenant on the GPU with this UUID; false when it has no share of it.
struct Share {
    std::uint64_t limit = 0;
    std::uint64_t used = 0;
};
bool share_of(const char* uuid, Share& share);

// Is it a process of the tenant, and what does it use of that GPU?
bool is_member(const char* uuid, std::uint32_t pid, std::uint64_t& bytes);

}  // namespace berth::vgpu::nvml_interposer
