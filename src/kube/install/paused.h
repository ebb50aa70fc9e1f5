// SPDX-License-Identifier: Apache-2.0
//
// What becomes of the workloads that Berth has paused, when it is uninstalled? They go on: nothing
// else would resume them.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "kube/install/session.h"

namespace berth::kube::install {

// How many are resumed. Errors: those of the server, of the first one that is not.
base::Result<std::size_t> resume_paused(Session& session);

}  // namespace berth::kube::install
