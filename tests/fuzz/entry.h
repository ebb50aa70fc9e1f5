// SPDX-License-Identifier: Apache-2.0
//
// How do libFuzzer and replay.cc run a target? Besides what the target checks, a run must end
// within the target's CPU time, which does not depend on what else the machine does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fuzz/target.h"

namespace berth::fuzz {

// Sets the target of later runs (default: the first).
void choose(const Target& target);

}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
