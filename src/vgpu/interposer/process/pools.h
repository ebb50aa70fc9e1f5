// SPDX-License-Identifier: Apache-2.0
//
// What do memory pools take of a GPU? What they reserve, not what is handed out of them: a pool
// keeps what was freed. Each pool is charged for what it reserved when it was last looked at,
// which is at each allocation, and when the program waits after a free: then a pool gives back. It
// is charged to the GPU that it is on, whatever context is current; one of the host's or of managed
// memory to none.
#pragma once

#include "vgpu/interposer/process/blocks.h"

namespace berth::vgpu::interposer {

// After memory of a pool was freed at once.
void settle_pool(const Block& block);
// After the program has waited for its work.
void settle_freed_pools();

// Graphs that allocate have a pool of their own on each device. Once one was seen, it is looked
// at after each launch; what it has grown by is charged even past the limit, and said: by then the
// driver has it.
void expect_graph_memory();
void settle_graph_memory(Gpu gpu);

}  // namespace berth::vgpu::interposer
