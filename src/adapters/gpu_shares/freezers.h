// SPDX-License-Identifier: Apache-2.0
//
// Is the freezer of a node there (vgpu/freezer), and what can it do? It is a child of this server
// and ends with it, when what it has begun is done; the next server starts another one.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "adapters/gpu_shares/pause_way.h"
#include "supervision/descriptor.h"

namespace berth::gpu_shares {

class Freezers {
  public:
    // `runtime`: path of the folder in which they listen.
    Freezers(std::string program, std::string runtime)
        : program_(std::move(program)), runtime_(std::move(runtime)) {}
    ~Freezers();
    Freezers(const Freezers&) = delete;
    Freezers& operator=(const Freezers&) = delete;

    // Starts it when it is not there. `environment`: assignments beside this process's own.
    void start(const std::string& node, const std::vector<std::string>& environment,
               const std::vector<std::string>& options);
    // The same, and what it said at its start; that is waited for, once.
    NodeAbility ability(const std::string& node, const std::vector<std::string>& environment,
                        const std::vector<std::string>& options);

    std::string socket_of(const std::string& node) const;

  private:
    struct Freezer {
        pid_t pid = -1;
        supervision::Descriptor input;   // that it ends with
        supervision::Descriptor output;
        std::string said;                // its first line
    };
    Freezer& living(const std::string& node, const std::vector<std::string>& environment,
                    const std::vector<std::string>& options);

    std::string program_;
    std::string runtime_;
    std::map<std::string, Freezer> freezers_;
};

}  // namespace berth::gpu_shares
