// SPDX-License-Identifier: Apache-2.0
//
// What does a context of the driver take of a GPU? Measured in a child (vgpu/probe/context.h) once
// for each kind of GPU when the server starts, with the driver that is there then. A tenant is
// charged that with each context: else the arbiter learns of it later, from the management library,
// and a job at its limit is over it.
#pragma once

#include <functional>
#include <vector>

#include "adapters/gpu_shares/programs/child.h"
#include "adapters/gpu_shares/terms/tenants.h"

namespace berth::gpu_shares {

// Asks about one GPU. Errors: Unavailable.
using MeasureContext = std::function<base::Result<base::Bytes>(const Gpu&)>;

// By berth-gpu-probe, whose path and environment `probe` has; without words it cannot be asked.
base::Result<base::Bytes> context_of(const Gpu& gpu, ChildOrder probe);

// Sets the context of all whose context is not known. GPUs with as much memory are of one kind:
// the first that can be asked answers for all. Stays 0 where the first two cannot: each may take as
// long as the driver does.
void measure_contexts(std::vector<Gpu>& gpus, const MeasureContext& measure);

}  // namespace berth::gpu_shares
