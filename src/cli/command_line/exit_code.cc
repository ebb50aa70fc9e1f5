// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/exit_code.h"

namespace berth::cli {

Failure Failure::from(const base::Error& error, std::string hint) {
    return {exit_code_of(error.code), error.message, std::move(hint)};
}

int exit_code_of(base::ErrorCode code) {
    switch (code) {
        case base::ErrorCode::Invalid: return kBadUsage;
        case base::ErrorCode::NotFound: return kNoSuchThing;
        case base::ErrorCode::Exists:
        case base::ErrorCode::Conflict:
        case base::ErrorCode::Exhausted: return kFailed;
        case base::ErrorCode::Forbidden: return kForbidden;
        case base::ErrorCode::Unavailable:
        case base::ErrorCode::Timeout:
        case base::ErrorCode::Internal: break;
    }
    return kServerUnreachable;
}

int exit_code_of_job(int job_exit_code) {
    return job_exit_code >= 0 && job_exit_code < kJobAbove99 ? job_exit_code : kJobAbove99;
}

std::string exit_code_help() {
    return R"(Exit codes

  every verb
    0      done
    1      not done: the state does not allow it, or a check failed
    124    bad usage: the command line or a job file cannot be understood
    125    the server does not answer, or Berth itself failed
    126    not permitted
    127    no such job, project, pool, node or setting

  berth run, berth submit --wait
    0-99   the job's own exit code
    100    a signal ended the job, or its code is above 99; see berth show
    102    the job was cancelled
    110    the job can never run on this cluster
    111    gave up waiting in the queue (--max-wait)
    120    gave up waiting for its end (--timeout); the job continues
    121    detached: Ctrl-C, or the terminal closed; the job continues

  berth plan, berth whatif, berth scenario, berth simulate
    1      a scenario failed
    2      a file cannot be read; one line says where and why
)";
}

}  // namespace berth::cli
