// SPDX-License-Identifier: Apache-2.0
//
// Which concrete thing stands behind each port of this server? Chosen once, from the options.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "app/berth/server.h"
#include "model/policy/policy.h"
#include "ports/gpu_inventory.h"
#include "ports/launcher.h"
#include "ports/share_use.h"

namespace berth::app {

struct ChosenInventory {
    std::unique_ptr<ports::GpuInventory> inventory;
    bool is_simulated = false;
    std::string description;            // "8 simulated (sim:8x80G)"
};

// "auto": what the driver shows, else eight simulated GPUs. Errors: Invalid.
// `gpu_counters`: the folder in which programs on simulated GPUs say what they do.
base::Result<ChosenInventory> choose_inventory(const std::string& gpus,
                                               const std::string& gpu_counters);
std::string gpu_counters_of(const ServerOptions& options);

struct ChosenLauncher {
    std::unique_ptr<ports::Launcher> launcher;
    std::string description;            // "processes", or what is simulated
    std::function<std::string(ports::AttemptId, int, std::span<const std::string>)> log_path;
    std::function<std::string(ports::AttemptId)> attach_address;
    // Once the names of nodes are known, before anything is started.
    std::function<base::Status(ports::GpuInventory&)> learn_gpus;
    // By what shares of a node's GPUs are kept, and why; empty = by nothing.
    std::function<std::string(const std::string& node)> shares_kept_by;
    // Why they are not, and what to do; empty = they are.
    std::function<std::string(const std::string& node)> shares_lack;
    // Tries whether they are kept, when that was tried with other parts, or if it is to be tried
    // anew; whether it was.
    std::function<bool(bool anew)> try_shares;
    // Why no job keeps its processes when it is paused; empty = they can be kept.
    std::function<std::string()> checkpoint_lack;
    std::function<std::vector<ports::ShareUse>()> share_uses;
    std::function<std::vector<ports::UncountedProcess>()> uncounted;
};

// Errors: Invalid; Unavailable when the supervisor program is not beside this one.
base::Result<ChosenLauncher> choose_launcher(boost::asio::io_context& loop,
                                             const ServerOptions& options,
                                             const std::string& cluster_id, bool is_simulated);

// Errors: Invalid, an unknown profile.
base::Result<model::Policy> choose_policy(const ServerOptions& options);

// Names this server's processes and sockets; made once for a data directory. Errors: Unavailable.
base::Result<std::string> obtain_cluster_id(const std::string& data_dir);

}  // namespace berth::app
