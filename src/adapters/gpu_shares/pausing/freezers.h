// SPDX-License-Identifier: Apache-2.0
//
// Is the freezer of a node there (vgpu/freezer), and what can it do? It is a child of this server
// and ends with it, when what it has begun is done; the next server starts another one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "adapters/gpu_shares/pausing/pause_way.h"
#include "adapters/gpu_shares/programs/child.h"

namespace berth::gpu_shares {

class Freezers {
  public:
    // `runtime`: path of the folder in which they listen.
    Freezers(std::string program, std::string runtime)
        : program_(std::move(program)), runtime_(std::move(runtime)) {}

    // How a node's is started.
    struct Manner {
        std::vector<std::string> environment = {};  // assignments before this process's own
        std::vector<std::string> options = {};
    };
    // Starts it when it is not there.
    void start(const std::string& node, const Manner& manner);
    // The same, and what it says at its start; that is waited for, once for each start.
    NodeAbility ability(const std::string& node, const Manner& manner);

    std::string socket_of(const std::string& node) const;

  private:
    struct Freezer {
        Child child;
        bool has_answered = false;
        base::Result<std::string> said;
    };
    Freezer& living(const std::string& node, const Manner& manner);

    std::string program_;
    std::string runtime_;
    std::map<std::string, Freezer> freezers_;
};

}  // namespace berth::gpu_shares
