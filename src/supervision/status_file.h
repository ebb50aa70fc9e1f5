// SPDX-License-Identifier: Apache-2.0
//
// What became of an attempt? Its status file answers, whichever process is alive to ask:
//   the file is locked (flock)          its supervisor lives
//   no "starting" line                  nothing of the user's was ever run
//   an "exit" line                      how it ended
//   else                                its supervisor was killed, or the machine went down
// The lock belongs to the open file that the supervisor holds, so it ends with the supervisor and
// cannot be mistaken for another process. Lines are appended whole; a torn last line is not read.
//   log <incarnation of the event log that began the attempt>     first, from the server
//   starting <boot id> <pid of the supervisor>
//   running <pid> ...
//   exit <code> <signal> <stop asked> <killed> <detail>
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::supervision {

// Bytes of a detail that are kept.
inline constexpr std::size_t kDetailMax = 1024;

struct ExitReport {
    int exit_code = 0;
    int signal = 0;
    bool stop_asked = false;
    bool killed = false;
    std::string detail;

    bool operator==(const ExitReport&) const = default;
};

struct StatusReading {
    std::string log;  // empty = none is named
    bool started = false;
    bool running = false;
    std::string boot;
    int supervisor = 0;  // its process; 0 = not known
    std::optional<ExitReport> exit;
};

// Takes room for the next lines of an open status file, so that a disk that fills up later takes
// them all the same; the file is as long as before. Errors: Exhausted. Where a file system cannot
// do that, nothing happens.
base::Status take_room(int file);

std::string log_line(std::string_view incarnation);
std::string starting_line(std::string_view boot, int pid);
// Ends with a newline; newlines in the detail become spaces, and what is too long of it is cut off.
std::string exit_line(const ExitReport& report);
std::optional<ExitReport> parse_exit_line(std::string_view line);

StatusReading parse_status(std::string_view text);

// For people: at most so much of a text that may be of any length, with dots where more follows.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace berth::supervision
