// SPDX-License-Identifier: Apache-2.0
//
// What if only a world-writable place will do, such as /dev/shm for memory that processes share? A
// folder there whose name is drawn, mode 0700. A link in a folder of ours notes where it is, for
// later processes of this server; they believe it only while it leads to a folder of ours.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/folder.h"

namespace berth::runtime {

struct DrawnFolder {
    std::string place;  // "/dev/shm"
    std::string link;   // its name in our folder
};

// The path of the folder, which is made unless the link leads to one of ours.
// Errors: Unavailable (nothing can be made in that place).
base::Result<std::string> open_drawn(const Folder& folder, const DrawnFolder& drawn);

// With all that lies in it, and the link.
void remove_drawn(const Folder& folder, const DrawnFolder& drawn);

}  // namespace berth::runtime
