// SPDX-License-Identifier: Apache-2.0
//
// Where is the real library that ours replaces? Asked by its name the loader gives ours, so it is
// opened by its path: the one that a variable says, else the first of the folders in which the
// loader would look for this program (LD_LIBRARY_PATH among them, where a container has a newer
// driver than its machine), else of those where installations put it.
//
// Trusts: nothing. Guarantees: what it opens is not ours, under whatever path, and when a program
// later asks for the same path, the loader does not find it loaded but asks the auditor
// (vgpu/audit). Cost: once for each process, a few file names.
#pragma once

namespace berth::vgpu::behind {

struct Wanted {
    const char* file = nullptr;  // libcuda.so.1
    const char* variable = nullptr;  // of the environment: an absolute path
};

struct Opened {
    void* library = nullptr;
    char reason[512] = "";  // why what is there cannot be used; empty where nothing is there
};

Opened open_behind(const Wanted& wanted);

}  // namespace berth::vgpu::behind

// Every library of ours that replaces another exports it; ours are known by it.
extern "C" __attribute__((visibility("default"))) void berth_vgpu_in_front();
