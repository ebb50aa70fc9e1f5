// SPDX-License-Identifier: Apache-2.0
//
// What does the process's exit code mean? One table for every verb, shown by
// `berth help exit-codes` and docs/reference/cli.md.
//
// A verb that stands for a job (run, submit --wait) answers with the job's own code while that is
// 0 to 99; what Berth has to say lies above, so that a script can tell the two apart.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::cli {

enum ExitCode : int {
    kDone = 0,
    kFailed = 1,
    kBadInput = 2,            // plan, whatif, scenario, simulate: a file cannot be read
    kJobAbove99 = 100,        // the job was ended by a signal or with a code above 99
    kJobCancelled = 102,
    kJobNeverRuns = 110,
    kGaveUpInQueue = 111,
    kWaitLimit = 120,         // the job goes on
    kDetached = 121,          // the job goes on
    kBadUsage = 124,
    kServerUnreachable = 125, // or a fault of Berth's own
    kForbidden = 126,
    kNoSuchThing = 127,
};

// Why a verb could not do what was asked: the cause, and the command that helps.
struct [[nodiscard]] Failure {
    int exit_code = kFailed;
    std::string cause;
    std::string hint;  // a command line or a short instruction; may be empty

    static Failure from(const base::Error& error, std::string hint = {});
};

template <typename T>
using Outcome = tl::expected<T, Failure>;
using Success = Outcome<void>;

inline tl::unexpected<Failure> refuse(int exit_code, std::string cause, std::string hint = {}) {
    return tl::unexpected(Failure{exit_code, std::move(cause), std::move(hint)});
}

inline tl::unexpected<Failure> bad_usage(std::string cause, std::string hint = {}) {
    return refuse(kBadUsage, std::move(cause), std::move(hint));
}

int exit_code_of(base::ErrorCode code);

// The exit code of a verb that stands for a finished job: its own up to 99, 100 above.
int exit_code_of_job(int job_exit_code);

// The table as text.
std::string exit_code_help();

}  // namespace berth::cli
