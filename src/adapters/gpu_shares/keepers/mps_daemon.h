// SPDX-License-Identifier: Apache-2.0
//
// Who divides the time of GPUs between processes where the driver keeps the shares? NVIDIA's MPS,
// version 3 of its interface: one control daemon for this machine, in a directory of its own, with
// accounting of memory. A process whose environment names the directory joins it, capped at its
// part of the multiprocessors. Unlike the interposer's windows, a cap is kept when the others are
// idle, too.
#pragma once

#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "model/job/job.h"

namespace berth::gpu_shares {

class MpsDaemon {
  public:
    // `program`: nvidia-cuda-mps-control.
    MpsDaemon(std::string program, std::string directory);

    // When it is not there already. Errors: Unavailable, with what it said.
    base::Status start();
    void stop();

    // What a process of such a share gets into its environment.
    std::vector<std::string> environment(base::MilliGpu share, model::JobKind kind) const;

  private:
    bool is_there() const;
    base::Status run(const std::vector<std::string>& arguments);

    std::string program_;
    std::string directory_;
};

}  // namespace berth::gpu_shares
