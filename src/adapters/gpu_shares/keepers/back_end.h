// SPDX-License-Identifier: Apache-2.0
//
// What keeps jobs to their shares of this machine's GPUs, and why that? The driver itself where it
// can (release 615, the kernel's dmem controller, MPS): no process gets past it. Else the
// interposer, which works everywhere and is kept by cooperation. One at a time: processes of the
// one kind do not count for the other, so it stays while jobs run that began with it. Pure.
//
// Slices that the hardware cuts need neither: their jobs have them whole.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::gpu_shares {

enum class BackEnd { Interposer, DriverLimits };
enum class Wish { Auto, Interposer, DriverLimits };

// "auto", "interposer" or "driver". Errors: Invalid.
base::Result<Wish> parse_wish(const std::string& text);

struct Machine {
    bool are_simulated = false;
    std::string driver;         // release, "615.43.02"; empty = not known
    std::string groups_lack;    // why no group can limit memory of all GPUs; empty = it can
    std::string mps_control;    // program; empty = it is not there
    std::string precedence_lacks =
        {};  // why the arbiter may not run before programs; empty = it may
    bool has_interposed = false;  // jobs that began with the interposer
    bool has_limited = false;     // jobs that began with limits of the driver
};

struct Choice {
    BackEnd back_end = BackEnd::Interposer;
    std::string reason;  // for people: "driver 580.65 is older than 615, ..."
};

// Errors: Unavailable when what is wished for cannot be had, saying why.
base::Result<Choice> choose_back_end(const Machine& machine, Wish wish);

}  // namespace berth::gpu_shares
