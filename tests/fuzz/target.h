// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every input from outside? A target is a function that reads an input as the
// product does and checks with expect() what must hold. It keeps no state, opens no file and waits
// for nothing, so that a run takes microseconds.
//
// Most targets check that an accepted input can be printed, that the printed text is accepted, and
// that it prints the same again. docs/fuzzing.md lists the targets.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace berth::fuzz {

struct Target {
    std::string_view name;  // its corpus is tests/corpus/NAME.inputs
    void (*read)(std::string_view input);
    double cpu_seconds_max = 0.1;  // for an input of kInputMax
};

// All of them, or the one that the program is built for.
std::span<const Target> targets();

inline constexpr std::size_t kInputMax = std::size_t{64} << 10;

// Prints `what` and aborts when it does not hold.
void expect(bool holds, const char* what);

}  // namespace berth::fuzz
