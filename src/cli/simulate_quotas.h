// SPDX-License-Identifier: Apache-2.0
//
// berth simulate --quotas: the jobs of a trace in a cluster with quotas, decided by the real core.
#pragma once

#include "cli/arguments.h"
#include "cli/context.h"
#include "simulation/trace.h"

namespace berth::cli {

int simulate_quotas(Context& context, const Arguments& arguments, const simulation::Trace& trace);

}  // namespace berth::cli
