// SPDX-License-Identifier: Apache-2.0
//
// How can a job feel like a command run here? This process takes its place until it ends: bytes of
// standard input, output and error pass unchanged and in order, a terminal passes whole, with its
// size and its control keys; an output without a reader ends the job as it would end the command;
// INT, TERM and QUIT go to the job. A slow reader slows the job down: at most some hundred
// kilobytes are under way.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "supervision/status_file.h"

namespace berth::attach {

struct AttachOptions {
    // The job was started on a terminal, and ours is put in raw mode for it until the end.
    bool terminal = false;
    // How long to wait for the supervisor to be there: the job may only just be starting.
    int patience_ms = 10'000;
    // The user insists: Ctrl-C twice within a second, on a terminal thrice, for there the program
    // may have its own idea of it. The job has got them as well. May be empty.
    std::function<void()> on_insistence;
    int input = 0;
    int output = 1;
    int error_output = 2;
};

enum class AttachEnd {
    Exited,  // the job's processes are gone; `exit` says how
    Detached,  // our terminal went away; the job goes on
    Lost,  // the supervisor went away without a word; the server may know more
};

struct AttachResult {
    AttachEnd end = AttachEnd::Lost;
    supervision::ExitReport exit;
};

// `socket`: path of the supervisor's. Returns when the job has ended or we have to leave.
// Errors: Unavailable (no supervisor within the patience), Forbidden (another user's),
// Conflict (it cannot be attached to, or someone else is).
base::Result<AttachResult> attach(const std::string& socket, const AttachOptions& options);

}  // namespace berth::attach
