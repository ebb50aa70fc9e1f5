// SPDX-License-Identifier: Apache-2.0
//
// How much of a GPU does the driver take for a context? One is made here, and the management
// library says what this process then holds.
#pragma once

#include <string>

#include "base/quantity.h"
#include "base/result.h"

namespace berth::vgpu::probe {

// Of the first GPU that this process sees, which is `gpu` by its UUID. Errors: Unavailable, with
// what the libraries answer, or when they do not tell what one process holds.
base::Result<base::Bytes> context_bytes(const std::string& nvml, const std::string& gpu);

}  // namespace berth::vgpu::probe
