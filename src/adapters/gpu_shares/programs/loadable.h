// SPDX-License-Identifier: Apache-2.0
//
// By which name does the loader find a folder? LD_PRELOAD, LD_LIBRARY_PATH and LD_AUDIT are lists
// that are cut at spaces, colons and semicolons, whatever stands around these: a folder whose path
// has one of them gets a link whose path has none.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::gpu_shares {

// The folder itself, or `link`, which leads to it from now on. Errors: Invalid, when both have such
// a character; Unavailable.
base::Result<std::string> loadable(const std::string& folder, const std::string& link);

}  // namespace berth::gpu_shares
