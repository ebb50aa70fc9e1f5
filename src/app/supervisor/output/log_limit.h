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

// How far a disk is from being full. Logs give way before the event log has to.
enum class Room {
    Ample,
    Low,   // below 5 %, and below 1 GiB
    Gone,  // below 1 %, and below 256 MiB
};

struct LogLimit {
    Room room = Room::Ample;
    std::int64_t bytes = 0;  // of one log on disk; 0 = none
};

// What a log may take on the disk on which `path` lies; `bytes` while there is room.
LogLimit log_limit_at(const std::string& path, std::int64_t bytes);

// Of the file at `path`, when it takes more than its limit on disk. To be called now and then;
// between two calls the file may be larger. Failures leave the log as it is.
void limit_log(const std::string& path, const LogLimit& limit);

}  // namespace berth::supervisor
