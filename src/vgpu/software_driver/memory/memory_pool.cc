// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/memory/memory_pool.h"

#include "vgpu/software_driver/driver.h"

namespace berth::vgpu::software_driver {

void trim_pools(Driver& driver) {
    for (const auto& [handle, pool] : driver.pools) pool->arena.trim(pool->release_threshold);
}

}  // namespace berth::vgpu::software_driver
