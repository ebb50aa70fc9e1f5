// SPDX-License-Identifier: Apache-2.0
//
// A driver without GPUs, for any C library.
extern "C" int cuInit(unsigned /*flags*/) { return 0; }
