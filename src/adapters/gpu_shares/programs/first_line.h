// SPDX-License-Identifier: Apache-2.0
//
// What does a program say first, once it can be used or knows that it cannot?
#pragma once

#include <string>

namespace berth::gpu_shares {

// Without its end; empty when the program ends before, or says nothing for that time.
std::string first_line(int file, int patience_ms);

}  // namespace berth::gpu_shares
