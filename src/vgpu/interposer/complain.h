// SPDX-License-Identifier: Apache-2.0
//
// What does a user read when a share stops the program? One line on standard error.
#pragma once

#include <cstdint>

namespace berth::vgpu::interposer {

__attribute__((format(printf, 1, 2))) void complain(const char* format, ...);

struct Refusal {
    const char* uuid = nullptr;
    std::uint64_t asked = 0;
    std::uint64_t limit = 0;
    std::uint64_t request = 0;      // that it was promised
    std::uint64_t burst = 0;        // that it may have at most; 0: the limit
    std::uint64_t used = 0;         // by the tenant
    std::uint64_t used_here = 0;    // by this process
    bool is_given = true;           // false: the GPU is none of the tenant's
};

// Says whose limit it was. At most once a second: a program may try in a loop.
void complain_of_limit(const Refusal& refusal);

}  // namespace berth::vgpu::interposer
