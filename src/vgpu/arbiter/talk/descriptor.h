// SPDX-License-Identifier: Apache-2.0
//
// Who closes this file descriptor? The Descriptor that holds it.
#pragma once

#include "runtime/descriptor.h"

namespace berth::vgpu::arbiter {

using runtime::Descriptor;

}  // namespace berth::vgpu::arbiter
