// SPDX-License-Identifier: Apache-2.0
//
// A program that needs nothing but the loader that its file names.
extern "C" [[noreturn]] void begin() { __builtin_trap(); }
