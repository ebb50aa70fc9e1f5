// SPDX-License-Identifier: Apache-2.0
//
// Would a process that shares a GPU here meet its share? Tried, not assumed: an arbiter of its own
// gets one tenant with half of a GPU, and berth-gpu-probe asks both libraries in the environment
// that this tenant's processes have. All of it runs in children, for a limited time.
//
// Trusts: the same parts of the same folder are what jobs get. Cost: a start of the driver.
#pragma once

#include <string>
#include <vector>

#include "adapters/gpu_shares/keepers/interposed_shares.h"

namespace berth::gpu_shares {

struct ProofSettings {
    ShareFolders folders;
    std::string directory;  // short; it is made, and gone afterwards
    InFront in_front = InFront::Preload;
    std::vector<std::string> environment = {};  // of all processes that use this GPU
};

// What would be tried, as it is now: another text once one of the files has changed.
std::string proof_subject(const ProofSettings& settings);

// Empty when it would; else the cause and what to do, in one sentence without its end.
std::string why_shares_are_not_kept(const ProofSettings& settings, const Gpu& gpu);

}  // namespace berth::gpu_shares
