// SPDX-License-Identifier: Apache-2.0
//
// berth check: is the event log sound, does it go with its directory, and do the status files of
// its attempts say what it says? Looks at files alone, with or without a running server.
#include "adapters/sqlite/check.h"

#include <optional>

#include "adapters/process/jobs_folder.h"
#include "app/berth/log_verbs.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"

namespace berth::app {
namespace {

using adapters::sqlite::EndedJob;
using adapters::sqlite::Finding;
using adapters::sqlite::LogCheck;

// What the log says of the newest attempt of a job.
struct Newest {
    int attempt = 0;
    std::string log;
    const EndedJob* ended = nullptr;
};

std::string name_of(ports::AttemptId id) {
    return "attempt " + std::to_string(id.attempt) + " of job " + std::to_string(id.job.value);
}

std::optional<Newest> newest_of(const LogCheck& check, model::JobId job) {
    const auto incarnation = [&](int number) {
        return number == 0 ? std::string()
                           : check.state.incarnations.at(static_cast<std::size_t>(number - 1));
    };
    if (const model::JobRecord* live = check.state.jobs.get(job)) {
        return Newest{live->attempts, incarnation(live->incarnation), nullptr};
    }
    const auto ended = check.ended.find(job);
    if (ended == check.ended.end()) return std::nullopt;
    return Newest{ended->second.attempts, incarnation(ended->second.incarnation), &ended->second};
}

// The exit that a job took from its last attempt; none where it ended otherwise.
std::optional<int> exit_by_log(const Newest& newest) {
    if (newest.ended == nullptr) return std::nullopt;
    const bool is_own = newest.ended->state == model::JobState::Succeeded ||
                        newest.ended->state == model::JobState::Failed;
    return is_own ? std::optional(newest.ended->exit_code) : std::nullopt;
}

std::optional<Finding> compare(const LogCheck& check, ports::AttemptId id,
                               const process::AttemptState& state) {
    // One that has said how it ended may still hand its output to a client.
    const bool runs = state.is_supervised && !state.status.exit;
    const std::optional<Newest> newest = newest_of(check, id.job);
    if (!newest && !runs) {
        // What an earlier incarnation left behind is never taken for anything, nor what came after
        // a backup.
        if (check.is_restored) return std::nullopt;
        const auto& logs = check.state.incarnations;
        const bool is_ours = !logs.empty() && state.status.log == logs.back();
        if (!is_ours && id.job <= check.end.last_job) return std::nullopt;
        return Finding{name_of(id) + " has a status file, and the log knows no such job",
                       "the log was set back or has lost its end: berth restore FILE"};
    }
    const bool is_newest =
        newest && id.attempt == newest->attempt && state.status.log == newest->log;
    if (runs && (!is_newest || newest->ended != nullptr)) {
        return Finding{name_of(id) + " runs, and the log does not know that",
                       "end process " + std::to_string(state.status.supervisor)};
    }
    if (!is_newest || !state.status.exit || state.status.exit->stop_asked) return std::nullopt;
    const std::optional<int> by_log = exit_by_log(*newest);
    if (!by_log || *by_log == state.status.exit->exit_code) return std::nullopt;
    return Finding{name_of(id) + " ended with " + std::to_string(state.status.exit->exit_code) +
                       " by its status file and with " + std::to_string(*by_log) + " by the log",
                   "one of them was changed: the log is what Berth goes by"};
}

int run_check(cli::Context& context, const cli::Arguments&) {
    if (context.data_dir.empty()) return cli::report(context, cli::no_home());
    const std::string jobs_dir = context.data_dir + "/jobs";
    // Listed before the log is read, which then knows of each.
    const auto attempts = process::attempts_in(jobs_dir);
    auto check =
        adapters::sqlite::check_directory(context.data_dir, process::highest_job(jobs_dir));
    if (!check) return cli::report(context, cli::Failure::from(check.error()));
    for (const ports::AttemptId id : attempts) {
        auto finding = compare(*check, id, process::look_at(jobs_dir, id));
        if (finding) check->findings.push_back(std::move(*finding));
    }
    std::string text;
    for (const Finding& finding : check->findings) {
        text += finding.what + "\n  next  " + finding.next + "\n";
    }
    const auto& end = check->end;
    text += (check->findings.empty() ? "sound: " : "looked at ") + std::to_string(end.sequence) +
            " events in " + std::to_string(check->commits) + " commits, jobs up to " +
            std::to_string(end.last_job.value) + "\n";
    cli::print(text);
    return check->findings.empty() ? cli::kDone : cli::kFailed;
}

}  // namespace

const cli::Verb check_verb{.intent = cli::Intent::System,
                           .name = "check",
                           .summary = "check the event log: pages, checksums, status files",
                           .run = run_check};

}  // namespace berth::app
