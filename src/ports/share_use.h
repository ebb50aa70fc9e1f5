// SPDX-License-Identifier: Apache-2.0
//
// What does a job really use of a GPU that it shares?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/quantity.h"

namespace berth::ports {

struct ShareUse {
    base::JobId job;
    std::string node;
    int index = 0;  // of the GPU on its node
    base::Bytes memory{0};  // contexts included
    std::optional<base::Bytes> memory_limit;
    // Of the GPU's time, in the last seconds; none where that is not known, as while it is alone.
    std::optional<base::MilliGpu> compute;
    std::optional<base::MilliGpu> cap = {};  // the most of it that it ever gets; none = all
};

// A process that uses a GPU in which nothing of ours has a part: of a job, beside its share, or of
// no job at all.
struct UncountedProcess {
    base::JobId job;  // not valid: of none
    std::string node;
    int index = 0;  // of the GPU on its node
    std::int64_t pid = 0;
    base::Bytes memory{0};

    bool operator==(const UncountedProcess&) const = default;
};

}  // namespace berth::ports
