// SPDX-License-Identifier: Apache-2.0
//
// How does a function that is only passed on reach the real library? generate_trampolines makes
// one jump for each name; the first call of each comes here for its address.
#pragma once

extern "C" {
extern const char* const berth_driver_names[];
extern void* berth_driver_targets[];
extern const unsigned berth_driver_count;
// Where each of them says that it was called: a word that is not read, or one in this process's
// slot.
extern unsigned* berth_driver_called;

// The real function for the index-th name, or one that returns "not supported".
__attribute__((visibility("hidden"))) void* berth_driver_resolve(unsigned index);
}
