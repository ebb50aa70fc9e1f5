// SPDX-License-Identifier: Apache-2.0
//
// The driver that does the work: the one that BERTH_BEHIND names by its path.
#pragma once

extern "C" {
extern const char* const berth_driver_names[];
extern void* berth_driver_targets[];
extern const unsigned berth_driver_count;
}

namespace berth::stand_in {

// A function by its exported name; where the driver lacks it, one that says so.
void* behind(const char* name);

// What this stand-in gives for a name in place of that.
void* in_place_of(const char* name);

}  // namespace berth::stand_in
