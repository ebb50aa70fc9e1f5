// SPDX-License-Identifier: Apache-2.0
//
// berth simulate --reference: how do the jobs of a trace fare under orders that no server runs, and
// under what the core does not decide: shared GPUs, GPUs of several models, measured speeds?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/simulate/simulate_core.h"
#include "reference/named.h"

namespace berth::cli {

struct ReferenceWishes {
    explicit ReferenceWishes(const simulation::Trace& jobs) : trace(jobs) {}

    const simulation::Trace& trace;
    simulation::Machines machines{1, 1};
    simulation::Placement placement = simulation::Placement::Nodes;
    base::Duration restart_cost{};
    simulation::Packing packing = simulation::Packing::None;
    std::optional<simulation::SpeedTable> speeds;
    simulation::ModelChoice models;
    std::vector<std::string> orders;
    reference::Surroundings surroundings;

    simulation::Experiment experiment() const {
        return {trace, machines, placement, restart_cost, packing, speeds ? &*speeds : nullptr,
                models};
    }
};

// The flags that go with it alone, and the names of the orders.
Success read_reference(const Arguments& arguments, ReferenceWishes& wanted);

Simulated simulate_reference(const Context& context, const ReferenceWishes& wanted,
                             const std::string& order);

// The unpacked text of a file.
Outcome<std::string> read_unpacked(const std::string& file);

}  // namespace berth::cli
