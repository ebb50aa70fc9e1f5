// SPDX-License-Identifier: Apache-2.0
//
// The processes of one job on this node, as a course sees them and as its steps reach them: all
// descendants of the one that asked. A step is taken at all processes at once, since each may take
// as long as its memory takes over the link to the host.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "supervision/freezing.h"
#include "vgpu/freezer/driver.h"
#include "vgpu/freezer/gpu_use.h"
#include "vgpu/freezing/course.h"

namespace berth::vgpu::freezer {

struct Node {
    const Driver& driver;
    const GpuUse& use;
    std::optional<std::int64_t> host_memory;  // there is so much, whatever the kernel says
};

class Processes {
  public:
    using Clock = std::chrono::steady_clock;

    // Work that is queued, and room on a GPU, are waited for until `deadline`.
    Processes(const Node& node, pid_t root, Clock::time_point deadline,
              std::vector<supervision::GpuMove> moves = {})
        : node_(node), root_(root), deadline_(deadline), moves_(std::move(moves)) {}

    freezing::Sight look();
    // Empty when the step did its work, else why not.
    std::string perform(freezing::Step step);

    // Of theirs that was on GPUs at the last look; -1 = not known.
    std::int64_t bytes() const;

  private:
    struct OnGpu {
        pid_t pid;
        freezing::ProcessState state;
    };
    std::string measure() const;
    std::string at_all_in(freezing::ProcessState state,
                          const std::function<CUresult(pid_t)>& call) const;
    CUresult restore(pid_t pid) const;
    std::string signal_all(int signal) const;
    std::string verify() const;
    std::vector<pid_t> pids() const;

    const Node& node_;
    pid_t root_;
    Clock::time_point deadline_;
    std::vector<supervision::GpuMove> moves_;
    std::vector<OnGpu> on_gpu_;  // at the last look
};

}  // namespace berth::vgpu::freezer
