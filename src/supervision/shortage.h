// SPDX-License-Identifier: Apache-2.0
//
// Is what went wrong the machine's lack of something, so that the same may work soon? Then a job
// is no worse for it: it waits and is tried again.
#pragma once

#include <string>

namespace berth::supervision {

// No process, memory, file or room on the disk is to be had now.
bool is_shortage(int error);

// "cannot make a process: ...", with the limit to look at where there is one.
std::string no_process(int error);

}  // namespace berth::supervision
