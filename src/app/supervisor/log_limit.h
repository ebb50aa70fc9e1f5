// SPDX-License-Identifier: Apache-2.0
//
// How much of a disk may a log take that its job writes by itself? What is beyond the limit is
// given back out of the middle: the beginning and the newest lines stay, where they were, and a
// line between them says what is gone. Where the file system cannot do that, the newest lines go
// instead.
#pragma once

#include <cstdint>
#include <string>

namespace berth::supervisor {

// Of the file at `path`, when it takes more than `limit` bytes on disk. To be called now and then;
// between two calls the file may be larger. Failures leave the log as it is.
void limit_log(const std::string& path, std::int64_t limit);

}  // namespace berth::supervisor
