// SPDX-License-Identifier: Apache-2.0
//
// A process that uses a GPU and has no part in what shares are counted by, as the API shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/quantity.h"

namespace berth::codec {

struct ProcessView {
    std::optional<base::JobId> job;  // none: it is of no job
    std::string node;
    int gpu = 0;
    std::int64_t pid = 0;
    base::Bytes memory{0};
};

}  // namespace berth::codec
