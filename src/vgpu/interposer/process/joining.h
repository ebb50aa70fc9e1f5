// SPDX-License-Identifier: Apache-2.0
//
// How does a process become a member of its tenant? By its first cuInit, where BERTH_VGPU_SOCKET
// names the tenant's socket. A forked child belongs to no tenant until its own cuInit: CUDA does
// not live on in it, and all that its parent knew here is forgotten.
#pragma once

namespace berth::vgpu::interposer {

// Called before each cuInit: while the tenant is off its GPUs it waits, and where they are others
// now than when it was started (BERTH_VGPU_GPUS), CUDA_VISIBLE_DEVICES names those. False when the
// tenant's arbiter does not admit this process: it must not go on, and why is on stderr.
bool enter_tenancy();
// Called after each successful cuInit.
void learn_tenants_devices();

}  // namespace berth::vgpu::interposer
